-- 0019: rows that a list shows of other sessions than the one asked for, since the service ignores the filter.
-- Locks: streams, walks and pages, for a moment. Previous version: keeps running, and counts none.

alter table streams add column foreign_rows integer not null default 0; -- that the last whole sweep showed
alter table walks add column foreign_rows integer not null default 0;
alter table pages add column foreign_rows integer not null default 0;
