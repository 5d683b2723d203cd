import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';
import type { EncodingGuess } from './find-encoding.js';
import { packageRoot } from '../../base/package-root.js';
import {
  RegistrantFileError,
  type FileOptions,
  type RawRow,
  type RegistrantFile,
  type RegistrantFileErrorKind,
  readLimits,
} from './registrant-file.js';

/** Limits of reading one file. */
export interface ReadingBounds {
  /** Heap of the thread. `readLimits` bounds memory outside it. */
  readonly heapMegabytes: number;
  /** Computing time until the file is open, and for each portion of rows. Waiting for bytes does not count. */
  readonly stepMs: number;
}

/**
 * Opens a file like `openRegistrantFile`, in a worker thread. A file that exhausts memory or time ends only that thread
 * and is refused; this process continues.
 * @throws {RegistrantFileError}; whatever `source` throws
 */
export async function openInThread(
  source: AsyncIterable<Uint8Array>,
  options: FileOptions,
  bounds: ReadingBounds = readLimits,
): Promise<RegistrantFile> {
  const reader = new ThreadReader(source, options, bounds);
  try {
    const answer = await reader.ask();
    if (answer.kind !== 'opened') throw new Error(`the reader of a file answered with ${answer.kind}`);
    return opened(answer.file, reader);
  } catch (error) {
    await reader.close();
    throw error;
  }
}

function opened(file: OpenedFile, reader: ThreadReader): RegistrantFile {
  let { encoding, encodingGuess } = file;
  return {
    ...file,
    encoding: () => encoding,
    encodingGuess: () => encodingGuess,
    rows: (async function* (): AsyncGenerator<readonly RawRow[], void, undefined> {
      try {
        for (;;) {
          const answer = await reader.ask({ kind: 'next-rows' });
          if (answer.kind !== 'rows') throw new Error(`the reader of a file answered with ${answer.kind}`);
          ({ encoding, encodingGuess } = answer);
          if (answer.rows === null) return;
          yield answer.rows;
        }
      } finally {
        await reader.close();
      }
    })(),
    close: () => reader.close(),
  };
}

class ThreadReader {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #thread: Worker;
  readonly #bounds: ReadingBounds;
  /** Messages not consumed yet, and the function that wakes their consumer. */
  readonly #messages: FromReadThread[] = [];
  #wake: () => void = () => undefined;
  #ended: Error | undefined;
  #closed: Promise<void> | undefined;
  #sourceDone = false;

  constructor(source: AsyncIterable<Uint8Array>, options: FileOptions, bounds: ReadingBounds) {
    this.#source = source[Symbol.asyncIterator]();
    this.#bounds = bounds;
    // No environment, because it contains secrets.
    this.#thread = new Worker(program(), {
      workerData: options,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: bounds.heapMegabytes, maxYoungGenerationSizeMb: 32 },
    });
    this.#thread.on('message', (message: FromReadThread) => {
      this.#messages.push(message);
      this.#wake();
    });
    this.#thread.on('error', (error: NodeJS.ErrnoException) => {
      this.#end(
        error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuchMemory() : new Error(`reading failed: ${error.name}`),
      );
    });
    this.#thread.on('exit', () => this.#end(new Error('the reader of a file ended')));
  }

  /** Supplies the thread with bytes until it answers the message, or, without one, until the file is open. */
  async ask(message?: ToReadThread): Promise<FromReadThread> {
    if (message !== undefined) this.#thread.postMessage(message);
    let leftMs = this.#bounds.stepMs;
    for (;;) {
      const since = performance.now();
      const answer = await this.#next(leftMs);
      leftMs -= performance.now() - since;
      if (answer.kind === 'refused') throw new RegistrantFileError(answer.why, answer.message);
      if (answer.kind === 'failed') throw new Error(`reading a file failed: ${answer.name}`);
      if (answer.kind !== 'more') return answer;
      const piece = await this.#source.next();
      this.#sourceDone = piece.done === true;
      const bytes = piece.done === true ? null : piece.value;
      this.#thread.postMessage({ kind: 'bytes', bytes } satisfies ToReadThread);
    }
  }

  /** Terminates the thread and releases the source. A second call does nothing. */
  close(): Promise<void> {
    this.#closed ??= (async () => {
      await this.#thread.terminate();
      if (!this.#sourceDone) await this.#source.return?.();
    })();
    return this.#closed;
  }

  async #next(withinMs: number): Promise<FromReadThread> {
    const waiting = new Promise<void>((resolve) => (this.#wake = resolve));
    if (this.#messages.length === 0 && this.#ended === undefined) {
      const overdue = setTimeout(() => this.#end(tooSlow(this.#bounds.stepMs)), Math.max(1, withinMs));
      await waiting;
      clearTimeout(overdue);
    }
    const message = this.#messages.shift();
    if (message !== undefined) return message;
    throw this.#ended!;
  }

  #end(error: Error): void {
    this.#ended ??= error;
    this.#wake();
  }
}

function tooMuchMemory(): RegistrantFileError {
  return new RegistrantFileError(
    'too-large',
    'Reading the file needs more memory than a list of registrants should need; save the list as CSV and import that.',
  );
}

function tooSlow(stepMs: number): RegistrantFileError {
  return new RegistrantFileError(
    'too-large',
    `Reading the file takes longer than ${stepMs / 1000} s, more than a list of registrants should need; save the list as CSV and import that.`,
  );
}

/**
 * Returns the built program of the thread. Tests use the last build, because Node cannot start a thread from
 * TypeScript.
 */
function program(): string {
  return join(packageRoot(), 'dist/importing/files/read-thread.js');
}

/** Messages to the thread: the requested bytes (null: end of file), or a request for the next rows. */
export type ToReadThread =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array | null }
  | { readonly kind: 'next-rows' };

type OpenedFile = Pick<
  RegistrantFile,
  'format' | 'delimiter' | 'sheet' | 'sheets' | 'remarks' | 'headerRow' | 'columns'
> &
  ReadEncoding;

/** The encoding, judging by what was read so far. */
interface ReadEncoding {
  readonly encoding: string | null;
  readonly encodingGuess: EncodingGuess | null;
}

/**
 * Messages from the thread: `more` requests bytes; `opened` reports that the file is open; `rows` answers a
 * `next-rows`; `refused` and `failed` report an error instead.
 */
export type FromReadThread =
  | { readonly kind: 'more' }
  | { readonly kind: 'opened'; readonly file: OpenedFile }
  /** Null: no more rows. */
  | ({ readonly kind: 'rows'; readonly rows: readonly RawRow[] | null } & ReadEncoding)
  | { readonly kind: 'refused'; readonly why: RegistrantFileErrorKind; readonly message: string }
  /** A defect: only the name of the error, because its message may quote the file. */
  | { readonly kind: 'failed'; readonly name: string };
