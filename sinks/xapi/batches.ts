import type { XapiOperation } from './plan-change.js';

/** Statements of one request. More would make an LRS's answer slow, and one bad one dear to find. */
export const MOST_STATEMENTS = 100;
/** Of one request's body: half of what nginx, which many stand behind, takes by default. */
export const MOST_BYTES = 512 * 1024;

/** An operation with its statements as JSON, which is made once. */
export interface Parcel {
  readonly operation: XapiOperation;
  /** Among the operations that are being sent. */
  readonly place: number;
  /** Statements with a comma between them. */
  readonly json: string;
  readonly bytes: number;
}

export function parcelOf(operation: XapiOperation, place: number): Parcel {
  const json = operation.statements.map((statement) => JSON.stringify(statement)).join(',');
  return { operation, place, json, bytes: Buffer.byteLength(json) };
}

/**
 * Parcels by request, in their order. One parcel is never divided, whatever its size; no request holds an id twice,
 * since an LRS refuses that (xAPI 1.0.3, Communication, 2.1.2).
 */
export function toBatches(parcels: readonly Parcel[]): Parcel[][] {
  const batches: Parcel[][] = [];
  let batch: Parcel[] = [];
  let bytes = 0;
  let ids = new Set<string>();
  for (const parcel of parcels) {
    const own = parcel.operation.statements.map(({ id }) => id);
    const isFull =
      ids.size + own.length > MOST_STATEMENTS || bytes + parcel.bytes + 1 > MOST_BYTES || own.some((id) => ids.has(id));
    if (isFull && batch.length > 0) {
      batches.push(batch);
      batch = [];
      bytes = 0;
      ids = new Set();
    }
    batch.push(parcel);
    bytes += parcel.bytes + 1;
    for (const id of own) ids.add(id);
  }
  return batch.length === 0 ? batches : [...batches, batch];
}

/** The body of a request. */
export function bodyOf(batch: readonly Parcel[]): string {
  return `[${batch.map(({ json }) => json).join(',')}]`;
}
