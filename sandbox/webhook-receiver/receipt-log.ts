import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { LoggedReceipt, Receipt } from './receipt.js';

const NEWLINE = 0x0a;

/**
 * The receipts in a file, a line each. A line is in the operating system's hands before the sender gets its answer, so
 * a receipt survives the receiver's own kill (not a power loss: it is not synced).
 */
export class ReceiptLog {
  readonly #descriptor: number;
  /** What earlier runs received, oldest first. */
  readonly earlier: readonly Receipt[];

  /** Opens or makes the file. A last line that a kill cut short was never answered for, and is removed. */
  constructor(file: string) {
    this.#descriptor = openSync(file, 'a+', 0o600);
    const content = readFileSync(this.#descriptor);
    const length = content.lastIndexOf(NEWLINE) + 1;
    if (length < content.length) ftruncateSync(this.#descriptor, length);
    this.earlier = [...receiptsIn(content.subarray(0, length))];
  }

  /** Writes one line. @throws when the file system does; the change is then not to be answered for. */
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
    yield receipt; // without the change: memory stays small however long the log is
    start = end + 1;
  }
}
