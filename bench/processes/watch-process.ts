/**
 * Loaded into a product's process before its own code (`--require`): notes statements and pauses of the event loop that
 * take long, a line of JSON each, in the file that `BENCH_WATCH_FILE` names. Figures from within, without a trace of them in
 * what is measured.
 */
import { appendFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { Client } from 'pg';

/** A long statement or pause within the process. */
export interface Noted {
  readonly what: 'statement' | 'pause';
  /** End, epoch ms. */
  readonly atMs: number;
  readonly tookMs: number;
  /** The statement's beginning, without values. */
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
 * A connection answers in the order of what it was asked: a statement ran from the answer before, or from when it was
 * sent, whichever is later, to its own answer. A wait for a lock counts.
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
