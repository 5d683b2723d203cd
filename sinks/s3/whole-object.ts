import { createHash } from 'node:crypto';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { classifyFailure, type Failure } from './classify.js';
import type { Store } from './store.js';

/** A whole object may be large, and the network slow. */
const wholeObjectMs = 15 * 60_000;

/**
 * Writes a whole object. The store replaces an older one in one step. The bytes are first written into a temporary file,
 * because a request to S3 starts with their length and their digest.
 */
export async function putWholeObject(
  { client, config }: Store,
  name: string,
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'pigeonpost-export-'));
  try {
    const path = join(folder, 'object');
    const file = { path, ...(await stored(path, bytes, signal)) };
    const key = wholeObjectKey(config, name);
    const answer = await client.call({ method: 'PUT', key, file, timeoutMs: wholeObjectMs }, signal);
    if (answer.kind === 'answer' && answer.status === 200) return undefined;
    return classifyFailure(answer, 'writing an export', { isWrite: false }); // a repeat is harmless
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes a whole object. A second call changes nothing. */
export async function removeWholeObject(
  { client, config }: Store,
  name: string,
  signal: AbortSignal,
): Promise<Failure | undefined> {
  const answer = await client.call({ method: 'DELETE', key: wholeObjectKey(config, name) }, signal);
  if (answer.kind === 'answer' && [200, 204, 404].includes(answer.status)) return undefined;
  return classifyFailure(answer, 'deleting an export', { isWrite: false });
}

/** Whole objects are in a folder whose name begins with an underscore, because Spark, Hive and Athena skip such folders. */
function wholeObjectKey({ prefix }: Store['config'], name: string): string {
  return `${prefix === '' ? '' : `${prefix}/`}_exports/${name}`;
}

/** Writes the bytes into a file that only this user can read. */
async function stored(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<{ readonly bytes: number; readonly sha256: string; readonly md5: string }> {
  const hashes = { sha256: createHash('sha256'), md5: createHash('md5') };
  let length = 0;
  const handle = await open(path, 'wx', 0o600);
  try {
    for await (const part of bytes) {
      signal.throwIfAborted();
      hashes.sha256.update(part);
      hashes.md5.update(part);
      length += part.length;
      await handle.writeFile(part);
    }
  } finally {
    await handle.close();
  }
  return { bytes: length, sha256: hashes.sha256.digest('hex'), md5: hashes.md5.digest('base64') };
}
