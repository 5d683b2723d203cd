import { isInFuture } from '../../ledger/database-clock.js';
import { readableJson } from '../../ledger/sql-expressions.js';
import type { Ledger } from '../../ledger/ledger.js';
import { noteNotified, storeIncidents } from '../incidents/incident-store.js';
import type { JudgedIncidents } from '../incidents/judge-incidents.js';
import type { ProblemFacts } from '../problem-traits.js';
import { type AlertCode, alertCodes, eventCodes } from '../problems.js';

/** One stored alert. */
export interface AlertRow {
  readonly code: AlertCode;
  readonly subject: string;
  /** Result of the last check. */
  readonly holds: boolean;
  /** Instant at which the present state started. */
  readonly since: Date;
  /** Whether the last message reported that the condition holds. */
  readonly announced: boolean;
  /** Number of times that the alert was raised without a long quiet time in between. */
  readonly raises: number;
  readonly facts: ProblemFacts;
}

export interface NewAlertMessage {
  readonly code: AlertCode;
  /** One subject, or several in one message. No subject contains a space. */
  readonly subjects: readonly string[];
  readonly kind: 'raised' | 'recovered' | 'happened';
  readonly since: Date;
  readonly facts: ProblemFacts;
}

/** The right to store the result of one check, until another check starts. */
export interface AlertCheck {
  readonly number: number;
  /** By the database's clock. */
  readonly at: Date;
  /** Instant of the first check. */
  readonly watchingSince: Date;
}

/** Starts a check, unless a process has started one within the last `everyMs`; then returns undefined. */
export async function startCheck(ledger: Ledger, everyMs: number): Promise<AlertCheck | undefined> {
  await ledger.db.query('insert into alert_watch default values on conflict (singleton) do nothing');
  const [row] = await ledger.db.query<{ check_number: number; checked_at: Date; since: Date }>(
    `update alert_watch set check_number = check_number + 1, checked_at = now()
     where checked_at <= now() - $1::float8 * interval '1 millisecond' or ${isInFuture('checked_at')}
     returning check_number, checked_at, since`,
    [everyMs],
  );
  return row === undefined ? undefined : { number: row.check_number, at: row.checked_at, watchingSince: row.since };
}

/** Reads the alerts whose code this version knows. Processes of other versions may use the ledger, too. */
export async function readAlerts(ledger: Ledger): Promise<AlertRow[]> {
  const rows = await ledger.db.query<Omit<AlertRow, 'facts'> & { facts: string }>(
    'select code, subject, holds, since, announced, raises, facts from alerts where code = any($1::text[]) order by code, subject',
    [alertCodes],
  );
  return rows.map((row) => ({ ...row, facts: JSON.parse(row.facts) as ProblemFacts }));
}

/** Rate limits are rows of `alerts` without a message: each needs one instant, and is written in the same transaction. */
const paceCode = 'pace';

/** Reads the rate limits, by `rateLimitKey`. */
export async function readRateLimits(ledger: Ledger): Promise<Map<string, Date>> {
  const rows = await ledger.db.query<{ subject: string; since: Date }>(
    'select subject, since from alerts where code = $1',
    [paceCode],
  );
  return new Map(rows.map(({ subject, since }) => [subject, since]));
}

export interface CheckResult {
  /** New and changed rows; others stay. */
  readonly rows: readonly AlertRow[];
  readonly forgotten: readonly Pick<AlertRow, 'code' | 'subject'>[];
  readonly messages: readonly NewAlertMessage[];
  /** The rate limits that have changed. */
  readonly paces: ReadonlyMap<string, Date>;
  /** The receivers; each gets every message. */
  readonly receivers: readonly string[];
  readonly incidents: JudgedIncidents;
}

/**
 * Stores the result of a check and its messages in one transaction, so that neither a crash nor a second process can
 * repeat or lose a message.
 * @returns false, and writes nothing, if another check has started meanwhile
 */
