-- 0037: drop the table of canaries, the test items that `ready --canary` sent; that option is gone (decision 0036).
-- Locks: canaries, for a moment.
-- Breaks the version before: it keeps running, but its `ready` and its removal of canaries fail until it is replaced.

drop table canaries;
