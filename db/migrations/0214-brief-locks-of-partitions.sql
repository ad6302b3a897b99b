-- A new month's table needs a lock that everybody waits behind who writes or reads the log; whoever reads it for long, such as a backup,
-- keeps it away. The start and the daily job try again: db/brief-locks.ts.
alter function ensure_log_partitions() set lock_timeout = '500ms';
