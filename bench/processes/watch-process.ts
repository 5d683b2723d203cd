/**
 * Loaded into the product's process before its own code (`--require`). Writes long statements and long pauses of the
 * event loop to the file in `BENCH_WATCH_FILE`, one line of JSON each, without affecting the measurement.
 */
import { appendFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { Client } from 'pg';

/** A long statement or pause within the process. */
export interface Noted {
  readonly what: 'statement' | 'pause';
  /** Time of its end, epoch ms. */
  readonly atMs: number;
  readonly tookMs: number;
  /** The first part of the statement, without values. */
  readonly sql?: string;
}

const notedFromMs = 15;
const lookEveryMs = 5;
const writeEveryMs = 500;

const file = process.env['BENCH_WATCH_FILE'];
const noted: Noted[] = [];

if (file !== undefined) {
  watchStatements();
  watchPauses();
  setInterval(() => {
    if (noted.length > 0)
      appendFileSync(
        file,
        `${noted
          .splice(0)
          .map((each) => JSON.stringify(each))
          .join('\n')}\n`,
      );
  }, writeEveryMs).unref();
}

/**
 * Measures statements. A connection answers statements in order, so a statement runs from the previous answer or from
 * the time at which it was sent, whichever is later, to its own answer. This includes waits for locks.
 */
function watchStatements(): void {
  type Query = (this: object, ...args: unknown[]) => unknown;
  const prototype = Client.prototype as unknown as { query: Query };
  const { query } = prototype;
  const answeredAt = new WeakMap<object, number>();
  prototype.query = function watched(...args) {
    const sentAt = performance.now();
    const result = query.apply(this, args);
    if (!(result instanceof Promise)) return result;
    const note = (): void => {
      const now = performance.now();
      const tookMs = now - Math.max(sentAt, answeredAt.get(this) ?? 0);
      answeredAt.set(this, now);
      if (tookMs >= notedFromMs) add('statement', tookMs, textOf(args[0]));
    };
    result.then(note, note);
    return result;
  };
}

function textOf(query: unknown): string {
  const text = typeof query === 'string' ? query : (query as { text?: string }).text;
  return (text ?? '').replaceAll(/\s+/g, ' ').trim().slice(0, 120);
}

function watchPauses(): void {
  let last = performance.now();
  setInterval(() => {
    const now = performance.now();
    const tookMs = now - last - lookEveryMs;
    last = now;
    if (tookMs >= notedFromMs) add('pause', tookMs);
  }, lookEveryMs).unref();
}

function add(what: Noted['what'], tookMs: number, sql?: string): void {
  noted.push({ what, atMs: Date.now(), tookMs, ...(sql !== undefined && { sql }) });
}
