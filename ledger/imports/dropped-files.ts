import type { Ledger } from '../ledger.js';
import type { OperatorTexts } from '../operator-texts.js';
import { firstChunkSize } from './imports.js';

/** `requestedBy` of an import from a drop folder. */
export const requester = 'drop folder';

/** A file of a drop folder, by its content. */
export interface DroppedFile {
  readonly pigeonholeNumber: number;
  readonly contentHash: Uint8Array;
}

type DroppedState =
  /** This process imports it under this id; an earlier attempt may have started. */
  | { readonly state: 'claimed'; readonly importId: string }
  /** Another process imports it. */
  | { readonly state: 'elsewhere' }
  | { readonly state: 'importing' | 'reported'; readonly importId: string }
  | { readonly state: 'unusable'; readonly importId: string; readonly problem: string };

/** If a claim is older than this, its process counts as dead. Longer than staging any file takes. */
const claimMs = 15 * 60_000;

/** Number of processes that may die while reading a file before the file is considered the cause. */
const maxClaims = 3;

const endsItsReaders = `pigeonpost crashed ${maxClaims} times while it was reading this file, so it is not read again: save the list as a new CSV file and drop that`;

/**
 * Claims a file, unless it was claimed before. If several processes of one database try, one succeeds. An unusable file
 * can be claimed again when the settings for reading it change. The claim is committed before the file is read, so that
 * a file that has crashed several processes is not read again.
 * @param take.importId UUID for the import, if there will be one
 */
export async function claimDroppedFile(
  ledger: Ledger,
  { pigeonholeNumber, contentHash }: DroppedFile,
  take: { readonly importId: string; readonly termsHash: Uint8Array; readonly owner: string },
): Promise<DroppedState> {
  const claimed = await ledger.db.query<{ import: string; claims: number }>(
    `insert into dropped_files as d (pigeonhole_number, content_hash, terms_hash, import, state, owner, claimed_until,
       claims)
     values ($1, $2, $3, $4, 'claimed', $5, now() + interval '${claimMs} milliseconds', 1)
     on conflict (pigeonhole_number, content_hash) do update
       set state = 'claimed', terms_hash = excluded.terms_hash, problem = null,
       owner = excluded.owner, claimed_until = excluded.claimed_until,
       claims = case when d.state = 'claimed' then d.claims + 1 else 1 end
       where (d.state = 'claimed' and d.claimed_until <= now())
         or (d.state = 'unusable' and d.terms_hash <> excluded.terms_hash)
     returning import, claims`,
    [pigeonholeNumber, contentHash, take.termsHash, take.importId, take.owner],
  );
  const [claim] = claimed;
  if (claim !== undefined && claim.claims <= maxClaims) return { state: 'claimed', importId: claim.import };
  if (claim !== undefined) {
    await settleDroppedFile(ledger, { pigeonholeNumber, contentHash }, { state: 'unusable', problem: endsItsReaders });
    return { state: 'unusable', importId: claim.import, problem: endsItsReaders };
  }
  const [row] = await ledger.db.query<{ import: string; state: string; problem: string | null }>(
    'select import, state, problem from dropped_files where pigeonhole_number = $1 and content_hash = $2',
    [pigeonholeNumber, contentHash],
  );
  switch (row?.state) {
    case 'importing':
    case 'reported':
      return { state: row.state, importId: row.import };
    case 'unusable':
      return { state: 'unusable', importId: row.import, problem: row.problem ?? '' };
    default: // claimed by another process, or just released: checked again soon
      return { state: 'elsewhere' };
  }
}

/** Records the result for a file that this process has claimed. */
export async function settleDroppedFile(
  ledger: Ledger,
  { pigeonholeNumber, contentHash }: DroppedFile,
  now: { readonly state: 'importing' | 'reported' } | { readonly state: 'unusable'; readonly problem: string },
): Promise<void> {
  await ledger.db.query(
    'update dropped_files set state = $3, problem = $4 where pigeonhole_number = $1 and content_hash = $2',
    [pigeonholeNumber, contentHash, now.state, 'problem' in now ? now.problem : null],
  );
}

/**
 * Lists an unusable file as an import that has ended without a row, so that people see it where they look for the
 * import. `readImport` adds the problem. If the file is claimed again, the import is discarded. Safe to run twice.
 */
export async function listUnusableFile(
  ledger: Ledger,
  { pigeonholeNumber, contentHash }: DroppedFile,
  name: string,
): Promise<void> {
  await ledger.db.query(
    `insert into imports (id, pigeonhole_number, file, mapping, requested_by, state, ended_at, chunk_size)
     select import, pigeonhole_number, $3, '{"columns":[]}', '${requester}', 'cancelled', now(), ${firstChunkSize}
     from dropped_files where pigeonhole_number = $1 and content_hash = $2 and state = 'unusable'
     on conflict (id) do nothing`,
    [pigeonholeNumber, contentHash, name],
  );
}

/** Releases a claim: the file could not be imported now and is tried again. */
export async function giveBackDroppedFile(
  ledger: Ledger,
  { pigeonholeNumber, contentHash }: DroppedFile,
  owner: string,
): Promise<void> {
  await ledger.db.query(
    `update dropped_files set claimed_until = now(), claims = 0
     where pigeonhole_number = $1 and content_hash = $2 and state = 'claimed' and owner = $3`,
    [pigeonholeNumber, contentHash, owner],
  );
}

/** Releases all claims at the start of an embedded store, which has only one process. */
export async function freeDroppedFiles(ledger: Ledger): Promise<void> {
  await ledger.db.query(`update dropped_files set claimed_until = now() where state = 'claimed'`);
}

/** The problems found in dropped files, which may quote the files. */
export const droppedFileProblems: OperatorTexts = {
  read: 'select distinct problem as text from dropped_files where problem is not null',
  erase: `update dropped_files set problem = '(reason erased)' where problem = any($1::text[])`,
};
