import { chunksOf, groupBy } from '../../base/grouping.js';
import { differingFields, envelopeOf, type HeldLine, type LoggedRevision, RevisionLines } from '../revision-lines.js';
import type { HeldResult, Lane, ReadBack } from '../sink.js';
import { numbersOf, ObjectNames, partitionOf, type S3Operation } from './objects.js';
import { type ListedObject, listObjects, readManifest, readObject, type Refused, type Store } from './store.js';

/** Number of objects that are read at the same time. Each can have 20,000 lines. */
const CONCURRENCY = 4;
/** Number of partitions whose index is kept. The slices of an audit return to the same few partitions. */
const maxIndexes = 32;

interface IndexedObject {
  readonly etag: string;
  readonly isMarked: boolean;
  readonly isIntact: boolean;
  /** The range of the sequences of its lines. */
  readonly lowest: number;
  readonly highest: number;
}

/** The lines of a partition that a lane wrote. */
interface Found {
  readonly kind: 'found';
  readonly lines: RevisionLines;
  /** Times at which another program replaced an object, by its name. */
  readonly replacedAt: ReadonlyMap<string, string>;
}

/**
 * Finds the lines of revisions in the objects of a partition, whatever their number. Each call lists the partition, so it
 * notices objects that were removed, replaced or copied. An object that has not changed is read again only if the range
 * of its sequences contains a wanted one.
 *
 * An object under another name counts if it has the mark of this sink, as a copy has. The objects of other lanes and
 * those of intents that are not committed do not.
 */
export class ObjectFinder {
  readonly #indexes = new Map<string, ReadonlyMap<string, IndexedObject>>();

  constructor(private readonly store: Store) {}

  async find(
    partition: string,
    revisions: readonly LoggedRevision[],
    lane: Lane,
    signal: AbortSignal,
  ): Promise<Found | Refused> {
    const names = new ObjectNames(this.store.config, lane);
    const listed = await listObjects(this.store, names.folder(partition), signal);
    if (listed.kind !== 'listed') return listed;
    const objects = inOrderOfWriting(listed.objects, {
      partition,
      names,
      next: numbersOf(lane.memory, partition).next,
    });
    const known = this.#indexes.get(names.folder(partition));
    const index = new Map<string, IndexedObject>();
    const lines = new RevisionLines(revisions);
    const isWanted = ({ lowest, highest }: IndexedObject): boolean =>
      revisions.some(({ sequence }) => sequence >= lowest && sequence <= highest);
    for (const some of chunksOf(objects, CONCURRENCY)) {
      const read = await Promise.all(
        some.map(async (object) => {
          const before = known?.get(object.key);
          if (before?.etag === object.etag && !(before.isMarked && isWanted(before))) return { object, before };
          return { object, found: await readObject(this.store, object.key, signal) };
        }),
      );
      for (const { object, before, found } of read) {
        if (before !== undefined) index.set(object.key, before);
        if (found === undefined || found.kind === 'absent') continue;
        if (found.kind !== 'read') return found;
        const { isMarked, isIntact } = found;
        const isOwn = typeof names.numberIn(partition, object.key) === 'number';
        index.set(object.key, { etag: object.etag, isMarked: isMarked || isOwn, isIntact, ...rangeOf(found.lines) });
        if (!isMarked && !isOwn) continue;
        for (const [at, line] of found.lines.entries()) lines.add(line, `${object.key} line ${at + 1}`);
      }
    }
    this.#keep(names.folder(partition), index);
    const replaced = objects.filter(({ key }) => index.get(key)?.isIntact === false);
    return { kind: 'found', lines, replacedAt: new Map(replaced.map(({ key, changedAt }) => [key, changedAt])) };
  }

  #keep(folder: string, index: ReadonlyMap<string, IndexedObject>): void {
    this.#indexes.delete(folder); // the last one in the map is the one that was used last
    this.#indexes.set(folder, index);
    for (const oldest of this.#indexes.keys()) if (this.#indexes.size > maxIndexes) this.#indexes.delete(oldest);
  }
}

