import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { mkdir, readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { startGuardedChild } from '../guarded-child.js';
import {
  type BuildPlace,
  buildProgram,
  builtProgramPath,
  findGo,
  type GoProgram,
  programsNamed,
  toolEnvironment,
} from './build-program.js';
import { builtProgram, packageRoot } from '../../base/package-root.js';
import { execFile } from 'node:child_process';
import { homedir } from 'node:os';
import { type Environment, processEnvironment } from '../../config/environment.js';

/** Sources of a Temporal server. */
export interface BinarySources extends BuildPlace {
  /** Path from `TEMPORAL_BINARY`. If it cannot be used, nothing else is tried. */
  readonly explicit: string | undefined;
  /** Folders to search for `temporal`, in order. */
  readonly searchFolders: readonly string[];
  /** The vendor's host, from which the SDK downloads. */
  readonly downloadHost: string;
  /** A proxy is configured, so the download may work although a direct connection fails. */
  readonly hasProxy: boolean;
  /** Only look for an existing server; download and build nothing. */
  readonly onlyLook?: boolean;
}

/** Returns the sources of this user on this machine. */
export function binarySources(environment: Environment = processEnvironment()): BinarySources {
  const cache = environment['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  return {
    explicit: environment['TEMPORAL_BINARY'] || undefined,
    searchFolders: (environment['PATH'] ?? '').split(':').filter((folder) => folder.startsWith('/')),
    cacheFolder: join(cache, 'pigeonpost'),
    goModule: join(packageRoot(), 'tools/temporal'),
    downloadHost: 'temporal.download',
    hasProxy: Boolean(environment['HTTPS_PROXY'] ?? environment['https_proxy']),
  };
}

/** The official command line with its development server, as this package builds it. */
const server: GoProgram = {
  name: 'temporal',
  what: 'the Temporal server',
  package: 'github.com/temporalio/cli/cmd/temporal',
  module: 'github.com/temporalio/cli',
  takes: 'about 8 minutes',
};

/** The oldest server whose development mode supports all our options. We build 1.31. */
const oldestServer = [1, 27] as const;

/** Whether a program called `temporal` can be used. */
type ServerCheck = { readonly isUsable: true } | { readonly isUsable: false; readonly why: string };

/** Time limit for a program to print its version. A large program may take seconds to load from a busy disk. */
const versionTimeoutMs = 60_000;

/** Runs `temporal --version`. An incomplete download or a program for another machine does not answer. */
async function checkServer(binary: string): Promise<ServerCheck> {
  const output = await new Promise<string | undefined>((resolve) => {
    execFile(binary, ['--version'], { timeout: versionTimeoutMs, env: {} }, (error, stdout) =>
      resolve(error === null ? stdout : undefined),
    );
  });
  // temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)
  const [, major, minor] = /\(Server (\d+)\.(\d+)/.exec(output ?? '') ?? [];
  if (major === undefined || minor === undefined) return { isUsable: false, why: 'it does not run or is not Temporal' };
  const [oldestMajor, oldestMinor] = oldestServer;
  const isOld = Number(major) < oldestMajor || (Number(major) === oldestMajor && Number(minor) < oldestMinor);
  return isOld
    ? { isUsable: false, why: `its server ${major}.${minor} is older than ${oldestServer.join('.')}` }
    : { isUsable: true };
}

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
  // the start will download or build it
  if (sources.onlyLook === true && ((await mayDownload(sources)) || (await findGo(sources)) !== undefined)) {
    return builtProgramPath(sources, server);
  }
  if (sources.onlyLook !== true) {
    const made = (await downloadBinary(sources, onProgress)) ?? (await buildProgram(sources, server, onProgress));
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
  const cached = [basename(builtProgramPath(sources, server)), ...downloaded];
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
async function downloadBinary(sources: BinarySources, onProgress: (line: string) => void): Promise<string | undefined> {
  const { cacheFolder, downloadHost } = sources;
  if (!(await mayDownload(sources))) {
    onProgress(`no Temporal server can be downloaded: ${downloadHost} cannot be reached`);
    return undefined;
  }
  onProgress(`downloading the Temporal server from ${downloadHost} (about 60 MB, once)`);
  await mkdir(cacheFolder, { recursive: true });
  const logFile = join(cacheFolder, 'download.log');
  const args = [builtProgram('worker/embedded-temporal/download-program'), cacheFolder];
  const child = startGuardedChild({ command: process.execPath, args, logFile, env: toolEnvironment() });
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

/** Behind a proxy, only the download itself shows whether it works. */
async function mayDownload({ downloadHost, hasProxy }: BinarySources): Promise<boolean> {
  return hasProxy || (await canConnect(downloadHost, 443));
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
