-- 0047: remember that an open delivery was a dead letter, so that it becomes one again when it is refused again.
-- Locks: deliveries, for a moment; no row is rewritten. Previous version: keeps running and leaves the column as it is.

-- `redriven`: true from the redrive until the delivery is settled, and null otherwise.
alter table deliveries
  add column redriven boolean;
