-- +goose Up
CREATE TABLE entries (
    idx       INTEGER PRIMARY KEY, -- the place in the log, from 0 without gaps
    id        BLOB NOT NULL,       -- the 16 bytes of the audit id
    reference TEXT,                -- NULL when the caller gave none
    claim     TEXT,                -- NULL for none; held by at most one entry
    record    BLOB NOT NULL,       -- the exact bytes
    secret    BLOB                 -- the seed; never leaves with the record
) STRICT;
CREATE UNIQUE INDEX entries_id ON entries (id);
CREATE INDEX entries_reference ON entries (reference, idx) WHERE reference IS NOT NULL;
CREATE UNIQUE INDEX entries_claim ON entries (claim) WHERE claim IS NOT NULL;
