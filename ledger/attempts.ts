import type { Queryable } from './drivers/database.js';
import type { SqlValue } from './drivers/sql-values.js';
import { listSet } from './sql-expressions.js';
import { ownRecords } from './visibility.js';

/*
 * Owner of the table `attempts`: the log of what was sent to sinks and what they answered (decision 0115). Its rows are
 * inserted by the statement that stores the outcomes (`writeDeliveries`), so that the log costs a lane no statement of its
 * own. The content of an attempt is personal data. It is removed with the item's own data: whatever removes or rewrites
 * snapshots (items/snapshots.ts) also removes the contents of these items' attempts.
 */

export const attemptOutcomes = ['delivered', 'retry', 'rejected', 'unknown', 'pause'] as const;
export type AttemptOutcome = (typeof attemptOutcomes)[number];

/** One try to send one change, as a lane records it. */
export interface AttemptRow {
  readonly sequence: number;
  /** The number of the replay that emitted the change; 0 for the change's own delivery. */
  readonly replay: number;
  readonly list: string;
  readonly key: string;
  readonly revision: number;
  /** Whether the change was sent with the identity of its person. */
  readonly identity: boolean;
  readonly durationMs: number;
  readonly outcome: AttemptOutcome;
  /** Why it failed: a short stable code. Null if it was delivered. */
  readonly cause: string | null;
  /** Our sentence, and what the destination said (`storedDetail`). */
  readonly detail: string | null;
  /** HTTP status of the last answer. */
  readonly status: number | null;
  readonly requestId: string | null;
  /** `AttemptContent` as JSON; null: not kept. */
  readonly content: string | null;
}

/**
 * SQL conditions under which the content of an attempt may be kept and shown. `n` has the column `identity`, `i` is the
 * item and `a` the record of its attendee. The content is that of the item, so it is not kept longer: not after a deletion, an
 * erasure or the end of retention, and not with the identity of a person who has become anonymous or has refused consent.
 * A removal from a sink is about a person's own record, so it is not kept either.
 */
const mayKeep = `i.payload is not null and not i.expired and not i.erased
  and ((not n.identity and i.list not in ${listSet(ownRecords)})
    or (coalesce(i.visibility, 'named') = 'named' and coalesce(case when i.list = 'attendees'
      or (i.list = 'registrants' and i.attendee_id is null) then i.consent else a.consent end, '') <> 'refused'))`;

/** SQL joins of the item and of its attendee's record to a row with pigeonhole, list and key. */
function itemJoins(pigeonhole: string, row: string): string {
  return `left join lateral (select * from items where pigeonhole_number = ${pigeonhole} and list = ${row}.list
      and key = ${row}.key limit 1) i on true
    left join lateral (select consent from items where pigeonhole_number = ${pigeonhole} and list = 'attendees'
      and key = i.attendee_id::text limit 1) a on true`;
}

/**
 * Returns the common table expression that inserts attempts, to be placed before the statement that stores their outcomes.
 * `$1` is the sink and `$2` the pigeonhole.
 * @param first the number of the first parameter in `values`
 */
export function insertingAttempts(
  first: number,
  attempts: readonly AttemptRow[],
): { readonly sql: string; readonly values: readonly SqlValue[] } {
  if (attempts.length === 0) return { sql: '', values: [] };
  const types = 'int8 int4 text text int4 boolean int4 text text text int4 text json'.split(' ');
  const parameters = types.map((type, at) => `$${first + at}::${type}[]`).join(', ');
  const sql = `with tried as (
    insert into attempts (sink_id, pigeonhole_number, sequence, replay, list, key, revision, identity, try, duration_ms, outcome,
      cause, detail, status, request_id, content)
    select $1, $2, n.sequence, n.replay, n.list, n.key, n.revision, n.identity, 1 + coalesce((select max(e.try) from attempts e
        where e.pigeonhole_number = $2 and e.list = n.list and e.key = n.key and e.sink_id = $1 and e.sequence = n.sequence
          and e.replay = n.replay), 0), n.duration_ms, n.outcome, n.cause, case when not coalesce(i.erased, false) then n.detail end,
      n.status, n.request_id, case when ${mayKeep} then n.content end
    from unnest(${parameters}) as n (sequence, replay, list, key, revision, identity, duration_ms, outcome, cause, detail, status,
        request_id, content)
      ${itemJoins('$2', 'n')})`;
  const values = [
    attempts.map(({ sequence }) => sequence),
    attempts.map(({ replay }) => replay),
    attempts.map(({ list }) => list),
    attempts.map(({ key }) => key),
    attempts.map(({ revision }) => revision),
    attempts.map(({ identity }) => identity),
    attempts.map(({ durationMs }) => durationMs),
    attempts.map(({ outcome }) => outcome),
    attempts.map(({ cause }) => cause),
    attempts.map(({ detail }) => detail),
    attempts.map(({ status }) => status),
    attempts.map(({ requestId }) => requestId),
    attempts.map(({ content }) => content),
  ];
  return { sql, values };
}

