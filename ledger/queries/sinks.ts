import type { Ledger } from '../ledger.js';

/** Makes the ledger's sinks exactly these, by name; what is no longer configured is archived with its watermarks. */
export async function registerSinks(
  ledger: Ledger,
  sinks: readonly { name: string; type: string }[],
): Promise<Map<string, number>> {
  return await ledger.db.transaction(async (tx) => {
    const names = sinks.map(({ name }) => name);
    await tx.query(
      `insert into sinks (name, type) select * from unnest($1::text[], $2::text[])
       on conflict (name) do update set type = excluded.type, archived_at = null`,
      [names, sinks.map(({ type }) => type)],
    );
    await tx.query('update sinks set archived_at = now() where archived_at is null and not name = any($1::text[])', [
      names,
    ]);
    const rows = await tx.query<{ id: number; name: string }>(
      'select id, name from sinks where name = any($1::text[])',
      [names],
    );
    return new Map(rows.map(({ id, name }) => [name, id]));
  });
}

/** Lowers a sink's wake flag: what is committed from now on raises it again, and so sends a signal. */
export async function lowerWakeFlag(ledger: Ledger, sinkId: number): Promise<void> {
  await ledger.db.query('update sinks set wake = false where id = $1 and wake', [sinkId]);
}
