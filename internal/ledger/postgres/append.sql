WITH moved AS (
	UPDATE head SET size = $3::bigint, edge = coalesce($4::bytea, ''), checkpoint = $5::bytea,
		seed_key = coalesce($6::bytea, ''), seeds_from = $7::bigint
	WHERE one AND size = $1::bigint AND (checkpoint = ''::bytea) = $2::boolean RETURNING size
), added AS (
	INSERT INTO entries (idx, id, reference, record, secret, hash)
	SELECT e.idx, e.id, nullif(e.reference, ''), coalesce(e.record, ''), e.secret, e.hash FROM moved,
	unnest($8::bigint[], $9::uuid[], $10::text[], $11::bytea[], $12::bytea[], $13::bytea[])
	AS e (idx, id, reference, record, secret, hash)
), covered AS (
	INSERT INTO nodes (level, idx, hash)
	SELECT n.level, n.idx, n.hash FROM moved, unnest($14::smallint[], $15::bigint[], $16::bytea[]) AS n (level, idx, hash)
), claimed AS (
	INSERT INTO claims (name, idx, status, due)
	SELECT c.name, c.idx, nullif(c.status, ''), nullif(c.due, 0) FROM moved,
	unnest($17::text[], $18::bigint[], $19::text[], $20::bigint[]) AS c (name, idx, status, due)
), taken AS (
	UPDATE claims SET idx = c.idx, status = nullif(c.status, ''), due = nullif(c.due, 0) FROM moved,
	unnest($21::text[], $22::bigint[], $23::text[], $24::bigint[], $25::bigint[]) AS c (name, idx, status, due, holder)
	WHERE claims.name = c.name AND claims.idx = c.holder RETURNING claims.idx
) SELECT 1 / ((SELECT count(*) FROM taken) = coalesce(cardinality($21::text[]), 0))::int + %s FROM moved
