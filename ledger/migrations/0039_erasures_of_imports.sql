-- 0039: count the erasures that changed rows of an import. A statement that waited for the lock on the import reads the
-- registrants as they were before the wait. If the count has changed meanwhile, it must not send them.
-- Locks: imports, for a moment. Previous version: keeps running, and does not count.

alter table imports add column erasures int not null default 0;
