-- 0019: the number of rows from sessions other than the requested one. The service returns them if it ignores the filter.
-- Locks: streams, walks and pages, for a moment. Previous version: keeps running, and counts none.

alter table streams add column foreign_rows integer not null default 0; -- in the last finished sweep
alter table walks add column foreign_rows integer not null default 0;
alter table pages add column foreign_rows integer not null default 0;
