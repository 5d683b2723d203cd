import { Duplex } from 'node:stream';
import type { Worker } from 'node:worker_threads';

/** Start parameters of the store's thread. */
export interface ThreadData {
  readonly folder: string;
}

/**
 * Messages to the thread: bytes of PostgreSQL's protocol (transferred, not copied), or a request for an orderly close.
 */
export type ToThread = { readonly kind: 'bytes'; readonly bytes: Uint8Array } | { readonly kind: 'close' };

/**
 * Messages from the thread: one `ready`; then, for each `bytes` received, any number of `bytes` in order; at the end
 * `closed`.
 */
export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'closed' };

/**
 * Exit codes of the thread. The thread reports a dead engine by its exit code and not by a message: it has to end at
 * the instruction that noticed the failure, and messages posted there are lost.
 */
export const threadExitCodes = { closed: 0, dead: 70, full: 74 } as const;

/** Texts by which PostgreSQL, Node and Emscripten report a full disk. */
export const noSpace = /No space left on device|Disk quota exceeded|EDQUOT|ENOSPC/i;

/**
 * A socket to the store's thread, so that `pg` uses it like a server. Both drivers then share the code for statements,
 * prepared plans, values and errors. There is only one connection, because PGlite has one session.
 *
 * `pg` corks its stream while it writes the messages of a statement, so `_writev` receives them together and the thread
 * gets one message per statement. Nothing waits for an answer here: the thread runs one statement after the other even
 * while this thread is busy.
 */
export class EmbeddedStream extends Duplex {
  constructor(private readonly thread: Worker) {
    super();
    thread.on('message', (message: FromThread) => {
      if (message.kind === 'bytes') this.push(Buffer.from(message.bytes));
    });
    thread.once('exit', () => this.destroy());
  }

  // nothing to request: the thread's answers are pushed as they arrive, and `pg` reads all of them
  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const bytes = new Uint8Array(chunk); // a copy, because transferring it takes it away from this thread
    this.thread.postMessage({ kind: 'bytes', bytes } satisfies ToThread, [bytes.buffer]);
    done();
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), 'utf8', done);
  }

  /**
   * This method and the ones below exist because `pg` expects a socket and calls them. There is no network to connect
   * to or to configure.
   */
  connect(): this {
    process.nextTick(() => this.emit('connect'));
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}
