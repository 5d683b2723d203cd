import { renameSync, statSync, writeFileSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type ChildExit, type GuardedChild, startGuardedChild } from '../guarded-child.js';
import { EmbeddedTemporalError } from '../process-errors.js';
import { freePort } from './free-port.js';
import { untilServing } from './until-serving.js';
import { execFileSync } from 'node:child_process';

export interface EmbeddedTemporalOptions {
  /** Holds `temporal.sqlite` and the log. The caller has locked it. */
  readonly folder: string;
  /** From `findBinary`. */
  readonly binary: string;
  readonly namespace?: string;
  /** Of the frontend, on loopback; a free one unless given. */
  readonly port?: number;
  /** `temporal.log` in the folder unless given. */
  readonly logFile?: string;
  /** The server ended by itself and is being started again, at the same address. Workers reconnect by themselves. */
  readonly onRestart?: (reason: string) => void;
  /** It ended too often: this process cannot do its work any more. */
  readonly onFatal?: (error: Error) => void;
}

export interface EmbeddedTemporal {
  /** `127.0.0.1:port`, the same for the life of this object. */
  readonly address: string;
  readonly namespace: string;
  /** Of the server that runs now. */
  readonly pid: number | undefined;
  /** Ends the server within three seconds. A second call does nothing more. */
  stop(): Promise<void>;
}

class EndedAtStartError extends EmbeddedTemporalError {}

/** Longer than any start that was seen (1.3 s after a kill under load), for a machine that is very busy. */
const startTimeoutMs = 60_000;
/** It stops its services in order within two; its data survive a SIGKILL, so waiting longer gains nothing. */
const stopTimeoutMs = 2500;
const maxLogBytes = 10 * 1024 * 1024;

/** Its services listen on ports that it finds itself, and that another process may take first: then once more. */
const firstStarts = 3;
/** More failed starts in a row are no accident: the disk is full, the file is broken, memory is short. */
const maxFailedStarts = 5;
/** Each end within this time makes the next restart wait longer, up to the longest pause. */
const restartWindowMs = 10 * 60_000;
const longestPauseMs = 5000;

/**
 * What the development server is told. `synchronous=1` in WAL mode survived kills under load; the next two settings cut
 * the time of an activity to a fifth (measured: 15–20 ms instead of 50–100). Timers are read a second ahead unless told
 * otherwise, and one that is set within that second fires at its end: a poll each second began every 1.3 s, and begins
 * every 1.0 s now.
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
];

/**
 * Starts Temporal's development server as a guarded child and waits until it answers and knows the namespace. When
 * it ends by itself it is started again, with growing pauses.
 * @throws {EmbeddedTemporalError} when it does not start; the message names its log
 */
export async function startEmbeddedTemporal(options: EmbeddedTemporalOptions): Promise<EmbeddedTemporal> {
  await mkdir(options.folder, { recursive: true });
  for (let starts = 1; ; starts += 1) {
    const server = new SupervisedServer(options, options.port ?? (await freePort()));
    try {
      await server.start();
      return server;
    } catch (error) {
      if (!(error instanceof EndedAtStartError) || starts === firstStarts) throw error;
    }
  }
}

/** Starting → serving → (ended by itself → pause → starting)… → stopped, or given up. */
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

  /** Starts the child and waits until it serves; when it does not, it is gone afterwards. */
  async #serve(): Promise<GuardedChild> {
    await endStaleServer(this.#pidFile, this.#database);
    this.#turnLog();
    const child = startGuardedChild({
      command: this.options.binary,
      args: [
        'server',
        'start-dev',
        '--ip=127.0.0.1',
        `--port=${this.port}`,
        `--namespace=${this.namespace}`,
        `--db-filename=${this.#database}`,
        ...serverArgs,
      ],
      env: { HOME: homedir() }, // none of our secrets; it looks for its own settings there
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

  /** Runs until `stop`, or until the server does not start any more. */
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
      if (this.#isStopping) await child?.stop(stopTimeoutMs); // `stop` came before there was a child to stop
    }
  }

  /** The first restart is immediate, since whatever works here waits for it. */
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

  /** Keeps one older log, so that a server that complains for months does not fill the disk. */
  #turnLog(): void {
    const size = statSync(this.#logFile, { throwIfNoEntry: false })?.size ?? 0;
    if (size > maxLogBytes) renameSync(this.#logFile, `${this.#logFile}.1`);
  }
}

function ending({ code, signal }: ChildExit): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`;
}

const endTimeoutMs = 5000;

/**
 * Kills a server that still uses a database file, of a process that is gone. Its guard should have ended it; two
 * servers on one file start without complaint and fight, so this looks once more. Only a process whose command line
 * names the file is touched, since the number may have been given to another by now.
 * @param pidFile what the last start wrote
 */
export async function endStaleServer(pidFile: string, databaseFile: string): Promise<void> {
  const pid = readPid(pidFile);
  if (pid === undefined || !commandLineOf(pid).includes(databaseFile)) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    return; // it ended by itself just now
  }
  const end = Date.now() + endTimeoutMs;
  while (commandLineOf(pid).includes(databaseFile)) {
    if (Date.now() > end)
      throw new Error(`process ${pid} still uses ${databaseFile} and cannot be ended: end it first`);
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

/** Empty when there is no such process, or it has ended and only its number is left. */
function commandLineOf(pid: number): string {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return '';
  }
}
