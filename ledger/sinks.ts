import type { Ledger } from './ledger.js';
import type { Queryable } from './drivers/database.js';
import { endApprovalsExcept } from './approvals.js';
import { forgetObserved, lockObserved } from './lanes.js';
import { dropObservations } from './observations.js';

/* Owner of the table `sinks`: every statement that writes it. */

/** A configured sink as it is stored in the ledger. */
export interface RegisteredSink {
  readonly name: string;
  readonly type: string;
  /** Age limit, in milliseconds, of existing changes that a new lane delivers. Null: all; 0: none. */
  readonly historyMs: number | null;
  readonly observing: boolean;
  /** Keyed fingerprint of the sink's destination. */
  readonly destination: string;
}

/**
 * Registers the configured sinks by name, and archives all others. An archived sink keeps its watermarks, and continues
 * from them when it is configured again. An approval ends when its sink leaves `mode: observe` or gets another
 * destination.
 * @returns the sinks' ids by name
 */
export async function registerSinks(ledger: Ledger, sinks: readonly RegisteredSink[]): Promise<Map<string, number>> {
  return await ledger.db.transaction(async (tx) => {
    const names = sinks.map(({ name }) => name);
    // Lanes are locked before sinks (lock-order.ts), although only the last statement writes lanes.
    await lockObserved(tx);
    await tx.query(
      `with given as (select * from unnest($1::text[], $2::text[], $3::int8[]) as n (name, type, history_ms)),
       known as (update sinks s set type = g.type, history_ms = g.history_ms, archived_at = null
         from given g where g.name = s.name)
       insert into sinks (name, type, history_ms)
       select * from given g where not exists (select 1 from sinks s where s.name = g.name)
       on conflict (name) do update set type = excluded.type, history_ms = excluded.history_ms, archived_at = null`,
      [names, sinks.map(({ type }) => type), sinks.map(({ historyMs }) => historyMs)],
    );
    await tx.query('update sinks set archived_at = now() where archived_at is null and not name = any($1::text[])', [
      names,
    ]);
    const rows = await tx.query<{ id: number; name: string }>(
      'select id, name from sinks where name = any($1::text[])',
      [names],
    );
    const ids = new Map(rows.map(({ id, name }) => [name, id]));
    const observing = sinks.filter((sink) => sink.observing);
    const observingIds = observing.map(({ name }) => ids.get(name)!);
    await endApprovalsExcept(
      tx,
      observing.map(({ name, destination }) => ({ sinkId: ids.get(name)!, destination })),
    );
    await dropObservations(tx, observingIds);
    await forgetObserved(tx, observingIds);
    return ids;
  });
}

/** Returns the ledger's id of a sink; undefined if it was never configured. */
export async function findSink(tx: Queryable, name: string): Promise<number | undefined> {
  const [row] = await tx.query<{ id: number }>('select id from sinks where name = $1', [name]);
  return row?.id;
}

/** @param retryInMs null if the sink works */
export async function saveSinkHealth(ledger: Ledger, sinkId: number, retryInMs: number | null): Promise<void> {
  await ledger.db.query(
    `update sinks set failing_since = case when $2::float8 is not null then coalesce(failing_since, now()) end,
       retry_at = now() + $2::float8 * interval '1 millisecond'
     where id = $1`,
    [sinkId, retryInMs],
  );
}

/** Ends the wait of a sink. `try_now_at` makes every process drop the waits that the destination requested. */
export async function noteTryNow(tx: Queryable, sinkId: number): Promise<void> {
  await tx.query('update sinks set retry_at = least(retry_at, now()), try_now_at = now() where id = $1', [sinkId]);
}

/** Returns the names of these sinks, which the caller wakes after the commit. Locks nothing. */
export async function namesOfSinks(tx: Queryable, sinkIds: readonly number[]): Promise<string[]> {
  if (sinkIds.length === 0) return [];
  const rows = await tx.query<{ name: string }>('select name from sinks where id = any($1::int[])', [sinkIds]);
  return rows.map(({ name }) => name);
}

/** Returns the names of all sinks that are in use. */
export async function namesOfSinksInUse(tx: Queryable): Promise<string[]> {
  const rows = await tx.query<{ name: string }>('select name from sinks where archived_at is null');
  return rows.map(({ name }) => name);
}
