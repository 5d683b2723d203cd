import { classifyFailure, type Failure } from './classify.js';
import { ObjectNames } from './objects.js';
import { md5, onlyIfNew, type Store } from './store.js';

/** Whose a prefix is. Two sinks under one prefix would write under the same names. */
export interface Owner {
  readonly ledgerId: string;
  readonly sink: string;
}

/** `foreign`: the marker is nothing that this sink writes. */
export type Marker =
  | { readonly kind: 'fresh' }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'owned'; readonly owner: Owner }
  | Failure;

export function markerKey(prefix: string): string {
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

/** Makes the prefix this sink's. A second call changes nothing. @returns undefined when it is; else why it cannot be */
export async function claimPrefix(store: Store, owner: Owner, signal: AbortSignal): Promise<Failure | undefined> {
  const marker = await readMarker(store, signal);
  if (marker.kind !== 'fresh') return refusal(marker, owner, store.config.prefix);
  const body = Buffer.from(`${JSON.stringify({ ledgerId: owner.ledgerId, sink: owner.sink })}\n`);
  const headers = { 'content-type': 'application/json', 'content-md5': md5(body), ...onlyIfNew(store.config) };
  const answer = await store.client.call({ method: 'PUT', key: markerKey(store.config.prefix), body, headers }, signal);
  // Lanes claim at the same time, and so may another ledger: the first one decides.
  if (answer.kind === 'answer' && (answer.status === 200 || answer.status === 412)) {
    const now = await readMarker(store, signal);
    return now.kind === 'fresh'
      ? { kind: 'retry', detail: 'the marker of the prefix disappeared' }
      : refusal(now, owner, store.config.prefix);
  }
  return classifyFailure(answer, 'writing the marker', { isWrite: false });
}

function refusal(marker: Marker, owner: Owner, prefix: string): Failure | undefined {
  if (marker.kind !== 'owned' && marker.kind !== 'foreign' && marker.kind !== 'fresh') return marker;
  const found = marker.kind === 'owned' ? marker.owner : undefined;
  if (found?.ledgerId === owner.ledgerId && found.sink === owner.sink) return undefined;
  const whose =
    found === undefined
      ? 'is no marker that this sink wrote'
      : found.ledgerId === owner.ledgerId
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
