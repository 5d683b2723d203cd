import type { PersonPlace } from './find-person.js';

/** What names a person while the ledger is gone through; forgotten afterwards. */
export interface ErasureNames {
  /** As it was asked for; null: not known any more, after a restore. */
  readonly asked: string | null;
  readonly places: readonly PersonPlace[];
}

/** A request to forget a person, as far as it has come. */
export interface Erasure {
  readonly number: number;
  /** A UUID. */
  readonly id: string;
  /** Null: the ledger holds nothing of the person any more. */
  readonly names: ErasureNames | null;
  readonly requestedBy: string | null;
  readonly reason: string | null;
  readonly requestedAt: Date;
  readonly clearedAt: Date | null;
  readonly endedAt: Date | null;
}

/**
 * What became of a person at one place. `erased`: it holds nothing any more; `told`: it was told to remove what it
 * holds, and keeps its own counsel; `nothing`: it never had anything; `waiting`: it has not answered yet; `by-hand`: a
 * person has to see to it.
 */
export interface Receipt {
  readonly place: string;
  readonly count: number;
  readonly outcome: 'erased' | 'told' | 'nothing' | 'waiting' | 'by-hand';
  /** Codes and ids, no personal data. */
  readonly detail: string | null;
  /** A sentence. */
  readonly todo: string | null;
}
