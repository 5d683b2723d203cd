import type { Queryable, Session } from './drivers/database.js';
import { StoreError } from './drivers/store-error.js';
import { LedgerError } from './ledger-error.js';

export interface LockWaits {
  /** Time limit of one attempt to get a lock. Meanwhile every other session that needs the table waits behind it. */
  readonly lockTimeoutMs: number;
  /** Time for which the attempts continue before the migration fails. */
  readonly giveUpAfterMs: number;
  /** The longest pause between two attempts, in which other sessions use the table. */
  readonly maxPauseMs: number;
}

const lockWaits: LockWaits = { lockTimeoutMs: 5000, giveUpAfterMs: 10 * 60_000, maxPauseMs: 10_000 };

/**
 * Runs a migration's transaction so that it never keeps other sessions out for long while it waits for a lock itself. An
 * attempt that does not get its locks in time is rolled back and repeated after a pause.
 * @param name of the migration
 * @throws {LedgerError} kind `busy` when no attempt got its locks; whatever `work` throws
 */
export async function retryLock(
  session: Session,
  {
    name,
    onProgress,
    waits = lockWaits,
  }: { readonly name: string; readonly onProgress: (line: string) => void; readonly waits?: LockWaits | undefined },
  work: (tx: Queryable) => Promise<void>,
): Promise<void> {
  const until = performance.now() + waits.giveUpAfterMs;
  for (let pauseMs = Math.min(1000, waits.maxPauseMs); ; pauseMs = Math.min(pauseMs * 2, waits.maxPauseMs)) {
    try {
      await session.transaction(async (tx) => {
        await tx.script(`set local lock_timeout = ${waits.lockTimeoutMs}`);
        await work(tx);
      });
      return;
    } catch (error) {
      if (!(error instanceof StoreError && error.sqlState === lockNotAvailable)) throw error;
      const holder = await oldestTransaction(session, waits.lockTimeoutMs);
      if (performance.now() + pauseMs > until) {
        throw new LedgerError(
          'busy',
          `${name} needs a table that another session has locked${holder}: end that session, then start again. Nothing was changed`,
        );
      }
      onProgress(`${name} needs a table that another session has locked${holder}: tried again in ${pauseMs / 1000} s`);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

/** PostgreSQL 15, Appendix A. */
const lockNotAvailable = '55P03';

/** The session that most likely holds the lock, in words; its statement may quote values and is left out. */
async function oldestTransaction(session: Session, olderThanMs: number): Promise<string> {
  const [row] = await session.query<{ pid: number; program: string; state: string; seconds: number }>(
    `select pid, application_name as program, state, extract(epoch from now() - xact_start)::int as seconds
     from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and state is not null
       and xact_start < now() - $1::float8 * interval '1 ms'
     order by xact_start limit 1`,
    [olderThanMs],
  );
  if (row === undefined) return '';
  const program = /^[\w .:-]{1,60}$/.test(row.program) ? `${row.program}, ` : '';
  return ` (probably process ${row.pid} of the server: ${program}${row.state}, in a transaction for ${row.seconds} s)`;
}
