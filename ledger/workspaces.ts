import type { Ledger } from './ledger.js';
import type { Queryable } from './drivers/database.js';
import { retryImports } from './imports/imports.js';
import { raiseAskedOfWorkspace } from './pigeonholes-asked.js';
import { forgetFailures, retryFailed } from './streams-due.js';

export type WaitReason = 'quota' | 'throttled' | 'credential';

export type Permission =
  | {
      readonly kind: 'ask';
      /**
       * The wait that has just ended, and the number of waits in a row; null if there was none. If it is set, the
       * caller has to call `workspaceAnswers` when a request succeeds.
       */
      readonly workspaceWait: { readonly reason: WaitReason; readonly count: number } | null;
    }
  | { readonly kind: 'wait'; readonly reason: WaitReason; readonly remainingMs: number };

/** While one process tries a rejected API key again, the others wait this long before they check the result. */
const probeMs = 30_000;

/**
 * Decides whether a caller may send a request to the service for this workspace now. After the service rejected the API
 * key, only the first caller may try the key again, and the answer decides for all.
 */
export async function requestPermission(ledger: Ledger, name: string): Promise<Permission> {
  const [row] = await ledger.db.query<{ wait_reason: WaitReason; wait_count: number; remaining_ms: number }>(
    `select wait_reason, wait_count, (extract(epoch from wait_until - now()) * 1000)::float8 as remaining_ms
     from workspaces where name = $1 and wait_until is not null`,
    [name],
  );
  if (row === undefined) return { kind: 'ask', workspaceWait: null };
  if (row.remaining_ms > 0) return { kind: 'wait', reason: row.wait_reason, remainingMs: Math.ceil(row.remaining_ms) };
  const workspaceWait = { reason: row.wait_reason, count: row.wait_count };
  if (row.wait_reason !== 'credential') return { kind: 'ask', workspaceWait };
  const claimed = await ledger.db.query(
    `update workspaces set wait_until = now() + $2 * interval '1 millisecond'
     where name = $1 and wait_reason = 'credential' and wait_until <= now() returning name`,
    [name, probeMs],
  );
  return claimed.length > 0
    ? { kind: 'ask', workspaceWait }
    : { kind: 'wait', reason: row.wait_reason, remainingMs: probeMs };
}

/**
 * Makes every reader of this workspace wait, in all processes. If several readers report a wait for the same reason,
 * the longest applies; a wait for another reason replaces it.
 * @param wait.count number of consecutive waits including this one, counted by the caller: several requests refused at
 * the same time count as one
 */
export async function waitWorkspace(
  ledger: Ledger,
  name: string,
  wait: { reason: WaitReason; waitMs: number; count: number },
): Promise<void> {
  await ledger.db.query(
    `insert into workspaces (name, wait_until, wait_reason, wait_count)
     values ($1, clock_timestamp() + $3 * interval '1 millisecond', $2, $4)
     on conflict (name) do update set wait_until = case when workspaces.wait_reason = excluded.wait_reason
         then greatest(workspaces.wait_until, excluded.wait_until) else excluded.wait_until end,
       wait_reason = excluded.wait_reason,
       wait_count = excluded.wait_count`,
    [name, wait.reason, wait.waitMs, wait.count],
  );
}

/** Ends the wait of a workspace, because the service answered. Writes nothing if there was no wait. */
export async function workspaceAnswers(ledger: Ledger, name: string): Promise<void> {
  await ledger.db.query(
    `update workspaces set wait_until = null, wait_reason = null, wait_count = 0
     where name = $1 and (wait_until is not null or wait_count > 0)`,
    [name],
  );
}

/**
 * Ends the time for which a workspace waits for its quota, because the quota has grown. The next request shows whether
 * it has to wait again.
 * @returns false if it did not wait for its quota
 */
export async function endQuotaWait(ledger: Ledger, name: string): Promise<boolean> {
  const waits = `name = $1 and wait_reason = 'quota' and wait_until > now()`;
  return await ledger.db.transaction(async (tx) => {
    const waiting = await tx.query(`select name from workspaces where ${waits}`, [name]);
    if (waiting.length === 0) return false;
    await raiseAskedOfWorkspace(tx, name); // its readers sleep until the end of the wait
    const ended = await tx.query(`update workspaces set wait_until = now() where ${waits} returning name`, [name]);
    return ended.length > 0;
  });
}

