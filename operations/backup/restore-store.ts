import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Config } from '../../config/config.js';
import type { Database } from '../../ledger/drivers/database.js';
import { openDatabase } from '../../ledger/drivers/open-database.js';
import { recordRestore } from '../../ledger/audit.js';
import { takeOverRestoredLanes } from '../../ledger/lanes-leased.js';
import type { LedgerKey } from '../../ledger/ledger-key.js';
import { migrate } from '../../ledger/migrate.js';
import { pauseRestored } from '../../ledger/pauses.js';
import { readIdentity } from '../../ledger/identity.js';
import { type ErasureList, takeOverErasures } from '../../people/erasure-list.js';
import { BackupError } from './backup-error.js';
import { z } from '@hono/zod-openapi';
import { instant } from '../../base/printable.js';

/**
 * Marks a store that was restored by other means (pg_restore, a snapshot, point-in-time recovery): every sink and every
 * import in progress is paused, so that nothing is sent without an operator's decision. A second run changes nothing
 * more.
 * @param terms.erasures erasures that were made after the backup; null: no list was given
 * @returns the number of erasures that will run again, null if they are not known; and the problem that would stop the
 *   next start, null if there is none
 * @throws {BackupError} kind `inUse` while processes use the store; {LedgerError} kind `otherLedger` if the list
 *   belongs to another ledger: then everything except the list is done
 */
export async function markStoreRestored(
  store: Config['store'],
  mark: Omit<RestoredFrom, 'madeAt'>,
  terms: { readonly erasures: ErasureList | null; readonly configuredKey?: LedgerKey | undefined },
): Promise<{ readonly erasures: number | null; readonly keyProblem: string | null }> {
  const db = await openDatabase(store.kind === 'embedded' ? store : { kind: 'postgres', url: store.url.reveal() });
  try {
    await refuseInUse(db);
    await migrate(db);
    await db.script(markRestored({ ...mark, madeAt: null }));
    const erasures = terms.erasures === null ? null : await takeOverErasures(db, terms.erasures);
    const keyProblem = db.kind === 'postgres' ? await keyProblemOf(db, terms.configuredKey) : null;
    return { erasures, keyProblem };
  } finally {
    await db.close();
  }
}

/** Reads the list that `pigeonpost erasures export` has written. @throws {BackupError} kind `missing` or `unusable` */
export async function readErasureListFile(file: string): Promise<ErasureList> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new BackupError('missing', `${file} cannot be read (${error.code}): give the file of "erasures export"`);
  });
  try {
    return erasureListSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new BackupError('unusable', `${file} is not a list of erasures: give one that "erasures export" wrote`, {
      cause: error,
    });
  }
}

/**
 * Time for the server to end the connections of a process that has just stopped. It lists them until it has noticed
 * that they were closed.
 */
const endOfConnectionsMs = 5_000;

async function refuseInUse(db: Database): Promise<void> {
  if (db.kind === 'embedded') return; // its folder's lock excludes other processes
  const until = performance.now() + endOfConnectionsMs;
  while (await isInUse(db)) {
    if (performance.now() > until)
      throw new BackupError('inUse', 'pigeonpost runs on this database: stop its processes first');
    await pause(100);
  }
}

async function isInUse(db: Database): Promise<boolean> {
  const [found] = await db.query<{ others: number }>(
    `select count(*)::int as others from pg_stat_activity
     where datname = current_database() and application_name = 'pigeonpost' and pid <> pg_backend_pid()`,
  );
  return found!.others > 0;
}

/** Returns the key problem that would stop the next start, so that the operator sees it during the restore. */
async function keyProblemOf(db: Database, key: LedgerKey | undefined): Promise<string | null> {
  const identity = await readIdentity(db);
  if (identity === undefined) return null;
  if (key === undefined) return "the ledger's key is in no backup: set LEDGER_KEY before you start pigeonpost";
  return key.check.equals(identity.check)
    ? null
    : 'LEDGER_KEY is not the key of the restored ledger: set that key before you start pigeonpost';
}

export interface RestoredFrom {
  /** The instant of the backup, whose state the store now has; null: not known. */
  readonly madeAt: Date | null;
  /** Sinks that are configured now. Without a pause, a sink younger than the backup would start from the beginning. */
  readonly sinks: readonly string[];
  /** The operator who restored it, for the audit log. */
  readonly by: string;
  readonly requestId: string;
}

/** The cause of the pauses after a restore. Only an operator resumes them, after a check. */
const restoredCause = 'restored';

/**
 * Returns a script that must run after a restore, before pigeonpost starts. Changes that were delivered after the
 * backup would be delivered again. Therefore the script pauses every sink and every running import until an operator
 * resumes it, and each lane first checks what its sink has. The script is a text, so that `psql` can run it in the
 * transaction of the restore itself, whatever version made the backup.
 */
export function markRestored({ madeAt, sinks, by, requestId }: RestoredFrom): string {
  const since = madeAt === null ? 'a backup' : `the backup of ${madeAt.toISOString()}`;
  const sinkDetail = `the store was restored from ${since}: what was delivered later would go out again; check the backlog and "pigeonpost preview", then resume`;
  const importDetail = `the store was restored from ${since}: rows created later would be sent again; compare with the service, then resume or cancel`;
  return `
${pauseRestored({ sinks, cause: restoredCause, sinkDetail, importDetail })}
${takeOverRestoredLanes}
${recordRestore({ by, madeAt, requestId })}
`;
}

const hash = z.string().regex(/^(?:[0-9a-f]{2}){16,64}$/);

/** The exported list of erasures. `pigeonpost restore --erasures` accepts it as well. */
export const erasureListSchema = z
  .object({
    ledger: z.uuid().describe('The ledger whose keys made the hashes.'),
    erasures: z
      .array(
        z.object({
          id: z.uuid(),
          asked: hash,
          requestedAt: instant(),
          people: z.array(z.object({ workspace: z.string(), subject: hash })).readonly(),
          codes: z.array(z.object({ workspace: z.string(), pigeonholeId: z.int(), code: hash })).readonly(),
        }),
      )
      .readonly(),
  })
  .openapi('ErasureList') satisfies z.ZodType<ErasureList>;
