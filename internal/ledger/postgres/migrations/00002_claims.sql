-- +goose Up
-- What records hold moves out of their rows: one may hold several claims, and a claim goes from record to record.
CREATE TABLE claims (
    name   text COLLATE "C" PRIMARY KEY,
    idx    bigint NOT NULL,   -- the record that holds it
    status text COLLATE "C",  -- what claims are listed by; NULL for none
    due    bigint             -- when something is to be done about it, in microseconds since 1970; NULL for never
);
CREATE INDEX claims_status ON claims (status, name) WHERE status IS NOT NULL AND due IS NULL;
CREATE INDEX claims_due ON claims (due) WHERE due IS NOT NULL;
INSERT INTO claims (name, idx) SELECT claim, idx FROM entries WHERE claim IS NOT NULL;
DROP INDEX entries_claim;
ALTER TABLE entries DROP COLUMN claim;
-- The key that secrets are encrypted under. Those of earlier entries stay as they were.
ALTER TABLE head ADD COLUMN seed_key bytea NOT NULL DEFAULT '';     -- names it; empty as long as there is none
ALTER TABLE head ADD COLUMN seeds_from bigint NOT NULL DEFAULT 0;   -- the first entry whose secret is encrypted
