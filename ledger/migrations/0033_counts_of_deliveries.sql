-- 0033: the number of deliveries that are delivered, withheld or dead letters, by list and reason (decision 0061).
-- Locks: writers of deliveries wait while the rows are counted, which reads the table once. Previous version: keeps
-- running, and what it writes is counted as well.

create table delivery_counts (
  sink_id integer not null,
  ref integer not null,
  list text not null,
  state text not null check (state in ('delivered', 'withheld', 'dead')),
  reason text not null, -- the reason for withheld and dead; empty for delivered
  changes bigint not null,
  primary key (sink_id, ref, list, state, reason)
);

-- A delivery by a replay counts only as a dead letter, because the change itself has its own delivery (decision 0015).
create function count_deliveries() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into delivery_counts as c (sink_id, ref, list, state, reason, changes)
      select n.sink_id, n.ref, n.list, n.state, case when n.state = 'delivered' then '' else coalesce(n.reason, '') end, count(*)
      from new_rows n where n.state = 'dead' or (n.state in ('delivered', 'withheld') and n.replay = 0)
      group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
      on conflict (sink_id, ref, list, state, reason) do update set changes = c.changes + excluded.changes;
  elsif tg_op = 'UPDATE' then
    insert into delivery_counts as c (sink_id, ref, list, state, reason, changes)
      select d.sink_id, d.ref, d.list, d.state, case when d.state = 'delivered' then '' else coalesce(d.reason, '') end, sum(d.n)
      from (select n.sink_id, n.ref, n.list, n.state, n.reason, n.replay, 1 as n from new_rows n
        union all select o.sink_id, o.ref, o.list, o.state, o.reason, o.replay, -1 from old_rows o) d
      where d.state = 'dead' or (d.state in ('delivered', 'withheld') and d.replay = 0)
      group by 1, 2, 3, 4, 5 having sum(d.n) <> 0 order by 1, 2, 3, 4, 5
      on conflict (sink_id, ref, list, state, reason) do update set changes = c.changes + excluded.changes;
  else
    insert into delivery_counts as c (sink_id, ref, list, state, reason, changes)
      select o.sink_id, o.ref, o.list, o.state, case when o.state = 'delivered' then '' else coalesce(o.reason, '') end, -count(*)
      from old_rows o where o.state = 'dead' or (o.state in ('delivered', 'withheld') and o.replay = 0)
      group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
      on conflict (sink_id, ref, list, state, reason) do update set changes = c.changes + excluded.changes;
  end if;
  return null;
end $$;

create trigger deliveries_are_counted_in after insert on deliveries
  referencing new table as new_rows for each statement execute function count_deliveries();
create trigger deliveries_are_counted_again after update on deliveries
  referencing old table as old_rows new table as new_rows for each statement execute function count_deliveries();
create trigger deliveries_are_counted_out after delete on deliveries
  referencing old table as old_rows for each statement execute function count_deliveries();

insert into delivery_counts (sink_id, ref, list, state, reason, changes)
  select sink_id, ref, list, state, case when state = 'delivered' then '' else coalesce(reason, '') end, count(*)
  from deliveries where state = 'dead' or (state in ('delivered', 'withheld') and replay = 0)
  group by 1, 2, 3, 4, 5;

-- The decisions about the last few hundred settled changes of each list, as JSON. They show whether a sink withholds more than
-- before.
alter table lanes add column recent text not null default '{}';
