import { renameSync, statSync, writeFileSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { setTimeout as passes } from 'node:timers/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type ChildExit, type GuardedChild, startGuardedChild } from '../guarded-child.js';
import { EmbeddedTemporalError } from '../failure-kind.js';
import { freePort, freePortClosedToBrowsers } from './free-port.js';
import { execFileSync } from 'node:child_process';
import { connect } from 'node:net';
import { Connection } from '@temporalio/client';

interface EmbeddedTemporalOptions {
  /** Contains `temporal.sqlite` and the log. The caller holds its lock. */
  readonly folder: string;
  /** From `findBinary`. */
  readonly binary: string;
  readonly namespace?: string;
  /** Port of the frontend on loopback; by default a free one. */
  readonly port?: number;
  /** By default `temporal.log` in the folder. */
  readonly logFile?: string;
  /**
   * Called when the server ended unexpectedly and is restarted at the same address. Workers reconnect automatically.
   */
  readonly onRestart?: (reason: string) => void;
  /** Called when the server cannot be restarted and this process can no longer work. */
  readonly onFatal?: (error: Error) => void;
}

export interface EmbeddedTemporal {
  /** `127.0.0.1:port`, constant for the life of this object. */
  readonly address: string;
  readonly namespace: string;
  /** Process id of the current server. */
  readonly pid: number | undefined;
  /** Stops the server within three seconds. A second call returns the same promise. */
  stop(): Promise<void>;
}

class EndedAtStartError extends EmbeddedTemporalError {}

/**
 * Time limit of a start. It is much longer than any measured start (1.3 s after a kill under load), to allow for a very
 * busy machine.
 */
const startTimeoutMs = 60_000;
/** The server stops its services within 2 s. Its data survives SIGKILL, so a longer wait gains nothing. */
const stopTimeoutMs = 2500;
const maxLogBytes = 10 * 1024 * 1024;

/**
 * Number of attempts for the first start. The server chooses ports for its services, and another program may take one
 * of them before the server listens.
 */
const firstStarts = 3;
const maxFirstPauseMs = 500;
/**
 * Number of failed restarts in a row after which the process gives up. The cause is then permanent, such as a full
 * disk, a broken file or too little memory.
 */
const maxFailedStarts = 5;
/** Each failure within this time makes the pause before the next restart longer, up to `longestPauseMs`. */
const restartWindowMs = 10 * 60_000;
const longestPauseMs = 5000;

/**
 * Arguments of the development server.
 * - With `synchronous=1` in WAL mode, its data survived kills under load.
 * - The next two settings reduce the time of an activity to a fifth (measured: 15–20 ms instead of 50–100).
 * - By default, the server reads timers one second ahead, and a timer set within that second fires only at its end.
 *   With the third setting, a poll with an interval of one second starts every 1.0 s instead of every 1.3 s.
 * - The HTTP API cannot be switched off, and any page in a browser can send it a simple request. The last setting lets
 *   it accept only a host name that no request can have (decision 0047).
 */
const serverArgs = [
  '--headless',
  '--log-level=warn',
  '--log-format=json',
  '--sqlite-pragma=journal_mode=wal',
  '--sqlite-pragma=synchronous=1',
  '--dynamic-config-value=system.enableActivityEagerExecution=true',
  '--dynamic-config-value=history.transferProcessorMaxPollRPS=100',
  '--dynamic-config-value=history.timerProcessorMaxTimeShift="50ms"',
  '--dynamic-config-value=frontend.httpAllowedHosts=["/"]',
];

/**
 * Starts Temporal's development server as a guarded child process and waits until it answers and knows the namespace.
 * If the server ends unexpectedly, it is restarted after a pause that grows with each failure.
 * @throws {EmbeddedTemporalError} if it does not start; the message names its log file
 */
export async function startEmbeddedTemporal(options: EmbeddedTemporalOptions): Promise<EmbeddedTemporal> {
  await mkdir(options.folder, { recursive: true, mode: 0o700 });
  for (let starts = 1; ; starts += 1) {
    const server = new SupervisedServer(options, options.port ?? (await freePort()));
    try {
      await server.start();
      return server;
    } catch (error) {
      if (!(error instanceof EndedAtStartError) || starts === firstStarts) throw error;
      // Programs that start at the same moment would choose from the same few ports again.
      await passes(Math.random() * maxFirstPauseMs);
    }
  }
}

/**
 * Supervises the server. States: starting → serving → (ended unexpectedly → pause → starting)… → stopped, or failed.
 */
class SupervisedServer implements EmbeddedTemporal {
  readonly address: string;
  readonly namespace: string;
  readonly #database: string;
  readonly #pidFile: string;
  readonly #logFile: string;
  #child: GuardedChild | undefined;
  #isStopping = false;
  #stopped: Promise<void> | undefined;
  #wake: () => void = () => undefined;
  #supervising: Promise<void> = Promise.resolve();
  readonly #endedAt: number[] = [];

  constructor(
    private readonly options: EmbeddedTemporalOptions,
    private readonly port: number,
  ) {
    this.address = `127.0.0.1:${port}`;
    this.namespace = options.namespace ?? 'default';
    this.#database = join(options.folder, 'temporal.sqlite');
    this.#pidFile = join(options.folder, 'temporal.pid');
    this.#logFile = options.logFile ?? join(options.folder, 'temporal.log');
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async start(): Promise<void> {
    const child = await this.#serve();
    this.#supervising = this.#supervise(child);
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#isStopping = true;
    this.#wake();
    await this.#child?.stop(stopTimeoutMs);
    await this.#supervising;
  }

  /** Starts the child and waits until it serves; if it does not, the child is stopped. */
  async #serve(): Promise<GuardedChild> {
    await endStaleServer(this.#pidFile, this.#database);
    this.#rotateLog();
    // Routes for Nexus and metrics do not check the host, so pages must not reach these ports at all.
    const httpPort = await freePortClosedToBrowsers();
    const metricsPort = await freePortClosedToBrowsers([httpPort]);
    const child = startGuardedChild({
      command: this.options.binary,
      args: [
        'server',
        'start-dev',
        '--ip=127.0.0.1',
        `--port=${this.port}`,
        `--http-port=${httpPort}`,
        `--metrics-port=${metricsPort}`,
        `--namespace=${this.namespace}`,
        `--db-filename=${this.#database}`,
        ...serverArgs,
      ],
      env: { HOME: homedir() }, // none of our secrets; the server reads its settings from HOME
      cwd: this.options.folder,
      logFile: this.#logFile,
    });
    this.#child = child;
    if (child.pid !== undefined) writeFileSync(this.#pidFile, `${child.pid}\n`);
    const serving = new AbortController();
    try {
      await Promise.race([
        untilServing(this.address, this.namespace, startTimeoutMs, serving.signal),
        child.exited.then((exit) => {
          throw new EndedAtStartError(
            `the embedded Temporal server ended at its start (${ending(exit)}): see ${this.#logFile}`,
          );
        }),
      ]);
      return child;
    } catch (error) {
      await child.stop(0);
      if (error instanceof EmbeddedTemporalError) throw error;
      throw new EmbeddedTemporalError(`${(error as Error).message}: see ${this.#logFile}`, { cause: error });
    } finally {
      serving.abort();
    }
  }

  /** Runs until `stop`, or until the server can no longer be started. */
  async #supervise(first: GuardedChild): Promise<void> {
    let failedStarts = 0;
    for (let child: GuardedChild | undefined = first; ;) {
      const reason: string = child === undefined ? 'it did not start again' : ending(await child.exited);
      if (this.#isStopping) return;
      failedStarts = child === undefined ? failedStarts + 1 : 0;
      if (failedStarts === maxFailedStarts) {
        this.options.onFatal?.(
          new EmbeddedTemporalError(
            `the embedded Temporal server did not start ${failedStarts} times in a row: see ${this.#logFile}`,
          ),
        );
        return;
      }
      this.options.onRestart?.(reason);
      await this.#pause(this.#pauseBeforeRestart());
      if (this.#isStopping) return;
      child = await this.#serve().catch(() => undefined);
      if (this.#isStopping) await child?.stop(stopTimeoutMs); // `stop` was called before the child existed
    }
  }

  /**
   * Returns the pause before the next restart. The first restart is immediate, because all work waits for the server.
   */
  #pauseBeforeRestart(): number {
    const now = Date.now();
    while ((this.#endedAt[0] ?? now) < now - restartWindowMs) this.#endedAt.shift();
    this.#endedAt.push(now);
    return Math.min((2 ** (this.#endedAt.length - 1) - 1) * 500, longestPauseMs);
  }

  #pause(pauseMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, pauseMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Renames a large log file. Only one older file is kept, so that months of warnings do not fill the disk. */
  #rotateLog(): void {
    const size = statSync(this.#logFile, { throwIfNoEntry: false })?.size ?? 0;
    if (size > maxLogBytes) renameSync(this.#logFile, `${this.#logFile}.1`);
  }
}

function ending({ code, signal }: ChildExit): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`;
}

const endTimeoutMs = 5000;

/**
 * Kills a server that a dead process left behind and that still uses the database file. Its guard should have stopped
 * it, but two servers on one file corrupt each other's work, so this checks again. It only kills a process whose
 * command line names the file, because the process id may have been reused.
 * @param pidFile file with the process id, written by the last start
 */
async function endStaleServer(pidFile: string, databaseFile: string): Promise<void> {
  const pid = readPid(pidFile);
  if (pid === undefined || !commandLineOf(pid).includes(databaseFile)) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    return; // it ended just now
  }
  const end = Date.now() + endTimeoutMs;
  while (commandLineOf(pid).includes(databaseFile)) {
    if (Date.now() > end)
      throw new Error(`process ${pid} still uses ${databaseFile} and cannot be stopped: stop it first`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function readPid(pidFile: string): number | undefined {
  try {
    const pid = Number(readFileSync(pidFile, 'utf8').trim());
    return Number.isInteger(pid) && pid > 1 ? pid : undefined;
  } catch {
    return undefined; // the first start in this folder
  }
}

/** Returns the command line of a process; an empty text if the process does not exist or is a zombie. */
function commandLineOf(pid: number): string {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return '';
  }
}

const retryEveryMs = 50;

/**
 * Waits until a Temporal server listens, answers, and knows the namespace.
 * @param signal stops waiting without an error
 * @throws if that takes longer than `timeoutMs`
 */
async function untilServing(address: string, namespace: string, timeoutMs: number, signal: AbortSignal): Promise<void> {
  const end = Date.now() + timeoutMs;
  while (!signal.aborted) {
    // Tests the port first, because a refused gRPC client waits a second before it retries.
    if ((await listens(address)) && (await knows(address, namespace))) return;
    if (Date.now() > end) throw new Error(`Temporal at ${address} does not serve namespace ${namespace}`);
    await new Promise((resolve) => setTimeout(resolve, retryEveryMs));
  }
}

function listens(address: string): Promise<boolean> {
  const [host, port] = address.split(':');
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port) });
    const settle = (isListening: boolean): void => {
      socket.destroy();
      resolve(isListening);
    };
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });
}

async function knows(address: string, namespace: string): Promise<boolean> {
  const connection = Connection.lazy({ address });
  try {
    await connection.withDeadline(Date.now() + 2000, () => connection.workflowService.describeNamespace({ namespace }));
    return true;
  } catch {
    return false; // still starting: its services start one after the other
  } finally {
    await connection.close();
  }
}
