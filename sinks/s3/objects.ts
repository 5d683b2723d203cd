import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Fields, Lane } from '../sink.js';
import type { S3Config } from './config.js';
import { isSafePartition, type S3Operation } from './plan.js';

/** An object, and the operations whose lines it holds. */
export interface Batch {
  readonly partition: string;
  /** The positions of its operations among those that were given. */
  readonly positions: readonly number[];
  /** Lines, each ending with a newline. */
  readonly text: string;
  /** SHA-256 of the text. */
  readonly digest: string;
}

/** What was about to be written when it was remembered: the intent of an attempt. */
export interface Intent {
  readonly partition: string;
  readonly number: number;
  readonly digest: string;
}

/** The objects of a partition: numbers below `next` less `gaps`. */
export interface Numbers {
  readonly next: number;
  readonly gaps: readonly number[];
}

/** One object for each partition, in the order of their first operations. Unsafe partitions are left out. Pure. */
export function batchesOf(operations: readonly S3Operation[]): Batch[] {
  const positions = new Map<string, number[]>();
  operations.forEach(({ partition }, position) => {
    if (!isSafePartition(partition)) return;
    const known = positions.get(partition);
    if (known === undefined) positions.set(partition, [position]);
    else known.push(position);
  });
  return [...positions].map(([partition, own]) => {
    const text = own.map((position) => `${operations[position]!.line}\n`).join('');
    return { partition, positions: own, text, digest: digestOf(text) };
  });
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Names of objects. A lane writes under names of its own only, so lanes never meet. */
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
    return `${this.#folder(partition)}/${this.#lane}-${String(number).padStart(8, '0')}.${this.#ending}`;
  }

  /** In a folder that Spark, Hive and Athena skip, since its name begins with an underscore. */
  manifest(partition: string): string {
    const [list, day] = partition.split('/');
    return `${this.own('manifests')}/${list}/day=${day}/${this.#lane}.json`;
  }

  own(name: string): string {
    return `${this.#root}_pigeonpost/${name}`;
  }

  #folder(partition: string): string {
    const [list, day] = partition.split('/');
    return `${this.#root}${list}/day=${day}`;
  }
}

const pendingKey = 'pending';
const doubtfulKey = 'doubtful';

/** What a lane remembers: the numbers of each partition, and intents. */
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

/** What an attempt may have written that did not live to say so. */
export function pendingOf(memory: Fields): readonly Intent[] {
  return (memory[pendingKey] ?? []) as Intent[];
}

/** Intents of which nothing was found. A request that is still on its way may yet write one. */
export function doubtfulOf(memory: Fields): readonly Intent[] {
  return (memory[doubtfulKey] ?? []) as Intent[];
}

export function withIntents(pending: readonly Intent[], doubtful: readonly Intent[]): Record<string, unknown> {
  return { [pendingKey]: pending, [doubtfulKey]: doubtful };
}

/** The value under a partition's key: a plain number while there are no gaps. */
export function numbersValue({ next, gaps }: Numbers): unknown {
  return gaps.length === 0 ? next : { next, gaps };
}

const zip = promisify(gzip);
const unzip = promisify(gunzip);

export async function packed(text: string, { compression }: Pick<S3Config, 'compression'>): Promise<Buffer> {
  return compression === 'gzip' ? await zip(text) : Buffer.from(text);
}

/** @throws when the bytes are not what this sink writes */
export async function unpacked(bytes: Buffer, { compression }: Pick<S3Config, 'compression'>): Promise<string> {
  return (compression === 'gzip' ? await unzip(bytes) : bytes).toString('utf8');
}

/** The objects of a lane in one partition, in the form that Redshift's COPY reads. */
export function manifestText(bucket: string, names: readonly string[]): string {
  const entries = names.map((name) => ({ url: `s3://${bucket}/${name}`, mandatory: true }));
  return `${JSON.stringify({ entries })}\n`;
}