export async function recordCheck(ledger: Ledger, check: AlertCheck, found: CheckResult): Promise<boolean> {
  const { rows, forgotten, messages, paces, receivers, incidents } = found;
  return await ledger.db.transaction(async (tx) => {
    const [watch] = await tx.query<{ check_number: number }>('select check_number from alert_watch for update');
    if (watch?.check_number !== check.number) return false;
    await storeIncidents(tx, incidents, check.at);
    if (forgotten.length > 0) {
      await tx.query('delete from alerts where (code, subject) in (select * from unnest($1::text[], $2::text[]))', [
        forgotten.map(({ code }) => code),
        forgotten.map(({ subject }) => subject),
      ]);
    }
    const limits = [...paces].map(([subject, since]) => {
      return { code: paceCode, subject, holds: false, since, announced: false, raises: 0, facts: {} };
    });
    if (rows.length + limits.length > 0) {
      await tx.query(
        `insert into alerts (code, subject, holds, since, announced, raises, facts)
         select code, subject, holds, since, announced, raises, facts from json_to_recordset(${readableJson('$1::json')}) as n (code text,
           subject text, holds bool, since timestamptz, announced bool, raises int4, facts json)
         on conflict (code, subject) do update set holds = excluded.holds, since = excluded.since,
           announced = excluded.announced, raises = excluded.raises, facts = excluded.facts`,
        [JSON.stringify([...rows, ...limits])],
      );
    }
    if (messages.length > 0) {
      await tx.query(
        `insert into alert_messages (id, receiver, code, subject, kind, since, facts)
         select n.id, r.receiver, n.code, n.subject, n.kind, n.since, n.facts
         from (select gen_random_uuid() as id, u.* from rows from (json_to_recordset(${readableJson('$1::json')}) as (code text,
             subject text, kind text, since timestamptz, facts json)) with ordinality
             as u (code, subject, kind, since, facts, position)) n
           cross join unnest($2::text[]) as r (receiver) order by n.position`,
        [JSON.stringify(messages.map((each) => ({ ...each, subject: each.subjects.join(' ') }))), receivers],
      );
    }
    return true;
  });
}

/** A message that waits for one receiver. */
interface AlertMessage extends NewAlertMessage {
  readonly number: number;
  /** ID of the message, the same at every receiver and every attempt. */
  readonly id: string;
  readonly createdAt: Date;
  /** Number of consecutive failed attempts at this receiver. */
  readonly failures: number;
}

/** Delivery state of one receiver. */
interface ReceiverState {
  readonly receiver: string;
  readonly waiting: number;
  readonly failingSince: Date | null;
  readonly failure: string | null;
  readonly deliveredAt: Date | null;
}

/** Forgets all alerts that last until their condition is over. */
export async function forgetRaised(ledger: Ledger): Promise<void> {
  await ledger.db.query('delete from alerts where code <> all($1::text[])', [eventCodes]);
}

/** Registers receivers, so that they can be leased. A second call changes nothing. */
export async function knowReceivers(ledger: Ledger, receivers: readonly string[]): Promise<void> {
  await ledger.db.query(
    'insert into alert_receivers (receiver) select * from unnest($1::text[]) on conflict (receiver) do nothing',
    [receivers],
  );
}

/** Ends all leases. Only a process that uses the ledger alone may call it, because every other holder has then ended. */
export async function endReceiverLeases(ledger: Ledger): Promise<void> {
  await ledger.db.query('update alert_receivers set owner = null, leased_until = null where owner is not null');
}

/**
 * Returns the oldest message for a receiver and leases the receiver for `leaseMs`. Returns undefined if there is none,
 * if the receiver waits for a retry, or if another process holds the lease. A receiver gets its messages in order.
 */
