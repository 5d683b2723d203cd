import type { Ledger } from '../../ledger/ledger.js';
import type { AlertFacts, NewAlertMessage } from './looks.js';

/** A message that one receiver is still to be given. */
export interface AlertMessage extends NewAlertMessage {
  readonly number: number;
  /** The same at every receiver and every attempt. */
  readonly id: string;
  readonly createdAt: Date;
  /** Attempts in a row that this receiver has failed. */
  readonly failures: number;
}

/** How one receiver takes what it is sent. */
export interface AlertReceiverState {
  readonly receiver: string;
  readonly waiting: number;
  readonly failures: number;
  readonly failingSince: Date | null;
  readonly failure: string | null;
  readonly deliveredAt: Date | null;
}

/** Makes receivers known, so that they can be leased. A second call changes nothing. */
export async function knowReceivers(ledger: Ledger, receivers: readonly string[]): Promise<void> {
  await ledger.db.query(
    'insert into alert_receivers (receiver) select * from unnest($1::text[]) on conflict (receiver) do nothing',
    [receivers],
  );
}

/** No other process is there: whatever was leased, its holder has ended. */
export async function endReceiverLeases(ledger: Ledger): Promise<void> {
  await ledger.db.query('update alert_receivers set owner = null, leased_until = null where owner is not null');
}

/**
 * The oldest message for a receiver, and for `leaseMs` the right to send it; undefined when there is none, when its time
 * has not come, or when another process is at it. Messages reach a receiver in their order.
 */
export async function takeMessage(
  ledger: Ledger,
  receiver: string,
  { owner, leaseMs }: { readonly owner: string; readonly leaseMs: number },
): Promise<AlertMessage | undefined> {
  return await ledger.db.transaction(async (tx) => {
    const [lease] = await tx.query<{ failures: number }>(
      `update alert_receivers r set owner = $2, leased_until = now() + $3::float8 * interval '1 millisecond'
       where receiver = $1 and (owner is null or owner = $2 or leased_until <= now())
         and (retry_at is null or retry_at <= now())
         and exists (select 1 from alert_messages m where m.receiver = r.receiver) returning failures`,
      [receiver, owner, leaseMs],
    );
    if (lease === undefined) return undefined;
    const [row] = await tx.query<
      Omit<AlertMessage, 'createdAt' | 'failures' | 'facts' | 'subjects'> & { at: Date; subject: string; facts: string }
    >(
      `select number, id::text as id, occasion, subject, kind, since, facts, created_at as at
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
      facts: JSON.parse(facts) as AlertFacts,
    };
  });
}

/** The receiver has it. */
export async function noteDelivered(ledger: Ledger, receiver: string, { number }: AlertMessage): Promise<void> {
  await ledger.db.transaction(async (tx) => {
    await tx.query('delete from alert_messages where number = $1', [number]);
    await tx.query(
      `update alert_receivers set failures = 0, failing_since = null, failure = null, retry_at = null,
         delivered_at = now(), owner = null, leased_until = null where receiver = $1`,
      [receiver],
    );
  });
}

/** The receiver has not taken it. @param detail a sentence without secrets */
export async function noteFailed(
  ledger: Ledger,
  receiver: string,
  { detail, retryInMs }: { readonly detail: string; readonly retryInMs: number },
): Promise<void> {
  await ledger.db.query(
    `update alert_receivers set failures = failures + 1, failing_since = coalesce(failing_since, now()), failure = $2,
       retry_at = now() + $3::float8 * interval '1 millisecond', owner = null, leased_until = null where receiver = $1`,
    [receiver, detail, retryInMs],
  );
}

/** Gives a lease back without having sent anything. */
export async function releaseReceiver(ledger: Ledger, receiver: string, owner: string): Promise<void> {
  await ledger.db.query(
    'update alert_receivers set owner = null, leased_until = null where receiver = $1 and owner = $2',
    [receiver, owner],
  );
}

/** Gives up messages that nobody has taken for so long, those to receivers that are no longer configured among them. */
export async function dropOldMessages(ledger: Ledger, olderThanMs: number): Promise<number> {
  const rows = await ledger.db.query<{ number: number }>(
    `delete from alert_messages where created_at < now() - $1::float8 * interval '1 millisecond' returning number`,
    [olderThanMs],
  );
  return rows.length;
}

export async function receiverStates(ledger: Ledger, receivers: readonly string[]): Promise<AlertReceiverState[]> {
  return await ledger.db.query<AlertReceiverState & Record<string, unknown>>(
    `select r.receiver, (select count(*)::int from alert_messages m where m.receiver = r.receiver) as waiting, r.failures,
       r.failing_since as "failingSince", r.failure, r.delivered_at as "deliveredAt"
     from alert_receivers r where r.receiver = any($1::text[])`,
    [receivers],
  );
}
