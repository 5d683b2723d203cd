import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { freeTestPort } from '../../test/free-port.js';
import type { LrsTarget } from './lrs-client.test-kit.js';

const FOLDER = resolve(__dirname, '../../.cache/real-lrs');
const SERVER = join(FOLDER, 'node_modules/@learninglocker/xapi-statements/dist/server.js');

/** Installs the LRS outside the project, because its licence is the GPL. Nothing of it is built or committed. */
export const INSTALL_REAL_LRS =
  'npm install --prefix .cache/real-lrs --ignore-scripts @learninglocker/xapi-statements@7.8.0';

export const isRealLrsInstalled: boolean = existsSync(SERVER);

export interface RealLrs {
  readonly target: LrsTarget;
  stop(): Promise<void>;
}

/** Starts Learning Locker's conformance-tested statements service, in memory and on loopback. */
export async function startRealLrs(): Promise<RealLrs> {
  const port = await freeTestPort(); // the server needs a port and does not report one
  const child = spawn(process.execPath, ['--require', join(__dirname, 'guard-real-lrs.cjs'), SERVER], {
    cwd: FOLDER,
    // Only these variables, so that the server receives nothing from the developer's environment.
    env: {
      AUTH_REPO: 'test',
      EVENTS_REPO: 'test',
      MODELS_REPO: 'memory',
      STORAGE_REPO: 'memory',
      SERVICE_AWAIT_UPDATES: 'true',
      EXPRESS_PORT: String(port),
      PATH: process.env['PATH'],
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let log = '';
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const exited = once(child, 'exit');
  const outcome = await Promise.race([once(child, 'message'), exited.then(() => 'exited' as const)]);
  if (outcome === 'exited') throw new Error(`the real LRS ended before it was ready: ${log.slice(0, 1000)}`);
  return {
    target: {
      endpoint: `http://127.0.0.1:${port}/xAPI`,
      username: 'any', // accounts need a database; without one, the server accepts everyone except this user:
      password: 'any',
      refusedAuthorization: 'Basic missing_token',
    },
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
