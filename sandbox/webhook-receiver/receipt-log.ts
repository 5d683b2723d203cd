import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { LoggedReceipt, Receipt } from './receipt.js';

const NEWLINE = 0x0a;

/**
 * A file of receipts, one a line. Each line is written before the sender gets its answer, so a receipt survives a kill of
 * the receiver. It may not survive a power loss, since the file is not synced.
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
