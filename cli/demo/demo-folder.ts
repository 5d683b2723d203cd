import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CommandError, ExitCode } from '../exit-code.js';

/** The places of one run of the demo. All but `shown` are absolute. */
export interface DemoFolder {
  readonly path: string;
  /** As the user wrote it, for a person to read. */
  readonly shown: string;
  readonly config: string;
  /** Folder of the embedded store. */
  readonly store: string;
  /** Folder of the file sink. */
  readonly archive: string;
  /** Log of the webhook receiver. */
  readonly receipts: string;
  readonly logs: string;
  /** Says that nobody uses the folder any more. What the run has written stays, until the next one. */
  release(): Promise<void>;
}

const claimFile = 'demo.json';
/** Files of a run, which the next run deletes. Nothing else in the folder is touched. */
const madeByRun = ['archive', 'data', 'logs', 'pigeonpost.yaml', 'receipts.ndjson'];
/** Folder of `--once`, so that it does not disturb a demo that is kept. */
const onceFolder = 'once';

/**
 * Takes the demo's folder for a run and empties it of the run before.
 *
 * Every run begins afresh, because the sandbox does: it makes its conference up from the seed, and what its live
 * traffic added is gone when it ends. A ledger that was kept would remember people and questions which its source has
 * never heard of, then find others under the same ids, and no count would agree again.
 *
 * @param once takes a folder inside of it instead
 * @throws {CommandError} when another demo uses it, or when it holds something that no demo has written
 */
export async function claimDemoFolder(folder: string, { once }: { once: boolean }): Promise<DemoFolder> {
  const shown = once ? join(folder, onceFolder) : folder;
  const path = resolve(shown);
  try {
    await mkdir(path, { recursive: true });
    await refuseForeign(path, shown);
    for (const name of madeByRun) await rm(join(path, name), { recursive: true, force: true });
    await mkdir(join(path, 'logs'));
    await writeFile(join(path, claimFile), claimText(process.pid));
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new CommandError(
      ExitCode.Failed,
      `the demo cannot use ${shown} (${code}): name another folder with --folder`,
      {
        cause: error,
      },
    );
  }
  return {
    path,
    shown,
    config: join(path, 'pigeonpost.yaml'),
    store: join(path, 'data'),
    archive: join(path, 'archive'),
    receipts: join(path, 'receipts.ndjson'),
    logs: join(path, 'logs'),
    release: () => writeFile(join(path, claimFile), claimText(null)),
  };
}

async function refuseForeign(path: string, shown: string): Promise<void> {
  const entries = await readdir(path);
  if (!entries.includes(claimFile)) {
    if (entries.every((name) => name === onceFolder)) return;
    throw new CommandError(
      ExitCode.WrongUse,
      `${shown} holds other files: name an empty or a new folder with --folder`,
    );
  }
  const user = readClaim(await readFile(join(path, claimFile), 'utf8'));
  if (user !== null && user !== process.pid && isDemoRunning(user)) {
    throw new CommandError(
      ExitCode.Failed,
      `a demo in ${shown} is running as process ${user}: end that one first, or name another folder with --folder`,
    );
  }
}

function claimText(pid: number | null): string {
  return `${JSON.stringify({ what: 'a folder of "pigeonpost demo"; each run begins afresh', pid })}\n`;
}

function readClaim(text: string): number | null {
  try {
    const { pid } = JSON.parse(text) as { pid?: unknown };
    return typeof pid === 'number' ? pid : null;
  } catch {
    return null; // its writing was cut short, so that run is over
  }
}

/** A number outlives its process, and may be another program's by now; on Linux the command line is checked. */
function isDemoRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  if (process.platform !== 'linux') return true;
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes('demo');
  } catch {
    return false;
  }
}
