import { mkdir, readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { startGuardedChild } from '../guarded-child.js';
import { builtProgram } from '../../base/package-root.js';
import { type BinarySources, checkServer } from './binary-sources.js';

/** Longer than a person wants to wait for a connection. */
const connectTimeoutMs = 3000;
/** Enough for 60 MB over a slow connection. */
const downloadTimeoutMs = 5 * 60_000;

/** Whether a file in the cache was downloaded by the SDK, judging by its name. */
export function isDownloadedBinary(name: string): boolean {
  return /^temporal-sdk-typescript-[\d.]+$/.test(name);
}

/**
 * Lets the SDK download the server version it was tested with into the cache. The SDK downloads only while starting a
 * server, on the main thread and without a timeout, so this runs in a separate process.
 * @returns undefined if that is not possible; `onProgress` receives the reason
 */
export async function downloadBinary(
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
