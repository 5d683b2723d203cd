-- 0024: when a second answer may confirm that an item is gone.
-- Locks: missing, for a moment. Previous version: keeps running, and asks for no second answer.

alter table missing add column confirm_at timestamptz; -- null: nothing has proved it missing so far
