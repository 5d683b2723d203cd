import type { Ledger } from '../../ledger/ledger.js';
import { firstChunkSize } from './begin-import.js';

/** Registrants that a new import into this pigeonhole would put into one request. */
export async function rowsPerRequest(ledger: Ledger, workspace: string): Promise<number> {
  const [row] = await ledger.db.query<{ rows: number | null }>(
    'select least($2::int, registrants_at_once) as rows from workspaces where name = $1',
    [workspace, firstChunkSize],
  );
  return row?.rows ?? firstChunkSize;
}

/** How long a window of this key's quota lasts; null: the service has not told yet. */
export async function quotaWindowMs(ledger: Ledger, fingerprint: string): Promise<number | null> {
  const [row] = await ledger.db.query<{ window_ms: number | null }>(
    'select case when window_told then window_ms end as window_ms from quotas where fingerprint = $1',
    [fingerprint],
  );
  return row?.window_ms ?? null;
}