/** Returns the objects in which lines of a lane can be: first those under other names, then its own in their order. */
function inOrderOfWriting(
  listed: readonly ListedObject[],
  { partition, names, next }: { readonly partition: string; readonly names: ObjectNames; readonly next: number },
): ListedObject[] {
  const numbered = listed.map((object) => ({ object, number: names.numberIn(partition, object.key) }));
  return numbered
    .flatMap(({ object, number = -1 }) => (typeof number === 'number' && number < next ? [{ object, number }] : []))
    .toSorted((one, other) => one.number - other.number)
    .map(({ object }) => object);
}

function rangeOf(lines: readonly string[]): { readonly lowest: number; readonly highest: number } {
  const sequences = lines.flatMap((line) => {
    const { sequence } = envelopeOf(line);
    return typeof sequence === 'number' ? [sequence] : [];
  });
  return {
    lowest: sequences.reduce((one, other) => Math.min(one, other), Infinity),
    highest: sequences.reduce((one, other) => Math.max(one, other), -Infinity),
  };
}

/** A line, and whether the manifest lists its object; undefined if the sink writes no manifests. */
export interface HeldObjectLine extends HeldLine {
  readonly isListed: boolean | undefined;
}

/** Reads the lines of revisions back. A failure counts for the revisions of one partition. */
export async function readLines(
  store: Store,
  finder: ObjectFinder,
  wanted: readonly ReadBack<S3Operation>[],
  { lane, signal }: { readonly lane: Lane; readonly signal: AbortSignal },
): Promise<HeldResult[]> {
  const results: HeldResult[] = wanted.map(() => stopped);
  for (const [partition, indexes] of groupBy([...wanted.keys()], (index) => partitionOf(wanted[index]!.change))) {
    if (signal.aborted) break;
    const revisions = indexes.map((index) => wanted[index]!.change);
    const found = await finder.find(partition, revisions, lane, signal);
    const manifest = store.config.manifest ? await readManifest(store, lane, partition, signal) : undefined;
    const resultFor = (revision: LoggedRevision): HeldResult => {
      if (found.kind !== 'found') return failedResult(found);
      if (manifest !== undefined && manifest.kind !== 'manifest') return failedResult(manifest);
      return resultOf(found, revision, manifest?.names);
    };
    for (const index of indexes) results[index] = resultFor(wanted[index]!.change);
  }
  return results;
}

const stopped = { kind: 'retry', detail: 'stopped before every object was read' } as const;

function resultOf(
  { lines, replacedAt }: Found,
  revision: LoggedRevision,
  listed: ReadonlySet<string> | undefined,
): HeldResult {
  const line = lines.of(revision);
  if (line === undefined) return { kind: 'missing' };
  const key = objectAt(line.place);
  const changedAt = replacedAt.get(key);
  return {
    kind: 'held',
    held: { ...line, isListed: listed?.has(key) } satisfies HeldObjectLine,
    ...(changedAt !== undefined && { changedAt }),
    ...(line.copies.length > 0 && { copies: line.copies }),
  };
}

/** Returns the name of the object of a place. */
export function objectAt(place: string): string {
  return place.replace(/ line \d+$/, '');
}

function failedResult(refused: Refused): HeldResult {
  if (refused.kind === 'forbidden') return { kind: 'unreadable', cause: 'no-read-right', detail: refused.detail };
  return refused.kind === 'unknown' ? { kind: 'retry', detail: refused.detail } : refused;
}

/** Returns the fields in which a line differs, and `manifest` if the manifest of its partition does not list its object. */
export function compareLine({ line }: S3Operation, held: HeldObjectLine): string[] {
  return [...differingFields(line, held.line), ...(held.isListed === false ? ['manifest'] : [])];
}
