import type { Queryable, Session } from './drivers/database.js';
import { StoreError } from './drivers/store-error.js';
import { LedgerError } from './ledger-error.js';

export interface LockWaits {
  /**
   * Time limit of one attempt to get a lock. During the attempt, every other session that needs the table has to wait.
   */
  readonly lockTimeoutMs: number;
  /** Time for which the attempts continue before the migration fails. */
  readonly giveUpAfterMs: number;
  /** Maximum pause between two attempts. Other sessions can use the table during a pause. */
  readonly maxPauseMs: number;
}

const lockWaits: LockWaits = { lockTimeoutMs: 5000, giveUpAfterMs: 10 * 60_000, maxPauseMs: 10_000 };

/**
 * Runs a migration's transaction without blocking other sessions for long while it waits for a lock. If an attempt does
 * not get its locks in time, it is rolled back and repeated after a pause.
 * @param name name of the migration, for messages
 * @throws {LedgerError} kind `busy` if no attempt got its locks; any error that `work` throws
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
      onProgress(`${name} needs a table that another session has locked${holder}: trying again in ${pauseMs / 1000} s`);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

/** SQLSTATE `lock_not_available`. Source: PostgreSQL 15, Appendix A. */
const lockNotAvailable = '55P03';

/**
 * Describes the session that most likely holds the lock: the one with the oldest transaction. Leaves out its statement,
 * which may quote values.
 */
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
