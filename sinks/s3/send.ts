import type { Lane, Outcome, SendResult } from '../sink.js';
import type { Failure } from './classify.js';
import {
  asIntended,
  type NewObject,
  newObjects,
  doubtfulOf,
  type Intent,
  type Numbers,
  numbersOf,
  numbersValue,
  ObjectNames,
  pendingOf,
  type S3Operation,
  withIntents,
} from './objects.js';
import { deleteObject, findObject, putManifest, putObject, type Store } from './store.js';

/**
 * Writes a batch: one object per list and day, then the manifests. Before the first request, names and digests are
 * stored in the lane's memory, so that `recover` can find the objects of a crashed attempt by name. A name is reused
 * for other lines only if no object was found under it.
 */
export async function writeBatch(
  store: Store,
  operations: readonly S3Operation[],
  lane: Lane,
  signal: AbortSignal,
): Promise<SendResult> {
  const outcomes: Outcome[] = operations.map(() => unsafePath);
  const whole = newObjects(operations);
  for (const { positions } of whole) for (const position of positions) outcomes[position] = { kind: 'unsent' };
  if (signal.aborted || whole.length === 0) return { outcomes };

  const objects = whole.map((object) => asIntended(object, operations, earlierDigests(lane, object.partition)));
  const intents = objects.map(({ partition, digest }): Intent => {
    return { partition, digest, number: numbersOf(lane.memory, partition).next };
  });
  await lane.remember(withIntents(intents, doubtfulOf(lane.memory)));
  const written: number[] = [];
  let failure: Failure | undefined;
  for (const [at, object] of objects.entries()) {
    if (signal.aborted) break;
    // One after the other: if one fails, exactly the objects before it were written.
    const stored = await putObject(store, lane, { ...intents[at]!, text: object.text }, signal);
    if (stored.kind === 'stored') {
      written.push(at);
      continue;
    }
    failure = stored;
    const isUnknown = stored.kind === 'unknown';
    // If nothing was written, one outcome reports the failure, and the other operations stay `unsent`.
    for (const [order, position] of object.positions.entries())
      if (isUnknown || order === 0) outcomes[position] = stored;
    break;
  }
  const unknownIntents = failure?.kind === 'unknown' ? [intents[written.length]!] : [];
  const doubtful = doubtfulOf(lane.memory).filter(
    (each) => !written.some((at) => intents[at]!.partition === each.partition),
  );
  const numbers = new Map(written.map((at) => [intents[at]!.partition, numbersAfter(lane, intents[at]!)]));
  const open = await writeManifests(store, lane, numbers, signal);
  if (open !== undefined) {
    // The objects exist, but no manifest names them: `recover` finds them and writes the manifests.
    const { detail } = open;
    for (const at of written)
      for (const position of objects[at]!.positions) outcomes[position] = { kind: 'unknown', detail };
    return { outcomes, memory: withIntents([...written.map((at) => intents[at]!), ...unknownIntents], doubtful) };
  }
  for (const at of written) for (const position of objects[at]!.positions) outcomes[position] = { kind: 'delivered' };
  return { outcomes, memory: { ...valuesOf(numbers), ...withIntents(unknownIntents, doubtful) } };
}

/**
 * Settles the objects that a crashed attempt may have written. If an object has exactly the lines of these operations,
 * they are delivered. If it has other lines (an attendee was erased or hidden since), it is deleted, and the lines are
 * sent again under the next number. A second run has the same result.
 */
export async function recoverBatch(
  store: Store,
  operations: readonly S3Operation[],
  lane: Lane,
  signal: AbortSignal,
): Promise<SendResult> {
  const outcomes: Outcome[] = operations.map(() => ({ kind: 'unsent' }));
  const objects = new Map(newObjects(operations).map((object): [string, NewObject] => [object.partition, object]));
  const numbers = new Map<string, Numbers>();
  const delivered: NewObject[] = [];
  const absent: Intent[] = [];
  for (const intent of pendingOf(lane.memory)) {
    const { partition, number, digest } = intent;
    const key = new ObjectNames(store.config, lane).object(partition, number);
    const found = await findObject(store, key, signal);
    if (found.kind === 'absent' || (found.kind === 'found' && (found.digest !== digest || !found.isWhole))) {
      absent.push(intent);
      continue;
    }
    if (found.kind !== 'found') return unsettled(operations, found);
    const object = objects.get(partition);
    if (object?.digest === digest) {
      delivered.push(object);
      numbers.set(partition, numbersAfter(lane, intent));
      continue;
    }
    const gone = await deleteObject(store, key, signal);
    if (gone.kind !== 'stored') return unsettled(operations, gone);
    const { gaps } = numbersOf(lane.memory, partition);
    numbers.set(partition, { next: number + 1, gaps: [...gaps, number] });
  }
  // Requests of attempts before the crashed one may still arrive as well, until another object uses their name.
  const earlier = doubtfulOf(lane.memory).filter(
    (one) => !numbers.has(one.partition) && !absent.some((each) => isSame(one, each)),
  );
  const open = await writeManifests(store, lane, numbers, signal);
  if (open !== undefined) return unsettled(operations, open);
  for (const { positions } of delivered) for (const position of positions) outcomes[position] = { kind: 'delivered' };
  return { outcomes, memory: { ...valuesOf(numbers), ...withIntents([], [...earlier, ...absent]) } };
}

/** Digests of the lines that a late request may still write under the next name of the partition. */
function earlierDigests(lane: Lane, partition: string): ReadonlySet<string> {
  const { next } = numbersOf(lane.memory, partition);
  const found = doubtfulOf(lane.memory).filter((each) => each.partition === partition && each.number === next);
  return new Set(found.map(({ digest }) => digest));
}

function isSame(one: Intent, other: Intent): boolean {
  return one.partition === other.partition && one.number === other.number && one.digest === other.digest;
}

const unsafePath: Outcome = {
  kind: 'rejected',
  cause: 'unsafe-path',
  detail: 'the list or timestamp of this change cannot be part of an object name',
};

function numbersAfter(lane: Lane, { partition, number }: Intent): Numbers {
  return { next: number + 1, gaps: numbersOf(lane.memory, partition).gaps };
}

function valuesOf(numbers: ReadonlyMap<string, Numbers>): Record<string, unknown> {
  return Object.fromEntries([...numbers].map(([partition, each]) => [partition, numbersValue(each)]));
}

/** @returns undefined if all were written, or else the first failure */
async function writeManifests(
  store: Store,
  lane: Lane,
  numbers: ReadonlyMap<string, Numbers>,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  for (const [partition, each] of numbers) {
    const stored = await putManifest(store, lane, { partition, numbers: each }, signal);
    if (stored.kind !== 'stored') return stored;
  }
  return undefined;
}

/** Keeps operations in doubt, so that they are looked up before anything is sent; a pause needs an operator. */
function unsettled(operations: readonly S3Operation[], failure: Failure): SendResult {
  const outcome: Outcome = failure.kind === 'pause' ? failure : { kind: 'unknown', detail: failure.detail };
  return { outcomes: operations.map(() => outcome) };
}
