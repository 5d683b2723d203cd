-- 0035: a workspace notes since when the service has not answered, so that every process reports one incident with one start.
-- A sink notes when an operator last asked to try it now, so that every process forgets how long its destination asked to wait.
-- A lane notes that it is being filled (from its start, or from a replay, until nothing is left for the first time): the age of
-- what it still holds is then no sign that its sink is behind. Lanes that are there already count as caught up.
-- Locks: workspaces, sinks and lanes, for an instant. Previous version: keeps running, neither reads nor writes the new columns.

alter table workspaces add column unanswered_since timestamptz;
alter table workspaces add column unanswered_reason text;
alter table sinks add column try_now_at timestamptz;

alter table lanes add column filling_at timestamptz;
alter table lanes alter column filling_at set default now();
