import type { Ledger } from './ledger.js';
import type { OperatorTexts } from './operator-texts.js';

/** A change of the configuration file that waits for an administrator. It concerns one sink. */
export interface Draft {
  readonly sink: string;
  /** `mapping`: another mapping of the sink; `sink`: a new sink. */
  readonly kind: 'mapping' | 'sink';
  /** YAML without the indentation of the file: the mapping, or the keys of the new sink. */
  readonly body: string;
  /** For a mapping: the mapping in the file for which the draft was made. */
  readonly base: string | null;
  /** For a new sink: the sync that delivers to it. */
  readonly sync: string | null;
  /** Rises with each save. */
  readonly version: number;
  readonly savedBy: string;
  readonly savedAt: Date;
}

export type DraftContent = Pick<Draft, 'sink' | 'kind' | 'body' | 'base' | 'sync'>;

const columns = 'sink, kind, body, base, sync, version, saved_by as "savedBy", saved_at as "savedAt"';

/** Returns all drafts, by the name of their sink. */
export async function allDrafts({ db }: Pick<Ledger, 'db'>): Promise<Draft[]> {
  return await db.query<Draft & Record<string, unknown>>(`select ${columns} from configuration_drafts order by sink`);
}

export async function findDraft({ db }: Pick<Ledger, 'db'>, sink: string): Promise<Draft | undefined> {
  const [draft] = await db.query<Draft & Record<string, unknown>>(
    `select ${columns} from configuration_drafts where sink = $1`,
    [sink],
  );
  return draft;
}

/**
 * Stores a draft.
 * @param replaces the version that the author has seen; null: none
 * @returns undefined if another version is stored
 */
export async function saveDraft(
  { db }: Pick<Ledger, 'db'>,
  { sink, kind, body, base, sync }: DraftContent,
  { by, replaces }: { readonly by: string; readonly replaces: number | null },
): Promise<Draft | undefined> {
  const [saved] = await db.query<Draft & Record<string, unknown>>(
    replaces === null
      ? `insert into configuration_drafts (sink, kind, body, base, sync, saved_by) values ($1, $2, $3, $4, $5, $6)
         on conflict (sink) do nothing returning ${columns}`
      : `update configuration_drafts set kind = $2, body = $3, base = $4, sync = $5, saved_by = $6,
           version = version + 1, saved_at = clock_timestamp()
         where sink = $1 and version = $7 returning ${columns}`,
    [sink, kind, body, base, sync, by, ...(replaces === null ? [] : [replaces])],
  );
  return saved;
}

/** Removes a draft. @param version null: any @returns false if there is none with this version */
export async function removeDraft({ db }: Pick<Ledger, 'db'>, sink: string, version: number | null): Promise<boolean> {
  const removed = await db.query(
    'delete from configuration_drafts where sink = $1 and ($2::int4 is null or version = $2) returning sink',
    [sink, version],
  );
  return removed.length > 0;
}

/** The drafts. One with the address of a person, such as in a condition, is discarded: without it, it would mean something else. */
export const draftTexts: OperatorTexts = {
  read: 'select body as text from configuration_drafts union select base from configuration_drafts where base is not null',
  erase: 'delete from configuration_drafts where body = any($1::text[]) or base = any($1::text[])',
  isCode: true,
};
