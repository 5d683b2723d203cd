import type { Ledger } from './ledger.js';

/** Records that a process has started. Charts mark it. */
export async function recordStart({ db }: Pick<Ledger, 'db'>): Promise<void> {
  await db.query('insert into starts default values');
}

/** Returns the starts of processes since an instant, oldest first. */
export async function startsSince({ db }: Pick<Ledger, 'db'>, since: Date): Promise<Date[]> {
  const rows = await db.query<{ at: Date }>('select at from starts where at > $1 order by at limit 1000', [since]);
  return rows.map(({ at }) => at);
}

/** Deletes starts that no chart shows. */
export async function trimStarts({ db }: Pick<Ledger, 'db'>): Promise<void> {
  await db.query(`delete from starts where at < now() - interval '8 days'`);
}
