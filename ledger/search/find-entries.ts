import { lookedUpBy } from '../../base/search-words.js';
import type { Ledger } from '../ledger.js';
import { useIndexes } from '../sql-expressions.js';

/** An item whose words may match; the caller compares its fields. */
export interface FoundEntry {
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly list: string;
  readonly key: string;
  readonly sessionId: number | null;
  readonly visibility: string | null;
  readonly payload: string;
  readonly seenAt: Date;
}

interface WordsRequest {
  /** `searchedWords`; not empty. */
  readonly words: readonly string[];
  readonly lists: readonly string[];
  /** Null: every workspace. */
  readonly workspace: string | null;
  readonly limit: number;
}

/** SQL of the search; a test checks that it reads no table as a whole. */
export const findEntriesSql = `select p.workspace, p.pigeonhole_id as "pigeonholeId", i.*
  from (select e.pigeonhole_number, e.list, e.key from search_entries e
      join pigeonholes p on p.pigeonhole_number = e.pigeonhole_number
      where e.words @> $1::int8[] and e.list = any($2::text[]) and ($3::text is null or p.workspace = $3)
      limit $4) e
    join pigeonholes p on p.pigeonhole_number = e.pigeonhole_number
    cross join lateral (select list, key, session_id as "sessionId", visibility, payload, seen_at as "seenAt"
      from items
      where pigeonhole_number = e.pigeonhole_number and list = e.list and key = e.key
        and payload is not null and not expired and not erased limit 1) i`;

/** Returns items of these lists that may have words with these beginnings, at most `limit` of them, in no order. */
export async function findEntries(
  { db, hash }: Pick<Ledger, 'db' | 'hash'>,
  { words, lists, workspace, limit }: WordsRequest,
): Promise<FoundEntry[]> {
  const looked = [...new Set(words.map(lookedUpBy))].map((text) => hash.beginning(text));
  return await db.transaction(async (tx) => {
    await useIndexes(tx);
    return await tx.query<FoundEntry>(findEntriesSql, [looked, lists, workspace, limit]);
  });
}
