import type { Database } from './drivers/database.js';

interface Reporting {
  /** Asked how far the server is, beside the connection that is busy. */
  readonly db: Database;
  readonly what: string;
  readonly onProgress: (line: string) => void;
  readonly everyMs: number;
}

/** Runs `work` and says, as long as it takes, for how many seconds it has, and what the server does with an index. */
export async function reportProgress(
  { db, what, onProgress, everyMs }: Reporting,
  work: () => Promise<void>,
): Promise<void> {
  const startedAt = performance.now();
  let reporting: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    reporting = reporting.then(async () => onProgress(`${what}, ${seconds} s so far${await indexProgress(db)}`));
  }, everyMs);
  try {
    await work();
  } finally {
    clearInterval(timer);
    await reporting;
  }
}

/** Embedded the one connection is at work, and there is nobody to ask. */
async function indexProgress(db: Database): Promise<string> {
  if (db.kind === 'embedded') return '';
  try {
    const [row] = await db.query<{ phase: string; done: number; total: number }>(
      `select phase, blocks_done::float8 as done, blocks_total::float8 as total from pg_stat_progress_create_index
       where datname = current_database() limit 1`,
    );
    if (row === undefined) return '';
    const share = row.total > 0 ? `, ${Math.floor((100 * row.done) / row.total)} %` : '';
    return ` (${row.phase}${share})`;
  } catch {
    return ''; // a line less
  }
}
