-- Text is compared by its bytes: an index in the order of a locale goes wrong when the system's idea of the locale changes,
-- and then a claim that is held might not be found.
CREATE TABLE entries (
    idx       bigint PRIMARY KEY,                      -- the place in the log, from 0 without gaps
    id        uuid NOT NULL CONSTRAINT entries_id UNIQUE,
    reference text COLLATE "C",                        -- NULL when the caller gave none
    record    bytea NOT NULL,                          -- the exact bytes
    secret    bytea,                                   -- the encrypted sidecar; never leaves with the record
    hash      bytea NOT NULL                           -- of the record, as a leaf of the tree
);
CREATE INDEX entries_reference ON entries (reference, idx) WHERE reference IS NOT NULL;
CREATE TABLE nodes (
    level smallint NOT NULL, -- from 1: the node is over 256^level records
    idx   bigint NOT NULL,
    hash  bytea NOT NULL,
    PRIMARY KEY (level, idx)
);
CREATE TABLE claims (
    name   text COLLATE "C" PRIMARY KEY,
    idx    bigint NOT NULL,   -- the record that holds it
    status text COLLATE "C",  -- what claims are listed by; NULL for none
    due    bigint             -- when something is to be done about it, in microseconds since 1970; NULL for never
);
CREATE INDEX claims_status ON claims (status, name) WHERE status IS NOT NULL AND due IS NULL;
CREATE INDEX claims_due ON claims (due) WHERE due IS NOT NULL;
CREATE TABLE head (
    one        boolean PRIMARY KEY DEFAULT true CHECK (one),
    version    bigint NOT NULL,           -- of these tables
    size       bigint NOT NULL,
    edge       bytea NOT NULL,
    checkpoint bytea NOT NULL,            -- empty until the log signs for the first time
    seed_key   bytea NOT NULL,            -- names the key that secrets are encrypted under; empty until then, too
    moved      bigint NOT NULL DEFAULT 0  -- 1 once the log goes on in another store
);
INSERT INTO head (version, size, edge, checkpoint, seed_key) VALUES (1, 0, '', '', '');
