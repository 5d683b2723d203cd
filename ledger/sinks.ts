import type { Ledger } from './ledger.js';

/** A configured sink as the ledger keeps it. */
export interface RegisteredSink {
  readonly name: string;
  readonly type: string;
  /** Age limit of the existing changes that a new lane delivers, in milliseconds: null all, 0 none. */
  readonly historyMs: number | null;
  readonly observing: boolean;
  /** Keyed fingerprint of where it sends to. */
  readonly destination: string;
}

/**
 * Makes the ledger's sinks exactly these, by name. A sink that is no longer configured is archived with its watermarks,
 * and restored with them. An approval ends when its sink leaves `mode: observe`, or sends to another destination.
 */
export async function registerSinks(ledger: Ledger, sinks: readonly RegisteredSink[]): Promise<Map<string, number>> {
  return await ledger.db.transaction(async (tx) => {
    const names = sinks.map(({ name }) => name);
    // Before the sinks' rows (lock-order.ts), though only the last statement writes them.
    await tx.query('select 1 from lanes where observed is not null order by sink_id, ref for update');
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
    await tx.query(
      `delete from approvals a where not exists (select 1 from unnest($1::int4[], $2::text[]) as n (sink_id, destination)
         where n.sink_id = a.sink_id and n.destination = a.destination)`,
      [observingIds, observing.map(({ destination }) => destination)],
    );
    await tx.query('delete from observations where sink_id <> all($1::int4[])', [observingIds]);
    await tx.query('update lanes set observed = null where observed is not null and sink_id <> all($1::int4[])', [
      observingIds,
    ]);
    return ids;
  });
}

/** The ledger's number of a sink; undefined: it was never configured. */
export async function findSink(ledger: Ledger, name: string): Promise<number | undefined> {
  const [row] = await ledger.db.query<{ id: number }>('select id from sinks where name = $1', [name]);
  return row?.id;
}

/** Lowers a sink's wake flag: what is committed from now on raises it again, and so sends a signal. */
export async function lowerWakeFlag(ledger: Ledger, sinkId: number): Promise<void> {
  await ledger.db.query('update sinks set wake = false where id = $1 and wake', [sinkId]);
}
