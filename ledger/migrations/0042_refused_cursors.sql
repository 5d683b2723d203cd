-- 0042: how often a request at a walk's cursor failed, and how many cursors were discarded since a sweep last ended.
-- They decide when a list is read again from its first page (decision 0019).
-- Locks: streams, for a moment. Previous version: keeps running; it does not count.

alter table streams
  add column sweep_failures integer not null default 0, -- consecutive failures of the sweep in progress at its present cursor
  add column cursors_discarded integer not null default 0;
