import { parentPort, workerData } from 'node:worker_threads';
import { openRegistrantFile } from './open-registrant-file.js';
import type { FromReadThread, ToReadThread } from './open-in-thread.js';
import { type FileOptions, type RegistrantFile, RegistrantFileError } from './registrant-file.js';

/**
 * The thread that reads one file of registrants. A malicious file may exhaust its reader, so the thread has its own
 * limits. `openInThread` is the other end.
 */
let onBytes: (bytes: Uint8Array | null) => void = () => undefined;
let onNextRows: () => void = () => undefined;

const post = (message: FromReadThread): void => parentPort?.postMessage(message);

async function* source(): AsyncGenerator<Uint8Array, void, undefined> {
  for (;;) {
    const bytes = new Promise<Uint8Array | null>((resolve) => (onBytes = resolve));
    post({ kind: 'more' });
    const piece = await bytes;
    if (piece === null) return;
    yield piece;
  }
}

async function run(): Promise<void> {
  const file = await openRegistrantFile(source(), workerData as FileOptions);
  const { format, delimiter, sheet, sheets, remarks, headerRow, columns } = file;
  const rows = file.rows[Symbol.asyncIterator]();
  let asked = new Promise<void>((resolve) => (onNextRows = resolve));
  post({
    kind: 'opened',
    file: { format, delimiter, sheet, sheets, remarks, headerRow, columns, ...encodingOf(file) },
  });
  for (;;) {
    await asked;
    asked = new Promise((resolve) => (onNextRows = resolve));
    const next = await rows.next();
    post({ kind: 'rows', rows: next.done === true ? null : next.value, ...encodingOf(file) });
    if (next.done === true) return;
  }
}

function encodingOf(file: RegistrantFile) {
  return { encoding: file.encoding(), encodingGuess: file.encodingGuess() };
}

parentPort?.on('message', (message: ToReadThread) => {
  if (message.kind === 'bytes') onBytes(message.bytes);
  else onNextRows();
});
run().catch((error: unknown) => {
  if (error instanceof RegistrantFileError) post({ kind: 'refused', why: error.kind, message: error.message });
  else post({ kind: 'failed', name: error instanceof Error ? error.name : 'unknown' });
});
