import { changeId } from './keyed-hash.js';
import type { PageScope } from './write-changes.js';

export interface NamedChange {
  readonly key: string;
  readonly revision: number;
  readonly kind: 'created' | 'updated' | 'deleted';
  /** Keyed hash of the content; for a deletion, of the deleted content. */
  readonly hash: Buffer;
}

/** Derives the id of a change from everything that distinguishes it. Reading the change again gives the same id. */
export function idOfChange(
  { workspace, pigeonholeId, list }: Pick<PageScope, 'workspace' | 'pigeonholeId' | 'list'>,
  { key, revision, kind, hash }: NamedChange,
): string {
  return changeId(`${workspace}\n${pigeonholeId}\n${list}\n${key}\n${revision}\n${kind}\n${hash.toString('hex')}`);
}
