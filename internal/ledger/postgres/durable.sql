CASE WHEN 'off' IN (coalesce(current_setting('fsync', true), ''), coalesce(current_setting('full_page_writes', true), ''),
coalesce(current_setting('synchronous_commit', true), '')) OR current_setting('synchronous_commit', true) = 'local' AND
current_setting('synchronous_standby_names', true) <> '' THEN current_setting('fsync')::int ELSE 0 END