export async function takeMessage(
  ledger: Ledger,
  receiver: string,
  { owner, leaseMs }: { readonly owner: string; readonly leaseMs: number },
): Promise<AlertMessage | undefined> {
  return await ledger.db.transaction(async (tx) => {
    const [lease] = await tx.query<{ failures: number }>(
      `update alert_receivers r set owner = $2, leased_until = now() + $3::float8 * interval '1 millisecond'
       where receiver = $1
         and (owner is null or owner = $2 or leased_until <= now()
           or ${isInFuture(`leased_until - $3::float8 * interval '1 millisecond'`)})
         and (retry_at is null or retry_at <= now() or ${isInFuture('failing_since')})
         and exists (select 1 from alert_messages m where m.receiver = r.receiver) returning failures`,
      [receiver, owner, leaseMs],
    );
    if (lease === undefined) return undefined;
    const [row] = await tx.query<
      Omit<AlertMessage, 'createdAt' | 'failures' | 'facts' | 'subjects'> & { at: Date; subject: string; facts: string }
    >(
      `select number, id::text as id, code, subject, kind, since, facts, created_at as at
       from alert_messages where receiver = $1 order by number limit 1`,
      [receiver],
    );
    if (row === undefined) return undefined;
    const { at: createdAt, subject, facts, ...rest } = row;
    return {
      ...rest,
      subjects: subject.split(' '),
      createdAt,
      failures: lease.failures,
      facts: JSON.parse(facts) as ProblemFacts,
    };
  });
}

/**
 * Deletes a delivered message, notes with its incidents that the receiver accepted it, and ends the lease. If the caller has lost the lease, the receiver's row stays unchanged,
 * because another process now sends to that receiver.
 */
export async function noteDelivered(
  ledger: Ledger,
  receiver: string,
  { message, owner }: { readonly message: AlertMessage; readonly owner: string },
): Promise<void> {
  await ledger.db.transaction(async (tx) => {
    await tx.query('delete from alert_messages where number = $1', [message.number]);
    const { code, subjects, kind, facts } = message;
    if (kind !== 'happened') {
      const codes = [code, ...(typeof facts['problem'] === 'string' ? [facts['problem']] : [])];
      const workspaces = subjects.map((subject) => subject.split('/')[0]!); // of an incident that pigeonholes share
      await noteNotified(tx, receiver, { codes, subjects: [...subjects, ...workspaces], kind });
    }
    await tx.query(
      `update alert_receivers set failures = 0, failing_since = null, failure = null, retry_at = null,
         delivered_at = now(), owner = null, leased_until = null where receiver = $1 and owner = $2`,
      [receiver, owner],
    );
  });
}

/**
 * Stores a failed attempt and the time of the next one, and ends the lease.
 * @param detail a sentence without secrets
 * @returns false, without a change, if the caller has lost the lease: then the receiver did not cause the failure
 */
export async function noteFailed(
  ledger: Ledger,
  receiver: string,
  { detail, retryInMs, owner }: { readonly detail: string; readonly retryInMs: number; readonly owner: string },
): Promise<boolean> {
  const rows = await ledger.db.query(
    `update alert_receivers set failures = failures + 1, failing_since = least(failing_since, now()), failure = $2,
       retry_at = now() + $3::float8 * interval '1 millisecond', owner = null, leased_until = null
     where receiver = $1 and owner = $4 returning receiver`,
    [receiver, detail, retryInMs, owner],
  );
  return rows.length > 0;
}

/** Ends a lease without a result. */
export async function releaseReceiver(ledger: Ledger, receiver: string, owner: string): Promise<void> {
  await ledger.db.query(
    'update alert_receivers set owner = null, leased_until = null where receiver = $1 and owner = $2',
    [receiver, owner],
  );
}

/** Deletes messages older than this, including those for receivers that are no longer configured. */
export async function dropOldMessages(ledger: Ledger, olderThanMs: number): Promise<number> {
  const rows = await ledger.db.query<{ number: number }>(
    `delete from alert_messages where created_at < now() - $1::float8 * interval '1 millisecond' returning number`,
    [olderThanMs],
  );
  return rows.length;
}

export async function receiverStates(ledger: Ledger, receivers: readonly string[]): Promise<ReceiverState[]> {
  return await ledger.db.query<ReceiverState>(
    `select r.receiver, (select count(*)::int from alert_messages m where m.receiver = r.receiver) as waiting,
       r.failing_since as "failingSince", r.failure, r.delivered_at as "deliveredAt"
     from alert_receivers r where r.receiver = any($1::text[])`,
    [receivers],
  );
}
