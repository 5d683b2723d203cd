import { groupBy } from '../../base/grouping.js';
import type { ExtraHeld, Lane, Outcome, Result } from '../sink.js';
import {
  digestOf,
  existingNumbers,
  numbersOf,
  numbersValue,
  ObjectNames,
  partitionOf,
  partitionsOf,
  type S3Operation,
} from './objects.js';
import { objectAt, type ObjectFinder } from './read-back.js';
import {
  deleteObject,
  listObjects,
  putManifest,
  readManifest,
  readObject,
  type Refused,
  replaceObject,
  type Store,
} from './store.js';

type Accepted = Extract<Result, { readonly kind: 'delivered' | 'retry' | 'pause' }>;

/**
 * Accepts the objects of a lane as they are now: the numbers of objects that another program removed become gaps, and manifests
 * that do not list exactly the objects that exist are written again. May run again.
 */
export async function acceptObjects(store: Store, lane: Lane, signal: AbortSignal): Promise<Accepted> {
  const names = new ObjectNames(store.config, lane);
  for (const partition of partitionsOf(lane.memory)) {
    const known = numbersOf(lane.memory, partition);
    const listed = await listObjects(store, names.folder(partition), signal);
    if (listed.kind !== 'listed') return failure(listed);
    const present = new Set(listed.objects.map(({ key }) => key));
    const gone = existingNumbers(known).filter((number) => !present.has(names.object(partition, number)));
    const numbers = { next: known.next, gaps: [...known.gaps, ...gone] };
    if (gone.length > 0) await lane.remember({ [partition]: numbersValue(numbers) });
    if (!store.config.manifest) continue;
    const manifest = await readManifest(store, lane, partition, signal);
    if (manifest.kind !== 'manifest') return failure(manifest);
    const wanted = existingNumbers(numbers).map((number) => names.object(partition, number));
    if (manifest.names.size === wanted.length && wanted.every((name) => manifest.names.has(name))) continue;
    const stored = await putManifest(store, lane, { partition, numbers }, signal);
    if (stored.kind !== 'stored') return failure(stored);
  }
  return { kind: 'delivered' };
}

/**
 * Removes lines from the objects of a lane: all lines of revisions that must not be there, and the further copies of all
 * others. Replaces each object by one request, as an erasure does, and deletes a copied object that has no line left. May
 * run again.
 */
export async function removeLines(
  store: Store,
  finder: ObjectFinder,
  extras: readonly ExtraHeld<S3Operation>[],
  { lane, signal }: { readonly lane: Lane; readonly signal: AbortSignal },
): Promise<Outcome[]> {
  const outcomes: Outcome[] = extras.map(() => ({ kind: 'unsent' }));
  for (const indexes of groupBy([...extras.keys()], (index) => partitionOf(extras[index]!.change)).values()) {
    if (signal.aborted) break;
    const own = indexes.map((index) => extras[index]!);
    const outcome = await removeFrom(store, finder, own, { lane, signal });
    for (const index of indexes) outcomes[index] = outcome;
  }
  return outcomes;
}

/** @param extras revisions of one partition */
async function removeFrom(
  store: Store,
  finder: ObjectFinder,
  extras: readonly ExtraHeld<S3Operation>[],
  { lane, signal }: { readonly lane: Lane; readonly signal: AbortSignal },
): Promise<Accepted> {
  const revisions = extras.map(({ change }) => change);
  const partition = partitionOf(revisions[0]!);
  const found = await finder.find(partition, revisions, lane, signal);
  if (found.kind !== 'found') return failure(found);
  const places = extras.flatMap(({ change, expected }) =>
    expected === 'absence' ? found.lines.placesOf(change) : (found.lines.of(change)?.copies ?? []),
  );
  const names = new ObjectNames(store.config, lane);
  for (const [key, removed] of groupBy(places, objectAt)) {
    const read = await readObject(store, key, signal);
    if (read.kind === 'absent') continue;
    if (read.kind !== 'read') return failure(read);
    const kept = read.lines.filter((_, at) => !removed.includes(`${key} line ${at + 1}`));
    const isCopy = names.numberIn(partition, key) === undefined;
    const text = kept.map((line) => `${line}\n`).join('');
    const done =
      isCopy && kept.length === 0
        ? await deleteObject(store, key, signal)
        : await replaceObject(store, { key, text, digest: digestOf(text) }, signal);
    if (done.kind !== 'stored') return failure(done);
  }
  return { kind: 'delivered' };
}

function failure(refused: Refused): Exclude<Accepted, { kind: 'delivered' }> {
  if (refused.kind === 'forbidden') return { kind: 'pause', cause: 'credential', detail: refused.detail };
  return refused.kind === 'unknown' ? { kind: 'retry', detail: refused.detail } : refused;
}
