import type { Ledger } from '../../ledger/ledger.js';

/** A file of a drop folder, by its content. */
export interface DroppedFile {
  readonly ref: number;
  readonly contentHash: Uint8Array;
}

export type DroppedState =
  /** It is this process's to import, under this id; an earlier try may have begun it. */
  | { readonly state: 'claimed'; readonly importId: string }
  /** Another process is about to import it. */
  | { readonly state: 'elsewhere' }
  | { readonly state: 'importing' | 'reported'; readonly importId: string }
  | { readonly state: 'unusable'; readonly problem: string };

/** Longer than taking in a file takes; a process that ended meanwhile is not waited for longer. */
const claimMs = 15 * 60_000;

/** Processes that may end while they have the same file, before it is taken for the reason. */
const mostClaims = 3;

const endsItsReaders = `pigeonpost ended ${mostClaims} times while it read this file, so the file is set aside: save the list again, as CSV if it is a workbook, and drop that file`;

/**
 * Takes a file on, unless it was taken on before: one process gets it, also of several on one database. A file that
 * could not be used is taken on again when it is to be read in another way. The claim is committed before the file is
 * read: one that has ended several processes is not read again.
 * @param take.importId for the import, if it becomes one; UUID
 */
export async function claimDroppedFile(
  ledger: Ledger,
  { ref, contentHash }: DroppedFile,
  take: { readonly importId: string; readonly termsHash: Uint8Array; readonly owner: string },
): Promise<DroppedState> {
  const claimed = await ledger.db.query<{ import: string; claims: number }>(
    `insert into dropped_files as d (ref, content_hash, terms_hash, import, state, owner, claimed_until, claims)
     values ($1, $2, $3, $4, 'claimed', $5, now() + interval '${claimMs} milliseconds', 1)
     on conflict (ref, content_hash) do update set state = 'claimed', terms_hash = excluded.terms_hash, problem = null,
       owner = excluded.owner, claimed_until = excluded.claimed_until,
       claims = case when d.state = 'claimed' then d.claims + 1 else 1 end
       where (d.state = 'claimed' and d.claimed_until <= now())
         or (d.state = 'unusable' and d.terms_hash <> excluded.terms_hash)
     returning import, claims`,
    [ref, contentHash, take.termsHash, take.importId, take.owner],
  );
  const [claim] = claimed;
  if (claim !== undefined && claim.claims <= mostClaims) return { state: 'claimed', importId: claim.import };
  if (claim !== undefined) {
    await settleDroppedFile(ledger, { ref, contentHash }, { state: 'unusable', problem: endsItsReaders });
    return { state: 'unusable', problem: endsItsReaders };
  }
  const [row] = await ledger.db.query<{ import: string; state: string; problem: string | null }>(
    'select import, state, problem from dropped_files where ref = $1 and content_hash = $2',
    [ref, contentHash],
  );
  switch (row?.state) {
    case 'importing':
    case 'reported':
      return { state: row.state, importId: row.import };
    case 'unusable':
      return { state: 'unusable', problem: row.problem ?? '' };
    default: // claimed by another, or given back a moment ago: looked at again soon
      return { state: 'elsewhere' };
  }
}

/** What became of a file that this process has claimed. */
export async function settleDroppedFile(
  ledger: Ledger,
  { ref, contentHash }: DroppedFile,
  now: { readonly state: 'importing' | 'reported' } | { readonly state: 'unusable'; readonly problem: string },
): Promise<void> {
  await ledger.db.query('update dropped_files set state = $3, problem = $4 where ref = $1 and content_hash = $2', [
    ref,
    contentHash,
    now.state,
    'problem' in now ? now.problem : null,
  ]);
}

/** Gives a claim back: it could not be imported now, and is tried again. */
export async function giveBackDroppedFile(
  ledger: Ledger,
  { ref, contentHash }: DroppedFile,
  owner: string,
): Promise<void> {
  await ledger.db.query(
    `update dropped_files set claimed_until = now(), claims = 0
     where ref = $1 and content_hash = $2 and state = 'claimed' and owner = $3`,
    [ref, contentHash, owner],
  );
}

/** An orderly start: what a process of an embedded store had claimed before is claimed by nobody. */
export async function freeDroppedFiles(ledger: Ledger): Promise<void> {
  await ledger.db.query(`update dropped_files set claimed_until = now() where state = 'claimed'`);
}
