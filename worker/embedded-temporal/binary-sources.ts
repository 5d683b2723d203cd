import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Environment, processEnvironment } from '../../config/environment.js';
import { packageRoot } from '../../base/package-root.js';
import { accessSync, constants, statSync } from 'node:fs';
import { execFile } from 'node:child_process';

/** Sources of a Temporal server. */
export interface BinarySources {
  /** Path from `TEMPORAL_BINARY`. If it cannot be used, nothing else is tried. */
  readonly explicit: string | undefined;
  /** Folders to search for `temporal`, in order. */
  readonly searchFolders: readonly string[];
  /** Folder for downloaded and built servers, shared by all projects of this user. */
  readonly cacheFolder: string;
  /** The Go module that builds the official server (`go.mod`, `go.sum`). */
  readonly goModule: string;
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

/** Returns the programs of a name in some folders, in the order of the folders. */
export function programsNamed(name: string, folders: readonly string[]): string[] {
  return folders.map((folder) => join(folder, name)).filter(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile(); // a folder is "executable" too
  } catch {
    return false;
  }
}

/** The oldest server whose development mode supports all our options. We build 1.31. */
const oldestServer = [1, 27] as const;

/** Whether a program called `temporal` can be used. */
export type ServerCheck = { readonly isUsable: true } | { readonly isUsable: false; readonly why: string };

/** Runs `temporal --version`. An incomplete download or a program for another machine does not answer. */
export async function checkServer(binary: string): Promise<ServerCheck> {
  const output = await new Promise<string | undefined>((resolve) => {
    execFile(binary, ['--version'], { timeout: 15_000, env: {} }, (error, stdout) =>
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
