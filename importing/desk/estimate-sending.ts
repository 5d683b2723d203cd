import type { SendingEstimate } from './import-views.js';
import type { Config } from '../../config/config.js';
import type { Ledger } from '../../ledger/ledger.js';
import { type QuotaState, readQuotas } from '../../work/requests/quota.js';
import { firstChunkSize } from '../staging.js';

/** Assumed time per request. The service may be much faster and is rarely slower. */
const requestMs = 1000;

export interface SendingTerms {
  readonly rows: number;
  readonly rowsPerRequest: number;
  /** Undefined: no request was made with this key so far. */
  readonly quota: Pick<QuotaState, 'limit' | 'remaining' | 'resetInMs' | 'resetTold' | 'waitMs'> | undefined;
  /** Length of the quota window; null: not known. */
  readonly windowMs: number | null;
}

/** Estimates the requests and time of sending, if nothing else uses the key. Pure. @param now epoch ms */
export function estimateSending(
  { rows, rowsPerRequest: most, quota, windowMs }: SendingTerms,
  now: number,
): SendingEstimate {
  const requests = Math.ceil(rows / most);
  const left = quota === undefined ? null : quota.waitMs > 0 ? 0 : quota.remaining;
  const limit = quota?.limit ?? null;
  const resetInMs = quota !== undefined && quota.resetTold ? quota.resetInMs : null;
  const later = left === null ? 0 : Math.max(0, requests - left);
  const waits =
    left === null ? null : later === 0 ? 0 : limit === null || limit === 0 ? null : Math.ceil(later / limit);
  const at = (ms: number): string => new Date(now + ms).toISOString();
  return {
    requests,
    rowsPerRequest: most,
    left,
    limit,
    resetAt: resetInMs === null ? null : at(resetInMs),
    waits,
    doneAt: doneAt(),
  };

  function doneAt(): string | null {
    if (waits === null) return null;
    if (waits === 0) return at(requests * requestMs);
    if (resetInMs === null || (waits > 1 && windowMs === null)) return null;
    const inLast = later - (waits - 1) * limit!;
    return at(resetInMs + (waits - 1) * (windowMs ?? 0) + inLast * requestMs);
  }
}

/** Estimates sending from the quota in the ledger. */
export async function readSendingEstimate(
  { config, ledger }: { readonly config: Config; readonly ledger: Ledger },
  workspace: string,
  rows: number,
  now: number,
): Promise<SendingEstimate> {
  const fingerprint = ledger.hash.fingerprint(config.workspaces[workspace]!.apiKey.reveal());
  const quota = (await readQuotas(ledger, [fingerprint])).get(fingerprint);
  const windowMs = await quotaWindowMs(ledger, fingerprint);
  const most = await rowsPerRequest(ledger, workspace);
  return estimateSending({ rows, rowsPerRequest: most, quota, windowMs }, now);
}

/** Returns the registrants per request of a new import. */
export async function rowsPerRequest(ledger: Ledger, workspace: string): Promise<number> {
  const [row] = await ledger.db.query<{ rows: number | null }>(
    'select least($2::int, registrants_at_once) as rows from workspaces where name = $1',
    [workspace, firstChunkSize],
  );
  return row?.rows ?? firstChunkSize;
}

/** Returns the window of this key's quota; null: the service has not reported it yet. */
export async function quotaWindowMs(ledger: Ledger, fingerprint: string): Promise<number | null> {
  const [row] = await ledger.db.query<{ window_ms: number | null }>(
    'select case when window_told then window_ms end as window_ms from quotas where fingerprint = $1',
    [fingerprint],
  );
  return row?.window_ms ?? null;
}
