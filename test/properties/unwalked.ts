import type { ListRef } from '../../pigeonhole/lists.js';
import type { PigeonholeListName } from '../../base/lists.js';
import { listFacts } from '../kit/list-facts.js';
import type { Answered } from './model-service.js';
import type { ModelWorld } from './model/world.js';

/** Returns streams that were not walked completely, with each page requested by the cursor of the previous one. */
export function unwalked(
  world: ModelWorld,
  lists: ReadonlySet<PigeonholeListName>,
  answered: readonly Answered[],
): string[] {
  /** Cursors from which a walk of a stream can continue; a stream whose walk has ended is absent. */
  const open = new Map<string, Set<string | null>>();
  for (const pigeonholeId of world.shape.pigeonholeIds) {
    for (const list of lists) {
      const sessions = listFacts[list].needsSession ? world.rows(pigeonholeId, 'sessions').map(({ id }) => id) : [0];
      for (const sessionId of sessions) open.set(`${pigeonholeId} ${list} ${sessionId}`, new Set([null]));
    }
  }
  // Several walks may be in progress in one stream; with signed cursors each has its own cursors.
  for (const { list, cursor, nextCursor } of answered) {
    const stream = streamOf(list);
    const cursors = stream === undefined ? undefined : open.get(stream);
    if (stream === undefined || cursors?.has(cursor) !== true) continue;
    if (nextCursor === null) open.delete(stream);
    else cursors.add(nextCursor);
  }
  return [...open.keys()];
}

/** Returns undefined for a request with further filters, which does not belong to a stream. */
function streamOf(ref: ListRef): string | undefined {
  if (ref.list === 'pigeonholes' || ref.list === 'subscriptions') return undefined;
  if ('filters' in ref && ref.filters !== undefined) return undefined;
  return `${ref.pigeonholeId} ${ref.list} ${'sessionId' in ref ? ref.sessionId : 0}`;
}
