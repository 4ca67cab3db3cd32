WITH moved AS (
	UPDATE head SET size = $3::bigint, edge = coalesce($4::bytea, ''), checkpoint = $5::bytea,
		seed_key = coalesce($6::bytea, '')
	WHERE one AND moved = 0 AND size = $1::bigint AND (checkpoint = ''::bytea) = $2::boolean RETURNING size
), added AS (
	INSERT INTO entries (idx, id, reference, record, secret, hash)
	SELECT e.idx, e.id, nullif(e.reference, ''), coalesce(e.record, ''), e.secret, e.hash FROM moved,
	unnest($7::bigint[], $8::uuid[], $9::text[], $10::bytea[], $11::bytea[], $12::bytea[])
	AS e (idx, id, reference, record, secret, hash)
), covered AS (
	INSERT INTO nodes (level, idx, hash)
	SELECT n.level, n.idx, n.hash FROM moved, unnest($13::smallint[], $14::bigint[], $15::bytea[]) AS n (level, idx, hash)
), claimed AS (
	INSERT INTO claims (name, idx, status, due)
	SELECT c.name, c.idx, nullif(c.status, ''), nullif(c.due, 0) FROM moved,
	unnest($16::text[], $17::bigint[], $18::text[], $19::bigint[]) AS c (name, idx, status, due)
), taken AS (
	UPDATE claims SET idx = c.idx, status = nullif(c.status, ''), due = nullif(c.due, 0) FROM moved,
	unnest($20::text[], $21::bigint[], $22::text[], $23::bigint[], $24::bigint[]) AS c (name, idx, status, due, holder)
	WHERE claims.name = c.name AND claims.idx = c.holder RETURNING claims.idx
) SELECT 1 / ((SELECT count(*) FROM taken) = coalesce(cardinality($20::text[]), 0))::int + %s FROM moved
