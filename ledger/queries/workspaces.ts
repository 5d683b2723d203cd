import type { Ledger } from '../ledger.js';

export type WaitReason = 'quota' | 'throttled' | 'credential';

export type Permission =
  | { readonly kind: 'ask'; /** This is the first try after a wait: a success should be told. */ readonly hadToWait: boolean }
  | { readonly kind: 'wait'; readonly reason: WaitReason; readonly remainingMs: number };

/** While one process tries a refused key again, the others wait this long before they look. */
const probeMs = 30_000;

/**
 * Whether a workspace may be asked now. After a refused key only one caller may, whoever comes first: its answer
 * decides for all.
 */
export async function mayAsk(ledger: Ledger, name: string): Promise<Permission> {
  const [row] = await ledger.db.query<{ wait_reason: WaitReason; remaining_ms: number }>(
    `select wait_reason, (extract(epoch from wait_until - now()) * 1000)::float8 as remaining_ms
     from workspaces where name = $1 and wait_until is not null`,
    [name],
  );
  if (row === undefined) return { kind: 'ask', hadToWait: false };
  if (row.remaining_ms > 0) return { kind: 'wait', reason: row.wait_reason, remainingMs: Math.ceil(row.remaining_ms) };
  if (row.wait_reason !== 'credential') return { kind: 'ask', hadToWait: true };
  const claimed = await ledger.db.query(
    `update workspaces set wait_until = now() + $2 * interval '1 millisecond'
     where name = $1 and wait_reason = 'credential' and wait_until <= now() returning name`,
    [name, probeMs],
  );
  return claimed.length > 0
    ? { kind: 'ask', hadToWait: true }
    : { kind: 'wait', reason: row.wait_reason, remainingMs: probeMs };
}

/** How often in a row a workspace had to wait for this reason. */
export async function waitCount(ledger: Ledger, name: string, reason: WaitReason): Promise<number> {
  const [row] = await ledger.db.query<{ wait_count: number }>(
    'select wait_count from workspaces where name = $1 and wait_reason = $2',
    [name, reason],
  );
  return row?.wait_count ?? 0;
}

/** Everything that reads this workspace waits; one process after another learns it from this row. */
export async function waitWorkspace(ledger: Ledger, name: string, reason: WaitReason, waitMs: number): Promise<void> {
  await ledger.db.query(
    `insert into workspaces (name, wait_until, wait_reason, wait_count)
     values ($1, clock_timestamp() + $3 * interval '1 millisecond', $2, 1)
     on conflict (name) do update set wait_until = excluded.wait_until, wait_reason = excluded.wait_reason,
       wait_count = case when workspaces.wait_reason = excluded.wait_reason then workspaces.wait_count + 1 else 1 end`,
    [name, reason, waitMs],
  );
}

/** The service answered: nothing waits any more. Writes only when something did. */
export async function workspaceAnswers(ledger: Ledger, name: string): Promise<void> {
  await ledger.db.query(
    `update workspaces set wait_until = null, wait_reason = null, wait_count = 0
     where name = $1 and (wait_until is not null or wait_count > 0)`,
    [name],
  );
}

/** The refused key is another one now: nothing waits for the old one. */
export async function forgetRefusedKey(ledger: Ledger, name: string): Promise<void> {
  await ledger.db.query(
    `update workspaces set wait_until = null, wait_reason = null, wait_count = 0
     where name = $1 and wait_reason = 'credential'`,
    [name],
  );
}

export interface QuotaReading {
  readonly limit: number | null;
  readonly remaining: number | null;
  readonly resetAt: Date | null;
}

/** What the service's headers last said of a workspace's quota. */
export async function noteQuota(ledger: Ledger, name: string, quota: QuotaReading): Promise<void> {
  await ledger.db.query(
    `insert into workspaces (name, quota_limit, quota_remaining, quota_reset_at) values ($1, $2, $3, $4)
     on conflict (name) do update set quota_limit = excluded.quota_limit, quota_remaining = excluded.quota_remaining,
       quota_reset_at = excluded.quota_reset_at`,
    [name, quota.limit, quota.remaining, quota.resetAt],
  );
}
