import { createHash } from 'node:crypto';
import type { Lane } from '../sink.js';
import { classifyFailure, type Failure } from './classify.js';
import type { S3Answer, S3Client } from './client.js';
import type { S3Config } from './config.js';
import {
  doubtfulOf,
  existingNumbers,
  digestOf,
  type Intent,
  manifestText,
  namesInManifest,
  type Numbers,
  ObjectNames,
  packed,
  unpacked,
} from './objects.js';

export interface Store {
  readonly client: S3Client;
  readonly config: S3Config;
}

type Stored = { readonly kind: 'stored' } | Failure;

const digestHeader = 'x-amz-meta-pigeonpost-sha256';
const sizeHeader = 'x-amz-meta-pigeonpost-bytes';

/**
 * Writes a new object. If an object with the same lines already has this name, the new one counts as written. With
 * `If-None-Match`, a late request of a dead attempt cannot replace this object, and this request cannot silently
 * replace the object of that attempt. If the store does not support conditional writes, the sink first checks whether
 * the name exists.
 */
export async function putObject(
  { client, config }: Store,
  lane: Lane,
  { partition, number, digest, text }: Intent & { readonly text: string },
  signal: AbortSignal,
): Promise<Stored> {
  const key = new ObjectNames(config, lane).object(partition, number);
  const body = await packed(text, config);
  const headers = objectHeaders(body, digest, config);
  const put = async (condition: Record<string, string> = {}): Promise<S3Answer> =>
    await client.call({ method: 'PUT', key, body, headers: { ...headers, ...condition } }, signal);
  const settle = async (answer: S3Answer): Promise<Stored> =>
    answer.kind === 'answer' && answer.status === 200
      ? await verifyStored({ client, config }, { key, digest }, signal)
      : classifyFailure(answer, 'writing an object', { isWrite: true });

  if (config.conditionalWrites) {
    const answer = await put(onlyIfNew(config));
    if (answer.kind !== 'answer' || answer.status !== 412) return await settle(answer);
  }
  const found = await findObject({ client, config }, key, signal);
  if (found.kind === 'absent') {
    if (!config.conditionalWrites) return await settle(await put());
    return { kind: 'retry', detail: `${key} existed and disappeared: it will be written again` };
  }
  if (found.kind !== 'found') return found;
  if (found.digest === digest && found.isWhole) return { kind: 'stored' };
  const isDoubtful = doubtfulOf(lane.memory).some(
    (each) => each.partition === partition && each.number === number && each.digest === found.digest,
  );
  if (isDoubtful || found.digest === digest) return await settle(await put());
  return {
    kind: 'pause',
    cause: 'destination',
    detail: `${key} contains lines that this ledger did not write: after a restore, move away the objects that are newer than the backup, or set another "prefix"`,
  };
}

/**
 * Checks that the store has all bytes of an object that it accepted. If it does not, the outcome is `unknown`:
 * `recover` then looks for the object, and the engine sends it again.
 */
async function verifyStored(
  store: Store,
  { key, digest }: { readonly key: string; readonly digest: string },
  signal: AbortSignal,
): Promise<Stored> {
  const found = await findObject(store, key, signal);
  if (found.kind === 'found' && found.digest === digest && found.isWhole) return { kind: 'stored' };
  if (found.kind === 'absent' || found.kind === 'found') {
    return { kind: 'unknown', detail: `the object store accepted ${key}, but does not have all of its bytes` };
  }
  return { kind: 'unknown', detail: found.detail };
}

/** Replaces an object with the lines that an erasure left. */
export async function replaceObject(
  { client, config }: Store,
  { key, text, digest }: { readonly key: string; readonly text: string; readonly digest: string },
  signal: AbortSignal,
): Promise<Stored> {
  const format = { compression: compressionOf(key) };
  const body = await packed(text, format);
  const answer = await client.call({ method: 'PUT', key, body, headers: objectHeaders(body, digest, format) }, signal);
  if (answer.kind === 'answer' && answer.status === 200) {
    const verified = await verifyStored({ client, config }, { key, digest }, signal);
    return verified.kind === 'unknown' ? { ...verified, kind: 'retry' } : verified; // a repeat is harmless
  }
  return classifyFailure(answer, 'replacing an object', { isWrite: false }); // a repeat is harmless
}