/** Removes the contents of all attempts of these items. */
export async function dropContentsOf(
  tx: Queryable,
  { pigeonholeNumber, list }: { readonly pigeonholeNumber: number; readonly list: string },
  keys: readonly string[],
): Promise<void> {
  await tx.query(
    `update attempts set content = null where number = any(array(
       select e.number from unnest($3::text[]) as n (key) cross join lateral (select number from attempts
         where pigeonhole_number = $1 and list = $2 and key = n.key and content is not null offset 0) e))`,
    [pigeonholeNumber, list, keys],
  );
}

/** Removes the contents of the attempts at these changes, and what destinations said about them. */
export async function dropContentsOfChanges(
  tx: Queryable,
  pigeonholeNumber: number,
  sequences: readonly number[],
): Promise<void> {
  await tx.query(
    `update attempts set content = null, detail = null where number = any(array(
       select e.number from unnest($2::int8[]) as n (sequence)
         cross join lateral (select list, key from changes where pigeonhole_number = $1 and sequence = n.sequence limit 1) c
         cross join lateral (select number from attempts where pigeonhole_number = $1 and list = c.list and key = c.key
           and sequence = n.sequence offset 0) e))`,
    [pigeonholeNumber, sequences],
  );
}

/**
 * Removes the contents of all attempts of erased items, and what destinations said about them. An attempt can be at a
 * change that the ledger no longer has.
 */
export async function eraseAttempts(
  tx: Queryable,
  pigeonholeNumber: number,
  items: readonly { readonly list: string; readonly key: string }[],
): Promise<void> {
  await tx.query(
    `update attempts set content = null, detail = null where number = any(array(
       select e.number from unnest($2::text[], $3::text[]) as n (list, key) cross join lateral (select number from attempts
         where pigeonhole_number = $1 and list = n.list and key = n.key and (content is not null or detail is not null)
         offset 0) e))`,
    [pigeonholeNumber, items.map(({ list }) => list), items.map(({ key }) => key)],
  );
}

/**
 * Removes the contents of attempts with the identity of people who have refused consent: of their own records in this
 * list, and, if these are attendees, of everything that they created.
 */
export async function dropContentsOfPeople(
  tx: Queryable,
  { pigeonholeNumber, list }: { readonly pigeonholeNumber: number; readonly list: string },
  keys: readonly string[],
): Promise<void> {
  if (keys.length === 0) return;
  await dropContentsOf(tx, { pigeonholeNumber, list }, keys);
  if (list !== 'attendees') return;
  await tx.query(
    `update attempts set content = null where number = any(array(
       select e.number from unnest($2::int8[]) as n (id)
         cross join lateral (select list, key from items where pigeonhole_number = $1 and attendee_id = n.id
           and visibility = 'named' and list <> 'attendees' offset 0) i
         cross join lateral (select number from attempts where pigeonhole_number = $1 and list = i.list and key = i.key
           and identity and content is not null offset 0) e))`,
    [pigeonholeNumber, keys],
  );
}

/** Maximum number of rows that one statement deletes or checks. */
const rowsAtOnce = 500;

/**
 * Deletes attempts older than `ms`, and removes the contents of recent ones that may no longer be kept: an outcome can be
 * committed at the same time as the change of the item that forbids it. Safe to run twice, also concurrently.
 * @returns whether there may be more to delete
 */
export async function expireAttempts(db: Queryable, ms: number): Promise<boolean> {
  const deleted = await db.query(
    `delete from attempts where number = any(array(select number from attempts order by number limit ${rowsAtOnce}))
       and at < now() - $1::float8 * interval '1 millisecond' returning 1 as deleted`,
    [ms],
  );
  await db.query(
    `update attempts set content = null where number = any(array(
       select n.number from (select * from attempts order by number desc limit ${rowsAtOnce}) n
         ${itemJoins('n.pigeonhole_number', 'n')}
       where n.content is not null and (${mayKeep}) is not true))`,
  );
  return deleted.length === rowsAtOnce;
}

