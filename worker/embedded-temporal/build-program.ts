import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { type Environment, processEnvironment } from '../../config/environment.js';
import { type FolderLock, lockFolder } from '../../ledger/drivers/folder-lock.js';
import { StoreError } from '../../ledger/drivers/store-error.js';
import { startGuardedChild } from '../guarded-child.js';

/** A program that the Go module `tools/temporal` builds. */
export interface GoProgram {
  /** Name of the built file, before its version. */
  readonly name: string;
  /** The program in a sentence, such as "the Temporal server". */
  readonly what: string;
  /** Its package. */
  readonly package: string;
  /** The module whose version, from `go.mod`, is part of the file's name. */
  readonly module: string;
  /** Duration of a build without Go's cache on two cores, in a sentence: "about 8 minutes". */
  readonly takes: string;
}

/** Folders in which programs are built and found. */
export interface BuildPlace {
  /** Folders to search for `go`, in order. */
  readonly searchFolders: readonly string[];
  /** Folder for built programs, shared by all projects of this user. */
  readonly cacheFolder: string;
  /** The Go module (`go.mod`, `go.sum`). */
  readonly goModule: string;
}

/** Returns the programs with this name in these folders, in the order of the folders. */
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

/** The version in `go.mod`. An older Go would download a newer one without the user's consent. */
const oldestGo = [1, 26, 4] as const;
/** Time limit for Go to print its version, for a busy disk. */
const versionTimeoutMs = 60_000;
const progressEveryMs = 5000;

/**
 * Returns the environment of a download or a build: paths, proxies and certificates, and settings of Go. Everything else
 * may be a secret, such as an API key.
 */
export function toolEnvironment(environment: Environment = processEnvironment()): Record<string, string> {
  const known =
    /^(?:PATH|HOME|USER|LANG|LC_ALL|TMPDIR|XDG_CACHE_HOME|(?:https?|no)_proxy|SSL_CERT_(?:FILE|DIR)|NODE_EXTRA_CA_CERTS|GO(?:PATH|ROOT|CACHE|MODCACHE|PROXY|SUMDB|NOSUMDB|PRIVATE|NOPROXY|INSECURE|FLAGS|TMPDIR|TOOLCHAIN)|CGO_ENABLED)$/i;
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value !== undefined && known.test(name) ? [[name, value]] : [],
    ),
  );
}

/** Returns the path of the program built from this version of the Go module. */
export function builtProgramPath({ cacheFolder, goModule }: BuildPlace, { name, module }: GoProgram): string {
  const [, version = 'unknown'] = new RegExp(String.raw`\s${module} v(\S+)`).exec(readGoMod(goModule)) ?? [];
  return join(cacheFolder, `${name}-${version}`);
}

/** Returns this machine's Go if it is new enough. */
export async function findGo({ searchFolders, goModule }: BuildPlace): Promise<string | undefined> {
  const [go] = programsNamed('go', searchFolders);
  if (go === undefined || readGoMod(goModule) === '') return undefined;
  const version = await new Promise<string>((resolve) => {
    execFile(go, ['env', 'GOVERSION'], { timeout: versionTimeoutMs, env: toolEnvironment() }, (error, stdout) =>
      resolve(error === null ? stdout : ''),
    );
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
 * Builds a program through Go modules (from the module proxy, checked against the committed `go.sum`) into the cache. A
 * second process waits for the first and uses its result; an interrupted build leaves no usable file.
 * @returns undefined if there is no Go or the build fails; `onProgress` receives the reason
 */
export async function buildProgram(
  place: BuildPlace,
  program: GoProgram,
  onProgress: (line: string) => void,
): Promise<string | undefined> {
  const go = await findGo(place);
  if (go === undefined) {
    onProgress(`${program.what} cannot be built: Go ${oldestGo.join('.')} or newer is not installed`);
    return undefined;
  }
  const binary = builtProgramPath(place, program);
  const lock = await lockWhenFree(join(place.cacheFolder, 'build'), program, onProgress);
  try {
    if (existsSync(binary)) return binary; // another process built it while we waited
    return await build(go, { place, program, binary }, onProgress);
  } finally {
    await lock.release();
  }
}

async function build(
  go: string,
  { place: { cacheFolder, goModule }, program, binary }: { place: BuildPlace; program: GoProgram; binary: string },
  onProgress: (line: string) => void,
): Promise<string | undefined> {
  await mkdir(cacheFolder, { recursive: true });
  const unfinished = `${binary}.new`;
  const logFile = join(cacheFolder, 'build.log');
  await rm(logFile, { force: true });
  const startedAt = Date.now();
  const tell = (): void => {
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    onProgress(`building ${program.what} with Go, once: ${seconds} s so far, ${program.takes} in all`);
  };
  tell();
  const telling = setInterval(tell, progressEveryMs);
  // Leaving out the symbols makes the program a third smaller. Version control data is left out, because the module is
  // not part of our repository.
  const args = ['build', '-buildvcs=false', '-ldflags=-s -w', '-o', unfinished, program.package];
  const { code } = await startGuardedChild({ command: go, args, cwd: goModule, logFile, env: toolEnvironment() })
    .exited;
  clearInterval(telling);
  if (code !== 0) {
    await rm(unfinished, { force: true });
    onProgress(`${program.what} could not be built: see ${logFile}`);
    return undefined;
  }
  await rename(unfinished, binary);
  return binary;
}

async function lockWhenFree(
  folder: string,
  program: GoProgram,
  onProgress: (line: string) => void,
): Promise<FolderLock> {
  for (;;) {
    try {
      return await lockFolder(folder);
    } catch (error) {
      if (!(error instanceof StoreError) || error.kind !== 'locked') throw error;
      onProgress(`another pigeonpost is building ${program.what}: waiting for it`);
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
