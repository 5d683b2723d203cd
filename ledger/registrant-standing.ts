/** Time without progress after which a staging counts as abandoned: its process ended, or its caller gave up. */
export const abandonedAfterMs = 10 * 60_000;

/**
 * SQL expression over `r` (registrants) and `i` (imports, of the one that holds the code) for the status of a code: the
 * row's own outcome, or that of its chunk; `given-up` when its import ended, or was abandoned, before it was sent. One
 * probe of the key finds the chunk, since the ranges of a round do not overlap.
 */
export const standing = `case when r.outcome is not null then r.outcome
  when (select c.state = 'created' and c.last_row >= r.row_number from import_chunks c
    where c.import = r.import and c.round = r.round and c.first_row <= r.row_number
    order by c.first_row desc limit 1) then 'created'
  when i.state in ('done', 'cancelled')
    or (i.state = 'staging' and i.touched_at < now() - interval '${abandonedAfterMs} milliseconds') then 'given-up'
  else 'waiting' end`;

/** Whether another import may send a code that stands like this, with other data or the same (`same`). */
export const claimable = `(standing in ('given-up', 'unknown') or (standing = 'rejected' and not same))`;

/** The status of a row whose code another import holds. */
export const told = `case when standing in ('created', 'confirmed', 'existing') then
    case when same then 'existing' else 'conflict' end
  when standing = 'rejected' then case when same then 'rejected' else 'waiting' end
  when standing = 'conflict' then 'conflict' else 'waiting' end`;
