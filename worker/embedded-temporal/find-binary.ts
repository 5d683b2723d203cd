import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { mkdir, readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { type BinarySources, programsNamed, checkServer } from './binary-sources.js';
import { buildBinary, builtBinaryPath, findGo } from './build-binary.js';
import { startGuardedChild } from '../guarded-child.js';
import { builtProgram } from '../../base/package-root.js';

export type { BinarySources };

/** The error for a machine without a Temporal server to embed. The message says what to do. */
export class BinaryNotFoundError extends Error {
  override readonly name = 'BinaryNotFoundError';
}

/**
 * Returns the path of a Temporal server to embed. Tries, in this order: `TEMPORAL_BINARY`, `temporal` in the search
 * folders, the cache, a download, and a build with Go (about eight minutes, once). Downloads and builds are stored in
 * the cache.
 * @param onProgress receives lines for the operator about slow steps
 * @throws {BinaryNotFoundError} with the possible remedies
 */
export async function findBinary(sources: BinarySources, onProgress: (line: string) => void): Promise<string> {
  if (sources.explicit !== undefined) {
    const check = await checkServer(sources.explicit);
    if (check.isUsable) return sources.explicit;
    throw new BinaryNotFoundError(`${sources.explicit} (TEMPORAL_BINARY) cannot be used: ${check.why}`);
  }
  for (const candidate of candidates(sources)) {
    const check = await checkServer(candidate);
    if (check.isUsable) return candidate;
    onProgress(`${candidate} cannot be used: ${check.why}`);
  }
  // the start will build it
  if (sources.onlyLook === true && (await findGo(sources)) !== undefined) return builtBinaryPath(sources);
  if (sources.onlyLook !== true) {
    const made = (await downloadBinary(sources, onProgress)) ?? (await buildBinary(sources, onProgress));
    if (made !== undefined) return made;
  }
  throw new BinaryNotFoundError(
    'no Temporal server was found: set temporal.address to a running one, or TEMPORAL_BINARY to its program ' +
      '(https://docs.temporal.io/cli), or install Go 1.26.4 or newer and start again to build one',
  );
}

function candidates(sources: BinarySources): string[] {
  const { searchFolders, cacheFolder } = sources;
  const downloaded = namesIn(cacheFolder).filter(isDownloadedBinary);
  const cached = [basename(builtBinaryPath(sources)), ...downloaded];
  return [...programsNamed('temporal', searchFolders), ...cached.flatMap((name) => programsNamed(name, [cacheFolder]))];
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // nothing was cached yet
  }
}

/** Time limit for a connection. An operator would not want to wait longer. */
const connectTimeoutMs = 3000;
/** Enough for 60 MB over a slow connection. */
const downloadTimeoutMs = 5 * 60_000;

/** Returns true if a file in the cache was downloaded by the SDK, judging by its name. */
function isDownloadedBinary(name: string): boolean {
  return /^temporal-sdk-typescript-[\d.]+$/.test(name);
}

/**
 * Lets the SDK download the server version it was tested with into the cache. The SDK downloads only while starting a
 * server, on the main thread and without a timeout, so this runs in a separate process.
 * @returns undefined if that is not possible; `onProgress` receives the reason
 */
async function downloadBinary(
  { cacheFolder, downloadHost, hasProxy }: BinarySources,
  onProgress: (line: string) => void,
): Promise<string | undefined> {
  if (!hasProxy && !(await canConnect(downloadHost, 443))) {
    onProgress(`no Temporal server can be downloaded: ${downloadHost} cannot be reached`);
    return undefined;
  }
  onProgress(`downloading the Temporal server from ${downloadHost} (about 60 MB, once)`);
  await mkdir(cacheFolder, { recursive: true });
  const logFile = join(cacheFolder, 'download.log');
  const args = [builtProgram('worker/embedded-temporal/download-program'), cacheFolder];
  const child = startGuardedChild({ command: process.execPath, args, logFile });
  const overdue = setTimeout(() => void child.stop(0), downloadTimeoutMs);
  const { code } = await child.exited;
  clearTimeout(overdue);
  for (const name of (await readdir(cacheFolder)).filter(isDownloadedBinary)) {
    const binary = join(cacheFolder, name);
    if (code === 0 && (await checkServer(binary)).isUsable) return binary;
  }
  onProgress(`the Temporal server could not be downloaded: see ${logFile}`);
  return undefined;
}

function canConnect(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const settle = (isConnected: boolean): void => {
      socket.destroy();
      resolve(isConnected);
    };
    socket.setTimeout(connectTimeoutMs, () => settle(false));
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });
}
