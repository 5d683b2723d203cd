-- 0026: how often a dropped file was claimed without a result. A file that crashes every process that reads it is set aside.
-- Locks: dropped_files, for a moment. Previous version: keeps running, and does not count.

alter table dropped_files add column claims integer not null default 0;
