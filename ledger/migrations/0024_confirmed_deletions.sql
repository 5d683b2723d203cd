-- 0024: the time from which a second response may confirm that an item was deleted.
-- Locks: missing, for a moment. Previous version: keeps running, and requires no second response.

alter table missing add column confirm_at timestamptz; -- null: not proved missing yet
