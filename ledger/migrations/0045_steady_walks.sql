-- 0045: count the walks that lacked an item and overlooked no other, which prove its deletion in a list without order.
-- Locks: missing, for a moment; no row is rewritten. Previous version: keeps running and counts none.

alter table missing add column steady_walks integer not null default 0;
