import type { Database } from './database.js';
import { grownTables, smallSample } from './grown-tables.js';

/** One table a transaction, so that others get in between. On a server, a table that somebody analyzes now is left to them. */
export async function analyzeGrownTables(db: Pick<Database, 'query' | 'transaction'>): Promise<void> {
  for (const { name } of await db.query<{ name: string }>(grownTables)) {
    // oxlint-disable-next-line no-await-in-loop -- one after another
    await db.transaction(async (tx) => {
      await tx.script(smallSample);
      await tx.script(`analyze (skip_locked) ${name}`);
    });
  }
}
