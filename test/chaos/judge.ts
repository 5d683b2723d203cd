import { findCompleteness } from './find-completeness.js';
import { findDisorder } from './find-disorder.js';
import { findDuplicates } from './find-duplicates.js';
import { findFalseDeletions } from './find-false-deletions.js';
import { findLeaks } from './find-leaks.js';
import type { HeldLine } from './held.js';
import type { Source } from './source.js';

/**
 * - `lost`: the source shows it, the sink lacks it or holds an older version; or a revision in between is missing
 * - `kept`: deleted in the source, but the sink received no deletion
 * - `duplicated`: one change twice, or the same content as two changes in a row
 * - `falselyDeleted`: deleted in the sink before it was deleted in the source
 * - `outOfOrder`: an older revision after a newer one
 * - `leaked`: a person where the source shows an anonymous item, or a record whose consent the sink does not accept
 */
export const faultNames = ['lost', 'kept', 'duplicated', 'falselyDeleted', 'outOfOrder', 'leaked'] as const;
export type FaultName = (typeof faultNames)[number];

/** One broken promise of one sink. Identifies items, but never contains their contents. */
export interface Finding {
  readonly fault: FaultName;
  readonly list: string;
  /** For the analysis: pigeonhole, key or instant, revision. */
  readonly where: string;
}

export interface SinkUnderJudgement {
  readonly kind: 'file' | 'webhook';
  readonly lines: readonly HeldLine[];
  /** Whether the sink may hold the record of a person with this consent, as the source shows it. */
  readonly accepts: (consent: unknown) => boolean;
}

/** Compares the changes that a sink received with the source. Pure. */
export function judge(sink: SinkUnderJudgement, source: Source, { deletions }: { deletions: boolean }): Finding[] {
  const { lines } = sink;
  return [
    ...findCompleteness(sink, source, deletions),
    ...findDuplicates(sink),
    ...findFalseDeletions(lines, source),
    ...findDisorder(lines),
    ...findLeaks(sink, source),
  ];
}
