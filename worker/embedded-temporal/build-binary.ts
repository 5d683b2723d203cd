import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type FolderLock, lockFolder } from '../../ledger/drivers/folder-lock.js';
import { StoreError } from '../../ledger/drivers/store-error.js';
import { startGuardedChild } from '../guarded-child.js';
import { type BinarySources, programsNamed } from './binary-sources.js';

/** The version in `go.mod`. An older Go would download a newer one without the user's consent. */
const oldestGo = [1, 26, 4] as const;
const progressEveryMs = 5000;
const serverPackage = 'github.com/temporalio/cli/cmd/temporal';

/** Returns the path of the server built from this version of the Go module. */
export function builtBinaryPath({ cacheFolder, goModule }: BinarySources): string {
  const [, version = 'unknown'] = /\bgithub\.com\/temporalio\/cli v(\S+)/.exec(readGoMod(goModule)) ?? [];
  return join(cacheFolder, `temporal-${version}`);
}

/** Returns this machine's Go if it is new enough. */
export async function findGo({ searchFolders, goModule }: BinarySources): Promise<string | undefined> {
  const [go] = programsNamed('go', searchFolders);
  if (go === undefined || readGoMod(goModule) === '') return undefined;
  const version = await new Promise<string>((resolve) => {
    execFile(go, ['env', 'GOVERSION'], { timeout: 15_000 }, (error, stdout) => resolve(error === null ? stdout : ''));
  });
  const found = /^go(\d+)\.(\d+)(?:\.(\d+))?/
    .exec(version)
    ?.slice(1, 4)
    .map((part) => Number(part ?? 0));
  if (found === undefined) return undefined;
  const difference = oldestGo.map((wanted, index) => (found[index] ?? 0) - wanted).find((delta) => delta !== 0);
  return (difference ?? 0) >= 0 ? go : undefined;
}

/**
 * Builds the official server through Go modules (from the module proxy, checked against the committed `go.sum`) into
 * the cache: about eight minutes on two cores the first time. A second process waits for the first and uses its result;
 * an interrupted build leaves no usable file.
 * @returns undefined if there is no Go or the build fails; `onProgress` receives the reason
 */
export async function buildBinary(
  sources: BinarySources,
  onProgress: (line: string) => void,
): Promise<string | undefined> {
  const go = await findGo(sources);
  if (go === undefined) {
    onProgress(`no Temporal server can be built: Go ${oldestGo.join('.')} or newer is not installed`);
    return undefined;
  }
  const binary = builtBinaryPath(sources);
  const lock = await lockWhenFree(join(sources.cacheFolder, 'build'), onProgress);
  try {
    if (existsSync(binary)) return binary; // another process built it while we waited
    return await build(go, sources, binary, onProgress);
  } finally {
    await lock.release();
  }
}

async function build(
  go: string,
  { cacheFolder, goModule }: BinarySources,
  binary: string,
  onProgress: (line: string) => void,
): Promise<string | undefined> {
  await mkdir(cacheFolder, { recursive: true });
  const unfinished = `${binary}.new`;
  const logFile = join(cacheFolder, 'build.log');
  await rm(logFile, { force: true });
  const startedAt = Date.now();
  const tell = (): void => {
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    onProgress(`building the Temporal server with Go, once: ${seconds} s so far, about 8 minutes in all`);
  };
  tell();
  const telling = setInterval(tell, progressEveryMs);
  // Without symbols, a third smaller. Without version control data, because the module is not part of our repository.
  const args = ['build', '-buildvcs=false', '-ldflags=-s -w', '-o', unfinished, serverPackage];
  const { code } = await startGuardedChild({ command: go, args, cwd: goModule, logFile }).exited;
  clearInterval(telling);
  if (code !== 0) {
    await rm(unfinished, { force: true });
    onProgress(`the Temporal server could not be built: see ${logFile}`);
    return undefined;
  }
  await rename(unfinished, binary);
  return binary;
}

async function lockWhenFree(folder: string, onProgress: (line: string) => void): Promise<FolderLock> {
  for (;;) {
    try {
      return await lockFolder(folder);
    } catch (error) {
      if (!(error instanceof StoreError) || error.kind !== 'locked') throw error;
      onProgress('another pigeonpost is building the Temporal server: waiting for it');
      await new Promise((resolve) => setTimeout(resolve, progressEveryMs));
    }
  }
}

function readGoMod(goModule: string): string {
  try {
    return readFileSync(join(goModule, 'go.mod'), 'utf8');
  } catch {
    return '';
  }
}
