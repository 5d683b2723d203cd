-- 0038: store when the evidence that an item is missing was complete. `since` is the time of the walk's first request, which
-- can be minutes earlier. Counted from there, a second response could confirm the absence too soon (decision 0020).
-- Locks: missing, for a moment. Previous version: keeps running; in its rows, the time is that of writing.

alter table missing add column evident_at timestamptz not null default now();
