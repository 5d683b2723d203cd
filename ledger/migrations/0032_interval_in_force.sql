-- 0032: each stream keeps the polling interval in force with its reason, and a pigeonhole may be in rehearsal (decisions 0059, 0060).
-- Locks: streams and pigeonholes for a moment each; no row is rewritten. Previous version: keeps running, and leaves the columns as they are.

-- Written at the end of each read. `wanted_ms` is the interval without what the quota adds to it.
alter table streams
  add column every_ms bigint,
  add column every_reason text,
  add column wanted_ms bigint;

alter table pigeonholes
  add column rehearsal_since timestamptz,
  add column rehearsal_until timestamptz,
  add column rehearsal_by text;
