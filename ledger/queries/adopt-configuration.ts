import type { Ledger } from '../ledger.js';
import { redriveLane } from './dead-letters.js';
import { type LaneLease, lockLane } from './lanes.js';

/** Why something is not sent that was due when the sink was still sent its list. */
export const listNotWanted = 'list-not-wanted';

export interface LaneWishes {
  readonly configuration: number;
  /** The lists that the sink wants now. */
  readonly lists: readonly string[];
  /** Reasons of withholding that no longer hold. */
  readonly released: readonly string[];
  /** Keyed fingerprint of the sink's settings: what another setting refused is tried again under this one. */
  readonly settings: string | null;
}

/**
 * Brings a lane under another configuration. What the watermark has passed because nobody wanted it, and what was
 * withheld for a reason that is gone, is due now, and so are dead letters when the sink's settings have changed; whether
 * it is sent is decided anew, as for everything that is due.
 * Of a list that is wanted for the first time each item's last change is taken, as a new sink would: as far back as its
 * `history` reaches. Of one that was wanted before, also what has become of the items that were sent then. Of what was withheld from a replay nothing is released: the change itself is.
 */
export async function adoptConfiguration(ledger: Ledger, lease: LaneLease, wishes: LaneWishes): Promise<void> {
  const added = lease.configuration === null ? [] : wishes.lists.filter((list) => !lease.lists.includes(list));
  await ledger.db.transaction(async (tx) => {
    const { watermark } = await lockLane(tx, lease);
    await tx.query(
      `insert into deliveries (sink_id, ref, sequence, list, key, revision, state, configuration)
       select $1, i.ref, i.last_sequence, i.list, i.key, i.revision, 'waiting', $5
       from items i join sinks s on s.id = $1 join changes c on c.ref = i.ref and c.sequence = i.last_sequence
       where i.ref = $2 and i.list = any($3::text[]) and i.last_sequence <= $4
         and ((i.payload is not null
             and (s.history_ms is null or c.found_at > now() - s.history_ms * interval '1 millisecond'))
           or (i.list, i.key) in (select d.list, d.key from deliveries d
             where d.sink_id = $1 and d.ref = $2 and d.list = any($3::text[]) and d.state = 'delivered'))
         and not exists (select 1 from deliveries d
           where d.sink_id = $1 and d.ref = i.ref and d.sequence = i.last_sequence and d.replay = 0)`,
      [lease.sinkId, lease.ref, added, watermark, wishes.configuration],
    );
    await tx.query(
      `update deliveries set state = 'waiting', reason = null, due_at = null, updated_at = clock_timestamp()
       where sink_id = $1 and ref = $2 and replay = 0 and state = 'withheld'
         and (reason = any($3::text[]) or (reason = $4 and list = any($5::text[])))`,
      [lease.sinkId, lease.ref, wishes.released, listNotWanted, wishes.lists],
    );
    if (lease.settings !== null && lease.settings !== wishes.settings) await redriveLane(tx, lease);
    await tx.query(
      'update lanes set configuration = $3, lists = $4, settings = $5, filling_at = clock_timestamp() where sink_id = $1 and ref = $2',
      [lease.sinkId, lease.ref, wishes.configuration, wishes.lists.join(' '), wishes.settings],
    );
  });
}