type Found =
  | { readonly kind: 'absent' }
  /** `isWhole` is false if the number of bytes in the store differs from the number that was written. */
  | { readonly kind: 'found'; readonly digest: string; readonly isWhole: boolean }
  | Failure;

/** Checks whether an object exists, and returns the digest of its lines. */
export async function findObject({ client }: Store, key: string, signal: AbortSignal): Promise<Found> {
  const answer = await client.call({ method: 'HEAD', key }, signal);
  if (answer.kind === 'answer' && answer.status === 200) {
    const { [digestHeader]: digest = '', [sizeHeader]: written, 'content-length': size } = answer.headers;
    const isWhole = size === undefined || written === size; // a gateway may omit the length
    return { kind: 'found', digest, isWhole };
  }
  if (answer.kind === 'answer' && answer.status === 404) return { kind: 'absent' };
  return classifyFailure(answer, 'looking for an object', { isWrite: false });
}

/** An object in a list of the bucket. */
export interface ListedObject {
  readonly key: string;
  /** Changes with the content. */
  readonly etag: string;
  /** ISO 8601, UTC. */
  readonly changedAt: string;
}

type Listed = { readonly kind: 'listed'; readonly objects: readonly ListedObject[] } | Refused;

/** The key lacks the right to list the bucket or to read objects. */
interface Forbidden {
  readonly kind: 'forbidden';
  readonly detail: string;
}

export type Refused = Failure | Forbidden;

/**
 * Lists the objects whose names start with a prefix. Source: Amazon S3 API Reference, ListObjectsV2: pages of up to
 * 1,000 names in the order of UTF-8, and names that are percent-encoded with `encoding-type=url`.
 */
