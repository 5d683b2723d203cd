import { type ErasedItems, rewriteLine } from '../change.js';
import type { EraseResult, Lane } from '../sink.js';
import { classifyFailure } from './classify.js';
import { digestOf, existingNumbers, numbersOf, ObjectNames, partitionsOf, unpacked } from './objects.js';
import { replaceObject, type Store } from './store.js';

const CONCURRENCY = 8;

/**
 * Replaces the objects of a lane that contain erased items. Each object is replaced by one request, so a reader sees
 * either the old or the new one, and a second run finds nothing to do. Names and manifests stay.
 */
export async function eraseObjects(
  store: Store,
  erased: ErasedItems,
  lane: Lane,
  signal: AbortSignal,
): Promise<EraseResult> {
  const left = partitionsOf(lane.memory)
    .filter((partition) => erased.questions.size > 0 || erased.keys.has(listOf(partition)))
    .flatMap((partition) =>
      existingNumbers(numbersOf(lane.memory, partition)).map((number) => ({
        list: listOf(partition),
        key: new ObjectNames(store.config, lane).object(partition, number),
      })),
    )
    .toReversed();
  let count = 0;
  let missing = 0;
  let failure: Extract<EraseResult, { kind: 'retry' | 'pause' }> | undefined;
  const work = async (): Promise<void> => {
    for (let object = left.pop(); object !== undefined && failure === undefined; object = left.pop()) {
      if (signal.aborted) failure = { kind: 'retry', detail: 'stopped before every object was checked' };
      else {
        const done = await eraseObject(store, object, erased, signal);
        if (done === 'missing') missing += 1;
        else if (typeof done === 'number') count += done;
        else failure = done;
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return failure ?? { kind: 'erased', count, missing };
}

async function eraseObject(
  store: Store,
  { key, list }: { readonly key: string; readonly list: string },
  erased: ErasedItems,
  signal: AbortSignal,
): Promise<number | 'missing' | Extract<EraseResult, { kind: 'retry' | 'pause' }>> {
  const answer = await store.client.call({ method: 'GET', key }, signal);
  if (answer.kind === 'answer' && answer.status === 404) return 'missing';
  if (answer.kind !== 'answer' || answer.status !== 200) {
    return notUnknown(classifyFailure(answer, 'reading an object', { isWrite: false }));
  }
  let text: string;
  try {
    text = await unpacked(answer.body, store.config);
  } catch {
    return { kind: 'pause', cause: 'destination', detail: `${key} is not in this sink's format: restore or delete it` };
  }
  let changed = 0;
  const kept = text
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => {
      const rewritten = rewriteLine(line, list, erased);
      if (rewritten !== line) changed += 1;
      return rewritten === null ? [] : [`${rewritten}\n`];
    })
    .join('');
  if (changed === 0) return 0;
  const stored = await replaceObject(store, { key, text: kept, digest: digestOf(kept) }, signal);
  return stored.kind === 'stored' ? changed : notUnknown(stored);
}

function notUnknown(failure: ReturnType<typeof classifyFailure>): Extract<EraseResult, { kind: 'retry' | 'pause' }> {
  return failure.kind === 'unknown' ? { kind: 'retry', detail: failure.detail } : failure;
}

function listOf(partition: string): string {
  return partition.split('/')[0]!;
}
