import { createHash } from 'node:crypto';
import type { ReceivedChange } from './read-signed-change.js';
import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';

/** One accepted request. A change that is sent again has a receipt for each request. */
export interface Receipt {
  /** 1, 2, 3… in the order of arrival, across restarts with the same log. */
  readonly number: number;
  /** ISO 8601, UTC. */
  readonly receivedAt: string;
  /** The header `webhook-id`, which is the change's id. */
  readonly id: string;
  /** SHA-256 of the body, in hex. */
  readonly sha256: string;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly list: string;
  readonly key: string;
  readonly type: string;
  readonly revision: number;
  readonly sequence: number;
  /** The change's timestamp: the instant at which the sender found it. ISO 8601, UTC. */
  readonly timestamp: string;
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
 * A file of receipts, one a line. Each line is written before the sender gets its answer, so a receipt survives a kill
 * of the receiver. It may not survive a power loss, since the file is not synced.
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
