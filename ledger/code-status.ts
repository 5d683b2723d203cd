/**
 * If an import in the state `staging` makes no progress for this long, it counts as abandoned: its process ended, or
 * its caller gave up.
 */
export const abandonedAfterMs = 10 * 60_000;

/**
 * SQL expression for the status of a registrant's code. `r` is the row in `registrants`, and `i` the import that holds
 * the code. The status is the row's own outcome or that of its chunk. It is `given-up` if the import ended, or was
 * abandoned, before the row was sent. A single index look-up finds the chunk, since the row ranges of a round do not
 * overlap.
 */
export const codeStatus = `case when r.outcome is not null then r.outcome
  when (select c.state = 'created' and c.last_row >= r.row_number from import_chunks c
    where c.import = r.import and c.round = r.round and c.first_row <= r.row_number
    order by c.first_row desc limit 1) then 'created'
  when i.state in ('done', 'cancelled')
    or (i.state = 'staging' and i.touched_at < now() - interval '${abandonedAfterMs} milliseconds') then 'given-up'
  else 'waiting' end`;

/**
 * SQL condition: another import may claim and send a code with the status `code_status` (`codeStatus`). `same` is true
 * if that import has the same data for the code.
 */
export const claimable = `(code_status in ('given-up', 'unknown') or (code_status = 'rejected' and not same))`;

/** SQL expression for the outcome of a row whose code another import holds; uses `code_status` and `same` as above. */
export const heldRowOutcome = `case when code_status in ('created', 'confirmed', 'existing') then
    case when same then 'existing' else 'conflict' end
  when code_status = 'rejected' then case when same then 'rejected' else 'waiting' end
  when code_status = 'conflict' then 'conflict' else 'waiting' end`;
