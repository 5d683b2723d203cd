import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import type { Stage } from './stage.js';

/** Queries for an analysis after a failure: ids, times and counts, but no contents. */
const questions = {
  workspaces: 'select * from workspaces',
  quotas: 'select * from quotas', // keys as fingerprints
  lanes: 'select * from lanes',
  streams: 'select * from streams order by pigeonhole_number, list, session_id',
  walks: 'select * from walks',
  missing: 'select * from missing',
  holds: 'select * from holds',
  pages: "select stream_id, ordinal, cursor, encode(digest, 'hex') as digest, keys from pages order by 1, 2",
  items: `select pigeonhole_number, list, key, session_id, stream_id, revision, payload is null as deleted, visibility,
    seen_at, last_sequence from items order by 1, 2, 3`,
  deliveries: "select * from deliveries where state not in ('delivered', 'withheld') limit 1000",
} as const;

/**
 * Writes the state of a PostgreSQL store next to the logs before it is deleted. An embedded store stays in the folder.
 */
export async function dumpStore({ folder, postgres }: Stage): Promise<void> {
  if (postgres === undefined) return;
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  try {
    for (const [name, sql] of Object.entries(questions)) {
      const { rows } = await client.query<object>(sql);
      writeFileSync(join(folder, `store-${name}.ndjson`), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    }
  } finally {
    await client.end();
  }
}
