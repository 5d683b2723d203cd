-- 0037: drop the table of canaries, the test items that `ready --canary` sent; that option is gone (decision 0036).
-- Locks: canaries, for a moment. Previous version: keeps running until it is replaced.
-- Breaks the version before: its `ready` and its removal of canaries fail until it is replaced.

drop table canaries;
