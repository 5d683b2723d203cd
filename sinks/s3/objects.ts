import { parsedJson } from '../network/read-answer.js';
import { shownAddress } from '../network/shown-address.js';
import type { PreviewedCall } from '../sink.js';
import { bucketUrl } from './client.js';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { groupBy } from '../../base/grouping.js';
import { type Change, changeJson } from '../change.js';
import { type Fields, fieldsOf, type Lane, type Operation, type Subject } from '../sink.js';
import type { S3Config } from './config.js';

export interface S3Operation extends Operation {
  /** `<list>/<YYYY-MM-DD>`: the UTC day on which the change was found. */
  readonly partition: string;
  /** Unix time in ms at which the change was found. */
  readonly foundAtMs: number;
  /** The change envelope, without a trailing newline. */
  readonly line: string;
}

export function toS3Operation({ change, dataJson }: Subject): S3Operation {
  return {
    changeId: change.id,
    partition: partitionOf(change),
    foundAtMs: Date.parse(change.timestamp),
    line: changeJson(change, dataJson),
  };
}

export function partitionOf({ list, timestamp }: Pick<Change, 'list' | 'timestamp'>): string {
  return `${list}/${timestamp.slice(0, 'YYYY-MM-DD'.length)}`;
}

/** Returns the call for a change. Its object also contains the lines of other changes. Pure. */
export function previewOf({ partition, line }: S3Operation, config: S3Config): PreviewedCall {
  const object = new ObjectNames(config).object(partition, 0).replace(/[^/]*(?=\.ndjson)/, '{number}');
  return { method: 'PUT', address: `${shownAddress(bucketUrl(config))}${object}`, body: parsedJson(line) };
}

function isSafePartition(partition: string): boolean {
  return /^[a-z][a-z0-9_-]*\/\d{4}-\d{2}-\d{2}$/.test(partition);
}

/**
 * Returns how long a small batch is deferred, so that more changes share its objects; undefined if it is written now.
 * Windows of `maxAgeMs` are aligned with the clock, so that all changes of a window are due together. A change from
 * before the current window is due. So is a change from the future: the clocks differ, so the wait could be long.
 */
export function deferralMs(
  operations: readonly S3Operation[],
  { maxAgeMs, maxLines, nowMs }: { readonly maxAgeMs: number; readonly maxLines: number; readonly nowMs: number },
): number | undefined {
  if (operations.length >= maxLines) return undefined;
  const windowStartMs = Math.floor(nowMs / maxAgeMs) * maxAgeMs;
  const isDue = operations.some(
    ({ foundAtMs }) => !(foundAtMs >= windowStartMs && foundAtMs <= nowMs + maxAgeMs), // an unreadable instant is due
  );
  return isDue || operations.length === 0 ? undefined : windowStartMs + maxAgeMs - nowMs;
}

/** An object and the operations whose lines it contains. */
export interface NewObject {
  readonly partition: string;
  /** The indexes of these operations in the batch that was passed to `send`. */
  readonly positions: readonly number[];
  /** Lines, each ending with a newline. */
  readonly text: string;
  /** SHA-256 of the text. */
  readonly digest: string;
}

/** The intent to write an object. It is committed to the lane's memory before the object is written. */
export interface Intent {
  readonly partition: string;
  readonly number: number;
  readonly digest: string;
}

/** The numbers of a partition's objects: all numbers below `next`, except `gaps`. */
export interface Numbers {
  readonly next: number;
  readonly gaps: readonly number[];
}

/**
 * Groups operations into one object per partition, in the order of their first operations. Operations of unsafe
 * partitions are left out. Pure.
 */
export function newObjects(operations: readonly S3Operation[]): NewObject[] {
  const safe = [...operations.keys()].filter((position) => isSafePartition(operations[position]!.partition));
  const byPartition = groupBy(safe, (position) => operations[position]!.partition);
  return [...byPartition].map(([partition, own]) => {
    const text = own.map((position) => `${operations[position]!.line}\n`).join('');
    return { partition, positions: own, text, digest: digestOf(text) };
  });
}

/**
 * Returns the batch, or only its first lines if an earlier attempt tried to write exactly these under the same name. A
 * late request of that attempt and the new request then contain the same lines, so it does not matter which one the
 * store receives last. Pure.
 * @param earlier digests of the lines that an attempt may still write under the name
 */
