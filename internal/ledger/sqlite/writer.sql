-- begin
BEGIN IMMEDIATE

-- commit
COMMIT

-- rollback
ROLLBACK

-- move the head
UPDATE head SET size = ?, edge = ?, checkpoint = ?, seed_key = coalesce(?, x''), seeds_from = ?
WHERE size = ? AND (checkpoint = x'') = ?

-- insert an entry
INSERT INTO entries (idx, id, reference, record, secret, hash) VALUES (?, ?, ?, ?, ?, ?)

-- insert a node
INSERT INTO nodes (level, idx, hash) VALUES (?, ?, ?)

-- insert a claim
INSERT INTO claims (name, idx, status, due) VALUES (?, ?, ?, ?)

-- take a claim
UPDATE claims SET idx = ?2, status = ?3, due = ?4 WHERE name = ?1 AND idx = ?5

-- take a claim whose indexes stay unchanged
UPDATE claims SET idx = ?2 WHERE name = ?1 AND idx = ?3

-- replace a sidecar
UPDATE entries SET secret = ? WHERE idx = ?

-- name the seed key
UPDATE head SET seed_key = ?

-- measure the write-ahead log
PRAGMA wal_checkpoint(NOOP)

-- checkpoint the write-ahead log
PRAGMA wal_checkpoint(PASSIVE)
