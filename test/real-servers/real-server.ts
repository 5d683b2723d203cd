import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { until } from '../until.js';

/** Folder into which `npm run real-servers` puts what no package of the system has. */
const own = join(__dirname, '../../.cache/real-servers');

/**
 * Returns the path of a program: from `npm run real-servers`, from the PATH, where Debian has servers, or where Go installs
 * programs. Undefined, and a sentence on standard error, if there is none.
 * @param how how to get it
 */
export function findServer(name: string, how: string): string | undefined {
  const folders = [
    join(own, 'bin'),
    join(own, 'python/bin'),
    ...(process.env['PATH'] ?? '').split(delimiter),
    '/usr/sbin',
    join(homedir(), 'go/bin'),
  ];
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (found === undefined) process.stderr.write(`${name} is not installed (${how}), so its tests were left out\n`);
  return found;
}

/** Describes tests that need a program, or skips them. */
export function withServer(found: string | undefined): jest.Describe {
  return found === undefined ? describe.skip : describe;
}

/** A server that runs until `stop`. */
export interface RealServer {
  /** Everything that it printed. */
  readonly output: () => string;
  stop(): Promise<void>;
}

/** Starts a server and waits until it is ready. @param isReady asks it; may throw until it answers */
export async function startServer(
  [program, ...args]: readonly [string, ...string[]],
  isReady: () => Promise<boolean>,
  env: Readonly<Record<string, string>> = {},
): Promise<RealServer> {
  const child: ChildProcess = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const exited = once(child, 'exit');
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    await exited;
  };
  try {
    await until(`${program} is ready`, async () => {
      if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}: ${printed}`);
      return await isReady().catch(() => false);
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { output: () => printed, stop };
}

/** Whether a command succeeds. */
export function succeeds(...[program, ...args]: readonly [string, ...string[]]): boolean {
  return spawnSync(program, args).status === 0;
}
