-- 0032: store each stream's current polling interval with its reason, and the rehearsal of a pigeonhole (decisions 0059, 0060).
-- Locks: streams and pigeonholes for a moment each; no row is rewritten. Previous version: keeps running, and leaves the columns as they are.

-- Written at the end of each read. `wanted_ms` is the interval before the quota lengthens it.
alter table streams
  add column every_ms bigint,
  add column every_reason text,
  add column wanted_ms bigint;

alter table pigeonholes
  add column rehearsal_since timestamptz,
  add column rehearsal_until timestamptz,
  add column rehearsal_by text;
