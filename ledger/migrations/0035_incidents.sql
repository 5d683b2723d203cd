-- 0035: a workspace stores since when the service has not answered, so that all processes report one incident with one start.
-- A sink stores when an operator last requested a retry, so that every process ends the wait that the destination requested.
-- A lane stores that it is being filled (from its start, or from a replay, until nothing is left). The age of its waiting
-- changes then does not mean that the sink is behind. Existing lanes count as filled.
-- Locks: workspaces, sinks and lanes, for an instant. Previous version: keeps running, neither reads nor writes the new columns.

alter table workspaces add column unanswered_since timestamptz;
alter table workspaces add column unanswered_reason text;
alter table sinks add column try_now_at timestamptz;

alter table lanes add column filling_at timestamptz;
alter table lanes alter column filling_at set default now();
