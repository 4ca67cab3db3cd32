SELECT set_config(s.name, w.value, false) FROM pg_settings s JOIN (VALUES
('statement_timeout', '0'), ('transaction_timeout', '0'), ('lock_timeout', '8s')) w (name, value) ON s.name = w.name
