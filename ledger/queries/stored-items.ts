import type { Ledger } from '../ledger.js';
import { type Candidate, candidateColumns, candidateJoins, type CandidateRow, toCandidates } from './candidates.js';

export interface StoredItemsAsked {
  /** 0: none that the ledger knows. */
  readonly sinkId: number;
  readonly ref: number;
  readonly lists: readonly string[];
  /** Only the item of this key; null: all. */
  readonly key: string | null;
}

/** The last change of stored items, newest first, each as if it were to be sent to the sink now. */
export async function storedItems(ledger: Ledger, asked: StoredItemsAsked, limit: number): Promise<Candidate[]> {
  const rows = await ledger.db.query<CandidateRow>(
    `select ${candidateColumns}, null::boolean as identity, 0 as attempts, false as failed_alone, false as held, 0 as replay,
       null::uuid as replay_id
     from changes c ${candidateJoins}
     where c.ref = $2 and c.list = any($3::text[]) and ($4::text is null or c.key = $4)
       and c.sequence = i.last_sequence and i.payload is not null and not i.expired
     order by c.sequence desc limit $5`,
    [asked.sinkId, asked.ref, asked.lists, asked.key, limit],
  );
  return await toCandidates(ledger.db, asked.ref, rows);
}
