SELECT set_config(name, setting, false) FROM pg_settings WHERE name = 'synchronous_commit';
SELECT set_config(s.name, w.value, false) FROM pg_settings s JOIN (VALUES ('idle_in_transaction_session_timeout', '10s'),
('tcp_keepalives_idle', '10'), ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '3')) w (name, value)
ON s.name = w.name WHERE s.source = 'default'
