CREATE TABLE entries (
    idx       INTEGER PRIMARY KEY, -- the place in the log, from 0 without gaps
    id        BLOB NOT NULL,       -- the 16 bytes of the audit id
    reference TEXT,                -- NULL when the caller gave none
    record    BLOB NOT NULL,       -- the exact bytes
    secret    BLOB,                -- the encrypted sidecar; never leaves with the record
    hash      BLOB NOT NULL        -- of the record, as a leaf of the tree
) STRICT;
CREATE UNIQUE INDEX entries_id ON entries (id);
CREATE INDEX entries_reference ON entries (reference, idx) WHERE reference IS NOT NULL;
CREATE TABLE nodes (
    level INTEGER NOT NULL, -- from 1: the node is over 256^level records
    idx   INTEGER NOT NULL,
    hash  BLOB NOT NULL,
    PRIMARY KEY (level, idx)
) STRICT, WITHOUT ROWID;
CREATE TABLE claims (
    name   TEXT PRIMARY KEY,
    idx    INTEGER NOT NULL, -- the record that holds it
    status TEXT,             -- what claims are listed by; NULL for none
    due    INTEGER           -- when something is to be done about it, in microseconds since 1970; NULL for never
) STRICT, WITHOUT ROWID;
CREATE INDEX claims_status ON claims (status, name) WHERE status IS NOT NULL AND due IS NULL;
CREATE INDEX claims_due ON claims (due) WHERE due IS NOT NULL;
CREATE TABLE head (
    one        INTEGER PRIMARY KEY CHECK (one = 1),
    version    INTEGER NOT NULL,           -- of these tables
    size       INTEGER NOT NULL,
    edge       BLOB NOT NULL,
    checkpoint BLOB NOT NULL,              -- empty until the log signs for the first time
    seed_key   BLOB NOT NULL,              -- names the key that secrets are encrypted under; empty until then, too
    moved      INTEGER NOT NULL DEFAULT 0  -- 1 once the log goes on in another store
) STRICT;
INSERT INTO head (one, version, size, edge, checkpoint, seed_key) VALUES (1, 1, 0, x'', x'', x'');
