-- 0006: what a lane was last sent on with, so that dead letters are tried again when their sink has changed.
-- Locks: lanes, for a moment. Previous version: does not know the column, and runs beside it.

alter table lanes add column settings text; -- keyed fingerprint of the sink's settings; null: not noted yet
