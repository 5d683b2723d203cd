import { createHash } from 'node:crypto';
import type { ReceivedChange } from './read-signed-change.js';
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';

/** One accepted request. A change that is sent again has a receipt for each request. */
export interface Receipt extends Pick<
  ReceivedChange,
  'workspace' | 'pigeonholeId' | 'list' | 'key' | 'type' | 'revision' | 'sequence' | 'timestamp'
> {
  /** 1, 2, 3… in the order of arrival, across restarts with the same log. */
  readonly number: number;
  /** ISO 8601, UTC. */
  readonly receivedAt: string;
  /** The header `webhook-id`, which is the change's id. */
  readonly id: string;
  /** SHA-256 of the body, in hex. */
  readonly sha256: string;
  /** The replay that the change belongs to, or null. */
  readonly replay: string | null;
  /** The status of the answer, or `dropped` if the connection was closed after the receipt was stored. */
  readonly answer: number | 'dropped';
}

/** A line of the log: the receipt and the change, for comparison with the truth. */
export interface LoggedReceipt extends Receipt {
  readonly change: ReceivedChange;
}

interface Arrival {
  readonly number: number;
  readonly receivedAt: Date;
  readonly body: Buffer;
  readonly change: ReceivedChange;
  readonly answer: number | 'dropped';
}

export function receiptOf({ number, receivedAt, body, change, answer }: Arrival): Receipt {
  const { id, workspace, pigeonholeId, list, key, type, revision, sequence, timestamp } = change;
  return {
    number,
    receivedAt: receivedAt.toISOString(),
    id,
    sha256: createHash('sha256').update(body).digest('hex'),
    workspace,
    pigeonholeId,
    list,
    key,
    type,
    revision,
    sequence,
    timestamp,
    replay: change.replay ?? null,
    answer,
  };
}

const NEWLINE = 0x0a;

/**
 * A file of receipts, one per line. Each line is written before the sender gets its answer, so a receipt survives a
 * kill of the receiver. It may not survive a power loss, since the file is not synced.
 */
export class ReceiptLog {
  readonly #descriptor: number;
  /** Receipts of earlier runs, oldest first. */
  readonly earlier: readonly Receipt[];

  /** Opens or creates the file. Removes a last line that a kill cut short: its request was never answered. */
  constructor(file: string) {
    this.#descriptor = openSync(file, 'a+', 0o600);
    const content = readFileSync(this.#descriptor);
    const length = content.lastIndexOf(NEWLINE) + 1;
    if (length < content.length) ftruncateSync(this.#descriptor, length);
    this.earlier = [...receiptsIn(content.subarray(0, length))];
  }

  /** Writes one line. @throws if the file system does; the caller must then not confirm the change. */
  append(receipt: LoggedReceipt): void {
    const line = Buffer.from(`${JSON.stringify(receipt)}\n`);
    for (let written = 0; written < line.length;) written += writeSync(this.#descriptor, line, written);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

function* receiptsIn(content: Buffer): Generator<Receipt> {
  for (let start = 0; start < content.length;) {
    const end = content.indexOf(NEWLINE, start);
    const { change: _, ...receipt } = JSON.parse(content.toString('utf8', start, end)) as LoggedReceipt;
    yield receipt; // without the change, so that a long log needs little memory
    start = end + 1;
  }
}

/** Counts for one list, over all pigeonholes, before the first request. */
const noDeliveries = {
  /** Items with at least one change. */
  items: 0,
  /** Accepted requests. */
  deliveries: 0,
  /** Distinct change ids. */
  changes: 0,
  /** Requests whose change id had arrived before. */
  repeats: 0,
  /** Repeats with a different body. A repeat must be the same byte for byte. */
  differingRepeats: 0,
  /** New changes that arrived after one with the same or a higher revision of the item. Excludes replays. */
  outOfOrder: 0,
  /** Revisions missing between two changes of an item that arrived in order. */
  missingRevisions: 0,
  /** New changes that belong to a replay. */
  replays: 0,
};

export type ListTally = typeof noDeliveries;

/** Counts changes, so that a test or a person can see which ones arrived twice, out of order or not at all. */
export class DeliveryTally {
  readonly #lists = new Map<string, ListTally>();
  readonly #bodies = new Map<string, string>();
  readonly #revisions = new Map<string, number>();

  add(receipt: Receipt): void {
    const tally = this.#tallyOf(receipt.list);
    tally.deliveries += 1;
    const known = this.#bodies.get(receipt.id);
    if (known !== undefined) {
      tally.repeats += 1;
      if (known !== receipt.sha256) tally.differingRepeats += 1;
      return;
    }
    this.#bodies.set(receipt.id, receipt.sha256);
    tally.changes += 1;
    this.#judgeOrder(receipt, tally);
  }

  /** Returns the counts by list, in the order in which the lists first appeared. */
  lists(): Record<string, ListTally> {
    return Object.fromEntries([...this.#lists].map(([list, tally]) => [list, { ...tally }]));
  }

  #judgeOrder(receipt: Receipt, tally: ListTally): void {
    const item = JSON.stringify([receipt.workspace, receipt.pigeonholeId, receipt.list, receipt.key]);
    const last = this.#revisions.get(item);
    if (last === undefined) tally.items += 1;
    this.#revisions.set(item, Math.max(last ?? 0, receipt.revision));
    if (receipt.replay !== null) tally.replays += 1;
    else if (last === undefined) return; // a sink without history may start at any revision
    else if (receipt.revision <= last) tally.outOfOrder += 1;
    else tally.missingRevisions += receipt.revision - last - 1;
  }

  #tallyOf(list: string): ListTally {
    const tally = this.#lists.get(list) ?? { ...noDeliveries };
    this.#lists.set(list, tally);
    return tally;
  }
}
