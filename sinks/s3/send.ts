import type { Lane, Outcome, SendResult } from '../sink.js';
import type { Failure } from './classify.js';
import {
  type Batch,
  batchesOf,
  doubtfulOf,
  type Intent,
  type Numbers,
  numbersOf,
  numbersValue,
  ObjectNames,
  pendingOf,
  withIntents,
} from './objects.js';
import type { S3Operation } from './plan.js';
import { deleteObject, findObject, putManifest, putObject, type Store } from './store.js';

/**
 * Writes a batch: an object for each list and day, one after another, then the manifests. Names and digests are
 * remembered before the first request. What an attempt that died has written is therefore found by name, and a name is
 * given to other lines only when nothing was found under it.
 */
export async function writeBatch(
  store: Store,
  operations: readonly S3Operation[],
  lane: Lane,
  signal: AbortSignal,
): Promise<SendResult> {
  const outcomes: Outcome[] = operations.map(() => unsafe);
  const batches = batchesOf(operations);
  for (const { positions } of batches) for (const position of positions) outcomes[position] = { kind: 'unsent' };
  if (signal.aborted || batches.length === 0) return { outcomes };

  const intents = batches.map(({ partition, digest }): Intent => {
    return { partition, digest, number: numbersOf(lane.memory, partition).next };
  });
  await lane.remember(withIntents(intents, doubtfulOf(lane.memory)));
  const written: number[] = [];
  let failure: Failure | undefined;
  for (const [at, batch] of batches.entries()) {
    if (signal.aborted) break;
    // oxlint-disable-next-line no-await-in-loop -- in their order, so that what was written is a beginning
    const stored = await putObject(store, lane, { ...intents[at]!, text: batch.text }, signal);
    if (stored.kind === 'stored') {
      written.push(at);
      continue;
    }
    failure = stored;
    const isUnknown = stored.kind === 'unknown';
    for (const [order, position] of batch.positions.entries())
      if (isUnknown || order === 0) outcomes[position] = stored;
    break;
  }
  const lost = failure?.kind === 'unknown' ? [intents[written.length]!] : [];
  const doubtful = doubtfulOf(lane.memory).filter(
    (each) => !written.some((at) => intents[at]!.partition === each.partition),
  );
  const numbers = new Map(written.map((at) => [intents[at]!.partition, grown(lane, intents[at]!)]));
  const open = await writeManifests(store, lane, numbers, signal);
  if (open !== undefined) {
    // The objects are there, but the manifests do not name them: settled by `recover`, which finds and names them.
    const { detail } = open;
    for (const at of written)
      for (const position of batches[at]!.positions) outcomes[position] = { kind: 'unknown', detail };
    return { outcomes, memory: withIntents([...written.map((at) => intents[at]!), ...lost], doubtful) };
  }
  for (const at of written) for (const position of batches[at]!.positions) outcomes[position] = { kind: 'delivered' };
  return { outcomes, memory: { ...valuesOf(numbers), ...withIntents(lost, doubtful) } };
}

/**
 * Settles what an attempt that died may have written. An object whose lines are exactly those of these operations
 * counts as delivered. One that holds others (a person was erased or may no longer be shown) is deleted, and its lines
 * are sent again under the next number. Recovering twice gives the same.
 */
export async function recoverBatch(
  store: Store,
  operations: readonly S3Operation[],
  lane: Lane,
  signal: AbortSignal,
): Promise<SendResult> {
  const outcomes: Outcome[] = operations.map(() => ({ kind: 'unsent' }));
  const batches = new Map(batchesOf(operations).map((batch): [string, Batch] => [batch.partition, batch]));
  const numbers = new Map<string, Numbers>();
  const delivered: Batch[] = [];
  const absent: Intent[] = [];
  for (const intent of pendingOf(lane.memory)) {
    const { partition, number, digest } = intent;
    const key = new ObjectNames(store.config, lane).object(partition, number);
    // oxlint-disable-next-line no-await-in-loop -- a few, and after the first that is absent there is rarely another
    const found = await findObject(store, key, signal);
    if (found.kind === 'absent' || (found.kind === 'found' && found.digest !== digest)) {
      absent.push(intent);
      continue;
    }
    if (found.kind !== 'found') return unsettled(operations, found);
    const batch = batches.get(partition);
    if (batch?.digest === digest) {
      delivered.push(batch);
      numbers.set(partition, grown(lane, intent));
      continue;
    }
    // oxlint-disable-next-line no-await-in-loop -- rarely more than one
    const gone = await deleteObject(store, key, signal);
    if (gone.kind !== 'stored') return unsettled(operations, gone);
    const { gaps } = numbersOf(lane.memory, partition);
    numbers.set(partition, { next: number + 1, gaps: [...gaps, number] });
  }
  // A request of an attempt before the last one may be on its way as well, until its name is taken.
  const earlier = doubtfulOf(lane.memory).filter(
    (one) => !numbers.has(one.partition) && !absent.some((each) => isSame(one, each)),
  );
  const open = await writeManifests(store, lane, numbers, signal);
  if (open !== undefined) return unsettled(operations, open);
  for (const { positions } of delivered) for (const position of positions) outcomes[position] = { kind: 'delivered' };
  return { outcomes, memory: { ...valuesOf(numbers), ...withIntents([], [...earlier, ...absent]) } };
}

function isSame(one: Intent, other: Intent): boolean {
  return one.partition === other.partition && one.number === other.number && one.digest === other.digest;
}

const unsafe: Outcome = {
  kind: 'rejected',
  cause: 'unsafe-path',
  detail: 'the list or timestamp of this change cannot be part of an object name',
};

function grown(lane: Lane, { partition, number }: Intent): Numbers {
  return { next: number + 1, gaps: numbersOf(lane.memory, partition).gaps };
}

function valuesOf(numbers: ReadonlyMap<string, Numbers>): Record<string, unknown> {
  return Object.fromEntries([...numbers].map(([partition, each]) => [partition, numbersValue(each)]));
}

/** @returns undefined when all are written; else why one is not */
async function writeManifests(
  store: Store,
  lane: Lane,
  numbers: ReadonlyMap<string, Numbers>,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  for (const [partition, each] of numbers) {
    // oxlint-disable-next-line no-await-in-loop -- a few, and the first that fails ends it
    const stored = await putManifest(store, lane, { partition, numbers: each }, signal);
    if (stored.kind !== 'stored') return stored;
  }
  return undefined;
}

/** Looked for again before anything is sent; a pause says that only a person can help. */
function unsettled(operations: readonly S3Operation[], failure: Failure): SendResult {
  const outcome: Outcome = failure.kind === 'pause' ? failure : { kind: 'unknown', detail: failure.detail };
  return { outcomes: operations.map(() => outcome) };
}
