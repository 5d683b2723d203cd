import { Duplex } from 'node:stream';
import type { Worker } from 'node:worker_threads';

/** Data that the store's thread starts with. */
export interface ThreadData {
  readonly folder: string;
}

/** To the thread: bytes of PostgreSQL's protocol (transferred, not copied), or the wish to close in order. */
export type ToThread = { readonly kind: 'bytes'; readonly bytes: Uint8Array } | { readonly kind: 'close' };

/** From the thread: one `ready`; then to each `bytes` any number of `bytes`, in order; at the end `closed`. */
export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'closed' };

/**
 * Exit code of the thread if its engine is dead. It is not a message, because the thread has to end at the instruction
 * that noticed it, and messages posted there are lost.
 */
export const threadExitCodes = { closed: 0, dead: 70, full: 74 } as const;

/** Messages by which PostgreSQL, Node and Emscripten report a full disk. */
export const noSpace = /No space left on device|Disk quota exceeded|EDQUOT|ENOSPC/i;

/**
 * The store's thread as a socket, so that `pg` speaks to it as to a server: one code path for statements, prepared
 * plans, values and errors on both drivers. One connection only, since there is one session inside.
 *
 * `pg` corks its stream while it writes the messages of a statement, so `_writev` sees them together and the thread
 * gets one message per statement. Nothing waits for an answer here: the thread goes from one statement to the next by
 * itself, also while this one is busy.
 */
export class EmbeddedStream extends Duplex {
  constructor(private readonly thread: Worker) {
    super();
    thread.on('message', (message: FromThread) => {
      if (message.kind === 'bytes') this.push(Buffer.from(message.bytes));
    });
    thread.once('exit', () => this.destroy());
  }

  override _read(): void {} // whatever comes is pushed: `pg` reads all of it anyway

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const bytes = new Uint8Array(chunk); // a copy of its own, because it is given away
    this.thread.postMessage({ kind: 'bytes', bytes } satisfies ToThread, [bytes.buffer]);
    done();
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), 'utf8', done);
  }

  /** `pg` calls these of a socket's methods. There is nothing to connect to, and nothing to delay. */
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
