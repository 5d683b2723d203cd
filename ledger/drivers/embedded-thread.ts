import { parentPort, workerData } from 'node:worker_threads';
import type { PGlite } from '@electric-sql/pglite';
import { type FromThread, noSpace, type ThreadData, threadExitCodes, type ToThread } from './embedded-stream.js';
import { startEmbeddedPostgres } from './start-embedded-postgres.js';

/**
 * The thread in which the embedded store runs, so that a long statement does not delay the heartbeats of the process.
 * It passes bytes of PostgreSQL's protocol to the engine and back, without parsing them. `EmbeddedStream` is the other
 * end.
 */

/** Results are sent in parts of this size, so that the other thread can read rows while this one produces more. */
const partBytes = 256 * 1024;
/** One buffer for all results. A new one for each result would keep the garbage collector busy. */
const part = Buffer.allocUnsafeSlow(partBytes);

/**
 * Matches the log lines with the two severities after which PostgreSQL ends its process. Inside PGlite, it would
 * continue in an undefined state, so the thread ends immediately. For the files, this is the same as a SIGKILL, which
 * they survive.
 */
const endOfEngine = /^\S+ \S+ \S+ \[\d+\] (?:PANIC|FATAL):/;

function endAtFatalLine(line: string): void {
  if (endOfEngine.test(line)) process.exit(noSpace.test(line) ? threadExitCodes.full : threadExitCodes.dead);
}

async function run(): Promise<void> {
  const { folder } = workerData as ThreadData;
  const pglite = await startEmbeddedPostgres(folder, {
    onLog: endAtFatalLine,
    onAbort: () => process.exit(threadExitCodes.dead),
  });
  parentPort?.on('message', (message: ToThread) => {
    if (message.kind === 'bytes') queue = queue.then(() => answer(pglite, message.bytes)).catch(endAsDead);
    else queue = queue.then(() => close(pglite)).catch(endAsDead);
  });
  post({ kind: 'ready' });
}

let queue: Promise<void> = Promise.resolve();

/** Runs the statements in the bytes. PGlite computes synchronously, so parts of the result are sent while it runs. */
async function answer(pglite: PGlite, bytes: Uint8Array): Promise<void> {
  let length = 0;
  const flush = (): void => {
    if (length === 0) return;
    // a copy, because transferring it takes it away from this thread
    const bytes = new Uint8Array(part.subarray(0, length));
    post({ kind: 'bytes', bytes }, bytes.buffer);
    length = 0;
  };
  await pglite.execProtocolRawStream(bytes, {
    onRawData: (data) => {
      for (let from = 0; from < data.length;) {
        const piece = data.subarray(from, from + partBytes - length);
        part.set(piece, length); // a copy: `data` is a window into memory that PostgreSQL reuses
        length += piece.length;
        from += piece.length;
        if (length === partBytes) flush();
      }
    },
  });
  flush();
}

async function close(pglite: PGlite): Promise<void> {
  await pglite.close();
  post({ kind: 'closed' });
  parentPort?.close();
}

function post(message: FromThread, ...transferred: ArrayBuffer[]): void {
  parentPort?.postMessage(message, transferred);
}

function endAsDead(error: unknown): void {
  process.exit(noSpace.test(String(error)) ? threadExitCodes.full : threadExitCodes.dead);
}

run().catch(endAsDead);