export function asIntended(
  object: NewObject,
  operations: readonly S3Operation[],
  earlier: ReadonlySet<string>,
): NewObject {
  if (earlier.size === 0 || earlier.has(object.digest)) return object;
  const hash = createHash('sha256');
  const length = object.positions.findIndex((position) => {
    hash.update(`${operations[position]!.line}\n`);
    return earlier.has(hash.copy().digest('hex'));
  });
  if (length === -1) return object;
  const positions = object.positions.slice(0, length + 1);
  const text = positions.map((position) => `${operations[position]!.line}\n`).join('');
  return { ...object, positions, text, digest: digestOf(text) };
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Names of objects. Each lane writes only under its own names. */
export class ObjectNames {
  readonly #root: string;
  readonly #lane: string;
  readonly #ending: string;

  constructor({ prefix, compression }: Pick<S3Config, 'prefix' | 'compression'>, lane?: Lane) {
    this.#root = prefix === '' ? '' : `${prefix}/`;
    this.#lane = lane === undefined ? '' : `${lane.workspace}-${lane.pigeonholeId}`;
    this.#ending = compression === 'gzip' ? 'ndjson.gz' : 'ndjson';
  }

  object(partition: string, number: number): string {
    return `${this.folder(partition)}${this.#lane}-${String(number).padStart(8, '0')}.${this.#ending}`;
  }

  /**
   * Returns the number in the name of an object of this lane, whatever its compression; `other-lane` for an object of
   * another lane; undefined for any other name.
   */
  numberIn(partition: string, key: string): number | 'other-lane' | undefined {
    const [, lane, number] =
      /^(.+-\d+)-(\d{8,})\.ndjson(?:\.gz)?$/.exec(key.slice(this.folder(partition).length)) ?? [];
    if (lane === undefined) return undefined;
    return lane === this.#lane ? Number(number) : 'other-lane';
  }

  /**
   * Returns the name of a partition's manifest. It is in a folder whose name begins with an underscore, because Spark,
   * Hive and Athena skip such folders.
   */
  manifest(partition: string): string {
    const [list, day] = partition.split('/');
    return `${this.own('manifests')}/${list}/day=${day}/${this.#lane}.json`;
  }

  own(name: string): string {
    return `${this.#root}_pigeonpost/${name}`;
  }

  /** Returns the start of the names of all objects of a partition, whatever their lane. */
  folder(partition: string): string {
    const [list, day] = partition.split('/');
    return `${this.#root}${list}/day=${day}/`;
  }
}

const pendingKey = 'pending';
const doubtfulKey = 'doubtful';

/**
 * Reads the numbers of a partition from the lane's memory, which contains the numbers of each partition and the
 * intents.
 */
export function numbersOf(memory: Fields, partition: string): Numbers {
  const found = memory[partition];
  if (typeof found === 'number') return { next: found, gaps: [] };
  const { next = 0, gaps = [] } = (found ?? {}) as Partial<Numbers>;
  return { next, gaps };
}

export function partitionsOf(memory: Fields): string[] {
  return Object.keys(memory).filter(isSafePartition).toSorted();
}

export function existingNumbers({ next, gaps }: Numbers): number[] {
  return Array.from({ length: next }, (_, number) => number).filter((number) => !gaps.includes(number));
}

/** Returns the intents of an attempt that may have died before it returned. */
export function pendingOf(memory: Fields): readonly Intent[] {
  return (memory[pendingKey] ?? []) as Intent[];
}

/** Returns the intents for which no object was found. A late request may still write these objects. */
export function doubtfulOf(memory: Fields): readonly Intent[] {
  return (memory[doubtfulKey] ?? []) as Intent[];
}

export function withIntents(pending: readonly Intent[], doubtful: readonly Intent[]): Record<string, unknown> {
  return { [pendingKey]: pending, [doubtfulKey]: doubtful };
}

/** Returns the value of a partition's key in the lane's memory. It is a plain number as long as there are no gaps. */
export function numbersValue({ next, gaps }: Numbers): unknown {
  return gaps.length === 0 ? next : { next, gaps };
}

const zip = promisify(gzip);
const unzip = promisify(gunzip);

export async function packed(text: string, { compression }: Pick<S3Config, 'compression'>): Promise<Buffer> {
  return compression === 'gzip' ? await zip(text) : Buffer.from(text);
}

/** Returns the lines of an object. @throws if the bytes are not in this sink's format */
export async function unpacked(bytes: Buffer, { compression }: Pick<S3Config, 'compression'>): Promise<string> {
  return (compression === 'gzip' ? await unzip(bytes) : bytes).toString('utf8');
}

/** Returns the manifest of a lane's partition, in the format of Redshift's COPY. */
export function manifestText(bucket: string, names: readonly string[]): string {
  const entries = names.map((name) => ({ url: `s3://${bucket}/${name}`, mandatory: true }));
  return `${JSON.stringify({ entries })}\n`;
}

/** Returns the names of the objects in a manifest of this bucket; none if it is not a manifest. */
export function namesInManifest(bucket: string, text: string): string[] {
  const { entries } = fieldsOf(parsedJson(text));
  const start = `s3://${bucket}/`;
  const urls = Array.isArray(entries) ? entries.map((entry) => fieldsOf(entry)['url']) : [];
  return urls.flatMap((url) => (typeof url === 'string' && url.startsWith(start) ? [url.slice(start.length)] : []));
}
