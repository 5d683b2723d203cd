import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Environment, processEnvironment } from '../../config/environment.js';
import { packageRoot } from '../../base/package-root.js';
import { accessSync, constants, statSync } from 'node:fs';
import { execFile } from 'node:child_process';

/** Where a Temporal server may come from. */
export interface BinarySources {
  /** Named by a person (`TEMPORAL_BINARY`): taken, or refused with a sentence, and nothing else is tried. */
  readonly explicit: string | undefined;
  /** Folders to look for `temporal` in, in order. */
  readonly searchFolders: readonly string[];
  /** Where a downloaded or built server is kept for later starts, of all projects of this user. */
  readonly cacheFolder: string;
  /** The Go module that builds the official server (`go.mod`, `go.sum`). */
  readonly goModule: string;
  /** The vendor's, from which the SDK downloads. */
  readonly downloadHost: string;
  /** A proxy stands between us and the download, so that it may be reachable although a direct connection is not. */
  readonly hasProxy: boolean;
  /** Take what is there and make nothing. */
  readonly onlyLook?: boolean;
}

/** The sources of this user on this machine. */
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

/** The programs of a name in some folders, in the order of the folders. */
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

/** The first server whose development mode has all that we start it with and use. Ours is built as 1.31. */
const oldestServer = [1, 27] as const;

/** What a program called `temporal` turned out to be. */
export type ServerCheck = { readonly isUsable: true } | { readonly isUsable: false; readonly why: string };

/** Asks a `temporal` program for its version. A download that was cut, or one of another machine, does not answer. */
export async function checkServer(binary: string): Promise<ServerCheck> {
  const output = await new Promise<string | undefined>((resolve) => {
    execFile(binary, ['--version'], { timeout: 15_000, env: {} }, (error, stdout) =>
      resolve(error === null ? stdout : undefined),
    );
  });
  // temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)
  const [, major, minor] = /\(Server (\d+)\.(\d+)/.exec(output ?? '') ?? [];
  if (major === undefined || minor === undefined) return { isUsable: false, why: 'it does not run, or is no Temporal' };
  const [oldestMajor, oldestMinor] = oldestServer;
  const isOld = Number(major) < oldestMajor || (Number(major) === oldestMajor && Number(minor) < oldestMinor);
  return isOld
    ? { isUsable: false, why: `its server ${major}.${minor} is older than ${oldestServer.join('.')}` }
    : { isUsable: true };
}