/** Ends the wait after a rejected API key, because the key has been replaced. */
export async function forgetRefusedKey(ledger: Ledger, name: string): Promise<void> {
  await ledger.db.query(
    `update workspaces set wait_until = null, wait_reason = null, wait_count = 0
     where name = $1 and wait_reason = 'credential'`,
    [name],
  );
}

/** Makes those streams and running imports of a workspace due immediately that are waiting after a failure. */
export async function retryWorkspace(ledger: Ledger, name: string): Promise<void> {
  await retryFailed(ledger, name);
  await retryImports(ledger, name);
}

/**
 * After an outage of the service, makes the streams and running imports that failed due immediately, and forgets the
 * failures of the streams: the outage caused them, and the next read of each stream shows whether it still fails.
 * Otherwise, streams that are only waiting to be read would count as failing. Keeps failures that say that the service
 * no longer has a stream.
 */
export async function retryAfterOutage(ledger: Ledger, name: string): Promise<void> {
  await forgetFailures(ledger, name);
  await retryImports(ledger, name);
}

/**
 * Records that the service does not answer requests for this workspace, and since when. A later call during the same
 * outage does not change the start, and writes only if the reason has changed.
 */
export async function markUnanswered(
  ledger: Ledger,
  name: string,
  { forMs, reason }: { readonly forMs: number; readonly reason: string },
): Promise<void> {
  await ledger.db.query(
    `insert into workspaces (name, unanswered_since, unanswered_reason)
     values ($1, clock_timestamp() - $2::float8 * interval '1 millisecond', $3)
     on conflict (name) do update set unanswered_since = coalesce(workspaces.unanswered_since, excluded.unanswered_since),
       unanswered_reason = excluded.unanswered_reason
     where workspaces.unanswered_since is null or workspaces.unanswered_reason is distinct from excluded.unanswered_reason`,
    [name, forMs, reason],
  );
}

/** Returns true if an outage of the service is recorded for this workspace. */
export async function isUnanswered(ledger: Ledger, name: string): Promise<boolean> {
  const rows = await ledger.db.query('select 1 from workspaces where name = $1 and unanswered_since is not null', [
    name,
  ]);
  return rows.length > 0;
}

/** Records that the service answers again. Writes nothing if no outage was recorded. */
export async function markAnswering(ledger: Ledger, name: string): Promise<void> {
  await ledger.db.query(
    `update workspaces set unanswered_since = null, unanswered_reason = null
     where name = $1 and unanswered_since is not null`,
    [name],
  );
}

/**
 * Records that the syncs have selected pigeonholes of the workspace for the first time. Before that, pigeonpost must
 * not report that everything has been read.
 */
export async function markDiscovered(ledger: Ledger, name: string): Promise<void> {
  await ledger.db.query(
    `insert into workspaces (name, discovered_at) values ($1, now())
     on conflict (name) do update set discovered_at = now() where workspaces.discovered_at is null`,
    [name],
  );
}

/** Remembers what an answer showed about the service, for all imports into the workspace. */
export async function learnRefusals(
  tx: Queryable,
  workspace: string,
  { size, indexBase, refusesWhole }: RefusalBehavior & { readonly size: number | null },
): Promise<void> {
  await tx.query(
    `insert into workspaces as w (name, registrants_at_once, registrant_index_base, refuses_whole) values ($1, $2, $3, $4)
     on conflict (name) do update set registrants_at_once = least(w.registrants_at_once, excluded.registrants_at_once),
       registrant_index_base = coalesce(excluded.registrant_index_base, w.registrant_index_base),
       refuses_whole = w.refuses_whole or excluded.refuses_whole`,
    [workspace, size, indexBase, refusesWhole],
  );
}

/** Observations about how a service refuses registrants. */
export interface RefusalBehavior {
  /** The number from which it counts rows; null: not known. */
  readonly indexBase: 0 | 1 | null;
  /** It creates no row of a request that it refuses. */
  readonly refusesWhole: boolean;
}

export async function readRefusalBehavior(ledger: Ledger, workspace: string): Promise<RefusalBehavior> {
  const [row] = await ledger.db.query<{ base: 0 | 1 | null; whole: boolean }>(
    'select registrant_index_base as base, refuses_whole as whole from workspaces where name = $1',
    [workspace],
  );
  return { indexBase: row?.base ?? null, refusesWhole: row?.whole ?? false };
}
