-- 0029: remove the subject from the tombstones of ended erasures, so that nothing links them to a person.
-- Locks: rows that are written. Previous version: keeps running; tombstones that it creates lose their subject with the next
-- erasure of the same person.

update items i set subject = null
where i.erased and i.subject is not null
  and not exists (
    select 1 from forgotten f join erasures e on e.number = f.erasure
    where f.subject = i.subject and e.ended_at is null);
