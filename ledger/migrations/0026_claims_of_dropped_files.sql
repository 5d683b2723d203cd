-- 0026: how often a dropped file was taken on without anything becoming of it: one that ends its readers is set aside.
-- Locks: dropped_files, for a moment. Previous version: keeps running, and does not count.

alter table dropped_files add column claims integer not null default 0;
