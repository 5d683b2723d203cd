-- 0038: store when the evidence that an item is missing was complete. `since` is the first request of the walk, which
-- can be minutes earlier, so a second response could confirm the absence too soon (decision 0020).
-- Locks: missing, for a moment. Previous version: keeps running; its rows count from when it wrote them.

alter table missing add column evident_at timestamptz not null default now();
