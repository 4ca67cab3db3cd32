-- +goose Up
-- Text is compared by its bytes: an index in the order of a locale goes wrong when the system's idea of the locale changes,
-- and then a claim that is held might not be found.
CREATE TABLE entries (
    idx       bigint PRIMARY KEY,                      -- the place in the log, from 0 without gaps
    id        uuid NOT NULL CONSTRAINT entries_id UNIQUE,
    reference text COLLATE "C",                        -- NULL when the caller gave none
    claim     text COLLATE "C",                        -- NULL for none; held by at most one entry
    record    bytea NOT NULL,                          -- the exact bytes
    secret    bytea,                                   -- the seed; never leaves with the record
    hash      bytea NOT NULL                           -- of the record, as a leaf of the tree
);
CREATE INDEX entries_reference ON entries (reference, idx) WHERE reference IS NOT NULL;
CREATE UNIQUE INDEX entries_claim ON entries (claim) WHERE claim IS NOT NULL;
CREATE TABLE nodes (
    level smallint NOT NULL, -- from 1: the node is over 256^level records
    idx   bigint NOT NULL,
    hash  bytea NOT NULL,
    PRIMARY KEY (level, idx)
);
CREATE TABLE head (
    one        boolean PRIMARY KEY DEFAULT true CHECK (one),
    size       bigint NOT NULL,
    edge       bytea NOT NULL,
    checkpoint bytea NOT NULL   -- empty until the log signs for the first time
);
INSERT INTO head (size, edge, checkpoint) VALUES (0, '', '');
