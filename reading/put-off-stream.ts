import type { Ledger } from '../ledger/ledger.js';
import { LedgerError } from '../ledger/ledger-error.js';
import type { StreamLease } from '../ledger/streams.js';

/** The quota has no room for this stream now: it is due later. Nothing failed; a walk under way stays where it is. */
export async function putOffStream(
  ledger: Ledger,
  lease: Pick<StreamLease, 'streamId' | 'epoch'>,
  waitMs: number,
): Promise<void> {
  const rows = await ledger.db.query(
    `update streams set owner = null, due_at = clock_timestamp() + $3 * interval '1 millisecond'
     where id = $1 and epoch = $2 returning id`,
    [lease.streamId, lease.epoch, waitMs],
  );
  if (rows.length === 0) {
    throw new LedgerError('stale', `stream ${lease.streamId} has a newer reader: this attempt is over`);
  }
}
