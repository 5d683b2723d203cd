import type { Queryable } from '../ledger/drivers/database.js';
import { type Candidate, candidateColumns, candidateJoins, type CandidateRow, toCandidates } from './candidates.js';

export interface StoredItemsAsked {
  /** 0 for a sink that is not in the ledger. */
  readonly sinkId: number;
  readonly ref: number;
  readonly lists: readonly string[];
  /** Only the item of this key; null: all. */
  readonly key: string | null;
  /** Only changes before this sequence; absent or null: all. */
  readonly before?: number | null;
  /** Only items whose last change the sink withholds for one of these reasons; absent or null: all. */
  readonly withheldFor?: readonly string[] | null;
}

/** Returns the last change of stored items, newest first, each as if it were due at the sink now. */
export async function storedItems(tx: Queryable, asked: StoredItemsAsked, limit: number): Promise<Candidate[]> {
  const rows = await tx.query<CandidateRow>(
    `select ${candidateColumns}, null::boolean as identity, 0 as attempts, false as others_passed_since, false as blocked, 0 as replay,
       null::uuid as replay_id
     from changes c ${candidateJoins}
     where c.ref = $2 and c.list = any($3::text[]) and ($4::text is null or c.key = $4)
       and ($6::int8 is null or c.sequence < $6)
       and c.sequence = i.last_sequence and i.payload is not null and not i.expired
       and ($7::text[] is null or coalesce((select w.state = 'withheld' and w.reason = any($7) from deliveries w
         where w.sink_id = $1 and w.ref = c.ref and w.sequence = c.sequence and w.replay = 0), false))
     order by c.sequence desc limit $5`,
    [asked.sinkId, asked.ref, asked.lists, asked.key, limit, asked.before ?? null, asked.withheldFor ?? null],
  );
  return await toCandidates(tx, asked.ref, rows);
}
