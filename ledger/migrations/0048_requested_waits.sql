-- 0048: note that a destination requested a lane's wait, so that the status can tell it from a failure.
-- Locks: lanes, for a moment; no row is rewritten. Previous version: keeps running and notes none.

alter table lanes add column wait_requested boolean not null default false;
