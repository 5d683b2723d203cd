import type { Queryable } from './drivers/database.js';

/**
 * Returns SQL that replaces U+0000 and lone surrogates in a stored JSON value with U+FFFD, so that PostgreSQL can read
 * its members.
 *
 * The type `json` stores both as escapes, so a sink receives `data` exactly as the service sent it. But `->`, `->>`,
 * `json_each` and a cast to `jsonb` unescape every text in the value, even texts that are not requested, and fail on
 * these characters. Every statement that reads members of a payload therefore uses this function, and a test checks
 * that (decision 0043). Source: PostgreSQL 15, 8.14, "JSON Types".
 *
 * The pattern includes the backslashes before an escape, so that `\\u0000` (an escaped backslash, followed by letters)
 * stays unchanged.
 * @param json an SQL expression of type `json`; it appears more than once in the result
 */
export function readableJson(json: string): string {
  return `(case when position('\\u' in ${json}::text) > 0 and ${json}::text ~ '\\\\u(0000|[dD][89a-fA-F])'
    then regexp_replace(${json}::text, '(?<!\\\\)((?:\\\\\\\\)*)\\\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\1\\\\ufffd', 'g')::json
    else ${json} end)`;
}

/** Returns a text as an SQL literal, for scripts that `psql` runs. Statements use parameters instead. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/**
 * Returns a set of lists as SQL for `in`, such as `('attendees', 'registrants')`. Every statement that means several
 * lists takes them from their traits (base/lists.ts) in this way or as a parameter, so that a new list is in all of them.
 */
export function listSet(lists: Iterable<string>): string {
  return `(${[...lists].toSorted().map(literal).join(', ')})`;
}

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

/*
 * The conditions below can be served by only one index each (decision 0038). If a table has no statistics, or its
 * statistics do not cover this pigeonhole, the planner expects one row for `sink_id = … and pigeonhole_number = …`. It
 * then considers the primary key as good as the index that the statement needs, and reads everything ever delivered on
 * the lane. These indexes start with an expression that no other index has, so a condition with the same expression
 * leaves the planner no choice.
 */

/**
 * SQL condition for the deliveries of a lane. The indexes that can serve it are sorted by item and then by change, so
 * rows are read in that order. The statement must also restrict the rows to those of one index (`deliveries_of_item` or
 * `deliveries_told_settled`).
 */
export function byItem(deliveries: string, sinkId: string, pigeonholeNumber: string): string {
  return `${deliveries}.sink_id + 0 = ${sinkId}::int4 and ${deliveries}.pigeonhole_number = ${pigeonholeNumber}`;
}

/**
 * SQL condition for the open deliveries of a lane. The indexes that can serve it are sorted by change, so rows are read
 * in that order. The statement must also restrict `state` either to `waiting` and `retry` or to `sending`, because
 * there is one index for each of the two.
 */
export function byOrder(deliveries: string, sinkId: string, pigeonholeNumber: string): string {
  return `(${deliveries}.sink_id::int8 << 32 | ${deliveries}.pigeonhole_number) = (${sinkId}::int4::int8 << 32
    | ${pigeonholeNumber}::int4)`;
}

/**
 * Makes the planner find rows by indexes, in the order of the index, for the rest of the transaction. A scan of the
 * whole table, or a bitmap scan, would have to sort every open delivery before it returns the first row of a batch.
 */
export async function useIndexOrder(tx: Queryable): Promise<void> {
  await tx.query(`select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`);
}

/**
 * Makes the planner find rows by indexes for the rest of the transaction, also if it expects more rows than there are.
 * Without statistics, it considers a scan of the whole table cheaper than an index that finds one row.
 */
export async function useIndexes(tx: Queryable): Promise<void> {
  await tx.query(`select set_config('enable_seqscan', 'off', true)`);
}

/** SQL expression for the number of deliveries of a lane that are not settled, which the store keeps. */
export function openCount(sinkId: string, pigeonholeNumber: string): string {
  return `(select coalesce(sum(o.changes), 0)::int from delivery_counts o where o.sink_id = ${sinkId}
    and o.pigeonhole_number = ${pigeonholeNumber} and o.state in ('waiting', 'sending', 'retry'))`;
}

/**
 * Maximum number of changes after a watermark that are counted by list. The limit exists because the status is
 * requested every few seconds.
 */
export const maxCountedBehind = 5000;

/**
 * SQL expression for the number of changes after the watermark of lane `l` of pigeonhole `p` that its sink accepts. If
 * there are more than `maxCountedBehind` changes, it counts those of all lists.
 */
export const behindCount = `(case when l.lists = '' or p.next_sequence - 1 - l.watermark > ${maxCountedBehind}
  then p.next_sequence - 1 - l.watermark
  else (select count(*) from changes c where c.pigeonhole_number = l.pigeonhole_number and c.sequence > l.watermark
    and c.sequence <= l.watermark + ${maxCountedBehind} and c.list = any(string_to_array(l.lists, ' '))) end)::int`;

/** SQL expression for the lowest sequence of a lane's deliveries that are not settled; null if there is none. */
export function oldestOpen(sinkId: string, pigeonholeNumber: string): string {
  return `least((select min(o.sequence) from deliveries o where ${byOrder('o', sinkId, pigeonholeNumber)}
    and o.state in ('waiting', 'retry')),
    (select min(o.sequence) from deliveries o where ${byOrder('o', sinkId, pigeonholeNumber)}
      and o.state = 'sending'))`;
}
