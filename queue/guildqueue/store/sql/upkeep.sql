-- What keeps the database from staying quick.

-- name: read_oldest_snapshot
-- The transaction that has held back vacuum for longest:
-- one with a snapshot or a number of its own, or one that was prepared and never ended. A vacuum
-- holds back nothing. Without pg_read_all_stats only those of our own account are seen.
SELECT pid, who, application, state, age_s
  FROM (SELECT pid, coalesce(usename, '') AS who, application_name AS application,
               coalesce(state, '') AS state,
               extract(epoch FROM clock_timestamp() - xact_start)::float8 AS age_s
          FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()
           AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
           AND backend_type <> 'autovacuum worker'
           AND NOT EXISTS (SELECT FROM pg_stat_progress_vacuum AS vacuum
                            WHERE vacuum.pid = pg_stat_activity.pid)
        UNION ALL
        SELECT NULL, owner::text, gid, 'prepared',
               extract(epoch FROM clock_timestamp() - prepared)::float8
          FROM pg_prepared_xacts WHERE database = current_database()) AS holding
 WHERE age_s IS NOT NULL
 ORDER BY age_s DESC
 LIMIT 1;
