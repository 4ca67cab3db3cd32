-- After raise_version(v, since), the table head rejects every session that does not announce version v, as sessionSettings does.
--
-- The function locks the whole table first: an update of the head locks the table before the row, and the other order would
-- deadlock. It runs with the rights of the tables' owner.
SELECT pg_advisory_xact_lock(hashtext('raise_version'));
CREATE OR REPLACE FUNCTION raise_version(v bigint, since text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $raise$ BEGIN
	LOCK TABLE head IN SHARE ROW EXCLUSIVE MODE;
	IF EXISTS (SELECT FROM goose_db_version WHERE version_id >= v) THEN RETURN; END IF;
	INSERT INTO goose_db_version (version_id, is_applied) VALUES (v, true);
	EXECUTE format($f$CREATE OR REPLACE FUNCTION require_version() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		RAISE EXCEPTION 'the records of the log need Riffle of %s or later; stop this program and start a newer one';
	END $$$f$, since);
	DROP TRIGGER IF EXISTS require_version ON head;
	EXECUTE format($f$CREATE TRIGGER require_version BEFORE UPDATE ON head FOR EACH ROW
		WHEN (coalesce(nullif(current_setting('riffle.version', true), ''), '0')::bigint < %s) EXECUTE FUNCTION require_version()$f$, v);
END $raise$;