export async function listObjects({ client }: Store, prefix: string, signal: AbortSignal): Promise<Listed> {
  const objects: ListedObject[] = [];
  let token: string | undefined;
  do {
    const query = {
      'list-type': '2',
      'encoding-type': 'url',
      prefix,
      ...(token !== undefined && { 'continuation-token': token }),
    };
    const answer = await client.call({ method: 'GET', key: '', query }, signal);
    if (answer.kind !== 'answer' || answer.status !== 200) return refusedRead(answer, 'listing the bucket');
    const page = answer.body.toString('utf8');
    const isEncoded = elementOf(page, 'EncodingType') === 'url';
    for (const [, entry = ''] of page.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
      const name = elementOf(entry, 'Key') ?? '';
      const key = isEncoded ? decodeURIComponent(name.replaceAll('+', ' ')) : name;
      objects.push({ key, etag: elementOf(entry, 'ETag') ?? '', changedAt: elementOf(entry, 'LastModified') ?? '' });
    }
    token = elementOf(page, 'IsTruncated') === 'true' ? elementOf(page, 'NextContinuationToken') : undefined;
  } while (token !== undefined);
  return { kind: 'listed', objects };
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Returns the text of the first element with this name. */
function elementOf(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>(.*?)</${name}>`, 's').exec(xml)?.[1];
  return text?.replaceAll(/&(amp|lt|gt|quot|apos);/g, (_, entity: string) => entities[entity]!);
}

function refusedRead(answer: S3Answer, what: string): Refused {
  const failure = classifyFailure(answer, what, { isWrite: false });
  const isDenied = answer.kind === 'answer' && answer.status === 403 && answer.code === 'AccessDenied';
  return isDenied && 'detail' in failure ? { kind: 'forbidden', detail: failure.detail } : failure;
}

export interface ReadObject {
  readonly kind: 'read';
  /** Without newlines at their ends. Empty if the object is not in this sink's format. */
  readonly lines: readonly string[];
  /** True if a sink of pigeonpost wrote the object, or it is a copy of one. */
  readonly isMarked: boolean;
  /** True if the object has exactly the lines that the sink wrote. */
  readonly isIntact: boolean;
}

/** Reads the lines of an object. */
export async function readObject(
  { client }: Store,
  key: string,
  signal: AbortSignal,
): Promise<ReadObject | { readonly kind: 'absent' } | Refused> {
  const answer = await client.call({ method: 'GET', key }, signal);
  if (answer.kind === 'answer' && answer.status === 404 && answer.code !== 'NoSuchBucket') return { kind: 'absent' };
  if (answer.kind !== 'answer' || answer.status !== 200) return refusedRead(answer, 'reading an object');
  const digest = answer.headers[digestHeader];
  try {
    const text = await unpacked(answer.body, { compression: compressionOf(key) });
    const lines = text.split('\n').filter((line) => line !== '');
    return { kind: 'read', lines, isMarked: digest !== undefined, isIntact: digest === digestOf(text) };
  } catch {
    return { kind: 'read', lines: [], isMarked: digest !== undefined, isIntact: false };
  }
}

/** Returns the names of the objects that the manifest of a partition lists; none if there is no manifest. */
export async function readManifest(
  { client, config }: Store,
  lane: Lane,
  partition: string,
  signal: AbortSignal,
): Promise<{ readonly kind: 'manifest'; readonly names: ReadonlySet<string> } | Refused> {
  const answer = await client.call({ method: 'GET', key: new ObjectNames(config, lane).manifest(partition) }, signal);
  if (answer.kind === 'answer' && answer.status === 404 && answer.code !== 'NoSuchBucket')
    return { kind: 'manifest', names: new Set() };
  if (answer.kind !== 'answer' || answer.status !== 200) return refusedRead(answer, 'reading a manifest');
  return { kind: 'manifest', names: new Set(namesInManifest(config.bucket, answer.body.toString('utf8'))) };
}

export async function deleteObject({ client }: Store, key: string, signal: AbortSignal): Promise<Stored> {
  const answer = await client.call({ method: 'DELETE', key }, signal);
  if (answer.kind === 'answer' && (answer.status === 204 || answer.status === 200 || answer.status === 404))
    return { kind: 'stored' };
  return classifyFailure(answer, 'deleting an object', { isWrite: false });
}

/** Writes the manifest of a partition, which lists exactly the objects that exist. */
export async function putManifest(
  { client, config }: Store,
  lane: Lane,
  { partition, numbers }: { readonly partition: string; readonly numbers: Numbers },
  signal: AbortSignal,
): Promise<Stored> {
  if (!config.manifest) return { kind: 'stored' };
  const names = new ObjectNames(config, lane);
  const objects = existingNumbers(numbers).map((number) => names.object(partition, number));
  const body = Buffer.from(manifestText(config.bucket, objects));
  const headers = { 'content-type': 'application/json', 'content-md5': md5(body) };
  const answer = await client.call({ method: 'PUT', key: names.manifest(partition), body, headers }, signal);
  if (answer.kind === 'answer' && answer.status === 200) return { kind: 'stored' };
  return classifyFailure(answer, 'writing a manifest', { isWrite: false });
}

/**
 * Returns the headers of an object. There is no `content-encoding`, because stores and loaders would decompress the
 * object, although its name says that it is compressed. `content-md5` makes the store refuse a damaged body.
 */
function objectHeaders(
  body: Buffer,
  digest: string,
  { compression }: Pick<S3Config, 'compression'>,
): Record<string, string> {
  return {
    'content-type': compression === 'gzip' ? 'application/gzip' : 'application/x-ndjson',
    'content-md5': md5(body),
    [digestHeader]: digest,
    [sizeHeader]: String(body.length),
  };
}

/** Returns the compression of an object, which may be older than the present configuration. */
function compressionOf(key: string): S3Config['compression'] {
  return key.endsWith('.gz') ? 'gzip' : 'none';
}

/** Returns the header with which the store refuses a name that exists (HTTP 412). */
export function onlyIfNew({ conditionalWrites }: S3Config): Record<string, string> {
  return conditionalWrites ? { 'if-none-match': '*' } : {};
}

export function md5(body: Buffer): string {
  return createHash('md5').update(body).digest('base64');
}

/**
 * The ledger and sink to which a prefix belongs. Two sinks with the same prefix would write objects with the same
 * names.
 */
interface Owner {
  readonly ledgerId: string;
  readonly sink: string;
}

/** `foreign`: the marker is not in this sink's format. */
type Marker =
  | { readonly kind: 'fresh' }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'owned'; readonly owner: Owner }
  | Failure;

function markerKey(prefix: string): string {
  return new ObjectNames({ prefix, compression: 'none' }).own('ledger.json');
}

export async function readMarker({ client, config }: Store, signal: AbortSignal): Promise<Marker> {
  const answer = await client.call({ method: 'GET', key: markerKey(config.prefix) }, signal);
  if (answer.kind === 'answer' && answer.status === 404 && answer.code !== 'NoSuchBucket') return { kind: 'fresh' };
  if (answer.kind !== 'answer' || answer.status !== 200)
    return classifyFailure(answer, 'reading the marker', { isWrite: false });
  const owner = ownerOf(answer.body);
  return owner === undefined ? { kind: 'foreign' } : { kind: 'owned', owner };
}

/**
 * Claims the prefix for this sink. A second call changes nothing.
 * @returns undefined on success, otherwise the failure
 */
export async function claimPrefix(store: Store, owner: Owner, signal: AbortSignal): Promise<Failure | undefined> {
  const marker = await readMarker(store, signal);
  if (marker.kind !== 'fresh') return refusal(marker, owner, store.config.prefix);
  const body = Buffer.from(`${JSON.stringify({ ledgerId: owner.ledgerId, sink: owner.sink })}\n`);
  const headers = { 'content-type': 'application/json', 'content-md5': md5(body), ...onlyIfNew(store.config) };
  const answer = await store.client.call({ method: 'PUT', key: markerKey(store.config.prefix), body, headers }, signal);
  // Several lanes, or another ledger, may claim at the same time: the first one wins.
  if (answer.kind === 'answer' && (answer.status === 200 || answer.status === 412)) {
    const now = await readMarker(store, signal);
    return now.kind === 'fresh'
      ? { kind: 'retry', detail: 'the marker of the prefix disappeared' }
      : refusal(now, owner, store.config.prefix);
  }
  return classifyFailure(answer, 'writing the marker', { isWrite: false });
}

/**
 * Returns why this sink cannot use the prefix; undefined if the prefix is free or belongs to this sink.
 * @param owner without a `ledgerId`, only the sink is compared
 */
export function refusal(
  marker: Marker,
  { ledgerId, sink }: Pick<Owner, 'sink'> & Partial<Owner>,
  prefix: string,
): Failure | undefined {
  if (marker.kind === 'fresh') return undefined;
  if (marker.kind !== 'owned' && marker.kind !== 'foreign') return marker;
  const found = marker.kind === 'owned' ? marker.owner : undefined;
  const isOurLedger = ledgerId === undefined || found?.ledgerId === ledgerId;
  if (found?.sink === sink && isOurLedger) return undefined;
  const whose =
    found === undefined
      ? 'is not a marker that pigeonpost wrote'
      : isOurLedger
        ? `says that the prefix belongs to the sink "${found.sink}"`
        : 'says that the prefix belongs to another ledger';
  return { kind: 'pause', cause: 'destination', detail: `${markerKey(prefix)} ${whose}: set another "prefix"` };
}

function ownerOf(body: Buffer): Owner | undefined {
  try {
    const { ledgerId, sink } = JSON.parse(body.toString('utf8')) as Partial<Record<keyof Owner, unknown>>;
    return typeof ledgerId === 'string' && typeof sink === 'string' ? { ledgerId, sink } : undefined;
  } catch {
    return undefined;
  }
}
