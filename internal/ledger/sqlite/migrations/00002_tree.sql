-- +goose Up
-- The Merkle tree over the records. A store with records of version 1, which no release wrote, is refused: they have no hashes.
ALTER TABLE entries ADD COLUMN hash BLOB NOT NULL DEFAULT x''; -- of the record, as a leaf of the tree
CREATE TABLE nodes (
    level INTEGER NOT NULL, -- from 1: the node is over 256^level records
    idx   INTEGER NOT NULL,
    hash  BLOB NOT NULL,
    PRIMARY KEY (level, idx)
) STRICT, WITHOUT ROWID;
CREATE TABLE head (
    one        INTEGER PRIMARY KEY CHECK (one = 1),
    size       INTEGER NOT NULL,
    edge       BLOB NOT NULL,
    checkpoint BLOB NOT NULL -- empty until the log signs for the first time
) STRICT;
INSERT INTO head SELECT 1, CASE count(*) WHEN 0 THEN 0 END, x'', x'' FROM entries;
