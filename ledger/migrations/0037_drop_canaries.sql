-- 0037: drop the table of canaries, the test items that `ready --canary` sent. The option no longer exists (decision 0036).
-- Locks: canaries, for a moment. Previous version: reads, sends and imports as before.
-- Breaks the version before: its `ready` and its removal of canaries fail until its processes are replaced.

drop table canaries;