/** An attempt without its content. */
export interface Attempt extends Omit<AttemptRow, 'content'> {
  readonly number: number;
  readonly sink: string;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly pigeonholeNumber: number;
  /** The number of the try, from 1. */
  readonly try: number;
  readonly at: Date;
  readonly hasContent: boolean;
  /** State of the delivery now; null if the ledger no longer has it. */
  readonly state: string | null;
  /** The delivery's reason or cause now. */
  readonly reason: string | null;
  readonly dueAt: Date | null;
}

/** Filter for attempts. An absent member matches every attempt. */
export interface AttemptChoice {
  readonly sink?: string | undefined;
  readonly workspace?: string | undefined;
  /** `<workspace>/<id>`. */
  readonly pigeonhole?: string | undefined;
  readonly list?: string | undefined;
  readonly key?: string | undefined;
  readonly sequence?: number | undefined;
  readonly outcome?: AttemptOutcome | 'failed' | undefined;
  readonly cause?: string | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

const columns = `e.number, s.name as sink, p.workspace, p.pigeonhole_id as "pigeonholeId",
  p.pigeonhole_number as "pigeonholeNumber", e.sequence, e.replay, e.list, e.key, e.revision, e.identity, e.try, e.at,
  e.duration_ms as "durationMs", e.outcome, e.cause, e.detail, e.status, e.request_id as "requestId",
  e.content is not null as "hasContent", d.state, d.reason, d.due_at as "dueAt"`;

const joins = `join sinks s on s.id = e.sink_id join pigeonholes p on p.pigeonhole_number = e.pigeonhole_number
  left join lateral (select state, reason, due_at from deliveries where sink_id = e.sink_id
    and pigeonhole_number = e.pigeonhole_number and sequence = e.sequence and replay = e.replay limit 1) d on true`;

/** Returns attempts, newest first. @param before number of the last attempt of the previous page; null: from the newest */
export async function listAttempts(
  db: Queryable,
  choice: AttemptChoice,
  { before, limit }: { readonly before: number | null; readonly limit: number },
): Promise<Attempt[]> {
  const outcomes =
    choice.outcome === 'failed'
      ? `and e.outcome <> 'delivered' and $8::text is not null`
      : 'and ($8::text is null or e.outcome = $8)';
  return await db.query<Attempt>(
    `select ${columns} from attempts e ${joins}
     where s.archived_at is null and ($1::text is null or e.sink_id = (select id from sinks where name = $1))
       and ($2::text is null or p.workspace = $2)
       and ($3::text is null or e.pigeonhole_number = (select pigeonhole_number from pigeonholes
         where workspace || '/' || pigeonhole_id = $3))
       and ($4::text is null or e.list = $4) and ($5::text is null or e.key = $5) and ($6::int8 is null or (e.sequence = $6
         and ($3::text is null or (e.list, e.key) = (select c.list, c.key from changes c
           join pigeonholes q on q.pigeonhole_number = c.pigeonhole_number
           where q.workspace || '/' || q.pigeonhole_id = $3 and c.sequence = $6))))
       and ($7::text is null or e.cause = $7) ${outcomes}
       and ($9::timestamptz is null or e.at >= $9) and ($10::timestamptz is null or e.at < $10)
       and ($11::int8 is null or e.number < $11)
     order by e.number desc limit $12`,
    [
      choice.sink ?? null,
      choice.workspace ?? null,
      choice.pigeonhole ?? null,
      choice.list ?? null,
      choice.key ?? null,
      choice.sequence ?? null,
      choice.cause ?? null,
      choice.outcome ?? null,
      choice.since ?? null,
      choice.until ?? null,
      before,
      limit,
    ],
  );
}

/** An attempt with its content. */
export interface FullAttempt extends Attempt {
  /** `AttemptContent` as JSON; null: not kept, or no longer. */
  readonly content: string | null;
  /** HMAC of the item's person, for the audit log. */
  readonly subject: Buffer | null;
}

/** Returns one attempt; undefined if the ledger does not have it. */
export async function readAttempt(db: Queryable, number: number): Promise<FullAttempt | undefined> {
  const [row] = await db.query<FullAttempt>(
    `select ${columns}, case when ${mayKeep.replaceAll('n.identity', 'e.identity')} then e.content end as content, i.subject
     from attempts e ${joins} ${itemJoins('e.pigeonhole_number', 'e')}
     where e.number = $1 and s.archived_at is null`,
    [number],
  );
  return row === undefined ? undefined : { ...row, hasContent: row.content !== null };
}
