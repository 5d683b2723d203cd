import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { processEnvironment } from '../config/environment.js';
import { readDocument } from '../config/read-document.js';
import { Secret } from '../config/secret.js';

/**
 * Health check of the container image: `node dist/worker/healthcheck.js FILE`, or HOST:PORT as in a worker's --listen.
 * Requests `/readyz` at the configured address and exits with 0 or 1. It runs every few seconds, so it loads only the
 * reader of the file.
 */
async function main(target: string): Promise<number> {
  const at = /^[^/]*:\d+$/.test(target) ? target : await addressIn(target);
  const answer = await fetch(`http://${at}/readyz`, { signal: AbortSignal.timeout(4000) });
  process.stdout.write(`${at}: ${await answer.text()}\n`);
  return answer.ok ? 0 : 1;
}

/** Returns the address of the API for a client on the same machine. */
async function addressIn(file: string): Promise<string> {
  const sources = { environment: processEnvironment(), folder: dirname(resolve(file)) };
  const { tree } = readDocument(await readFile(file, 'utf8'), file, sources);
  const { server } = tree as { server?: Readonly<Record<string, unknown>> };
  const host = textOf(server?.['host'], '127.0.0.1');
  const port = textOf(server?.['port'], '8088');
  if (host === '0.0.0.0') return `127.0.0.1:${port}`;
  return host.includes(':') ? `[${host === '::' ? '::1' : host}]:${port}` : `${host}:${port}`;
}

/** Returns a value as text. Values from the environment arrive as `Secret`, even under keys that are not secret. */
function textOf(value: unknown, otherwise: string): string {
  if (value instanceof Secret) return value.reveal();
  return typeof value === 'string' || typeof value === 'number' ? String(value) : otherwise;
}

main(process.argv[2] ?? '').then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stdout.write(`no answer: ${error instanceof Error ? error.name : 'unknown'}\n`); // Docker stores this line, so it contains the name of the error and not its message
    process.exitCode = 1;
  },
);
