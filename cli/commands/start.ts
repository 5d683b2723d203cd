import { codeOf } from '../../base/errors.js';
import { isLoopback } from '../../base/loopback.js';
import { type CliCommand, exampleText, type Context } from '../command.js';
import { relative, basename, dirname, extname, join } from 'node:path';
import { isatty } from 'node:tty';
import type { Config } from '../../operations/load-process-config.js';
import type { ProcessLog } from '../../worker/log.js';
import type { ProcessRole } from '../../worker/start-process.js';
import { tokensForCommands } from '../../worker/instance-file.js';
import { apiClient } from '../api-client.js';
import type { Output } from '../output.js';
import { CommandError, ExitCode, wrongUse } from '../exit-code.js';
import { findInstance } from '../find-instance.js';
import { StartDisplay, type StartReport } from './start-screen.js';
import { isStopping, untilStopped } from '../until-stopped.js';
import { closeSync, openSync, renameSync, statSync } from 'node:fs';

const logLevelText = `
Environment:
  PIGEONPOST_LOG  log level: trace, debug, info (default),
                  warn, error or silent`;

export function addStart(program: CliCommand): void {
  program
    .command('start')
    .description('Read, deliver and serve the API; the store and Temporal are embedded unless addresses are configured')
    .option('--accept-config', 'use this file even if a newer one was applied', false)
    .option('--adopt', 'use a ledger that was used with another Temporal', false)
    .option('--plain', 'print log lines instead of the live screen', false)
    .addHelpText('after', `${logLevelText}\n${exampleText('start', 'start --config acme.yaml')}`)
    .runs((context, options: Omit<StartOptions, 'role'>) => start(context, { ...options, role: 'start' }), {
      offline: 'start',
      holdsSignals: true,
    });
}

export function addWorker(program: CliCommand): void {
  program
    .command('worker')
    .description('Read and deliver without serving the API, sharing PostgreSQL and Temporal with other processes')
    .option('--listen <host:port>', 'address for /healthz, /readyz and /metrics, such as 127.0.0.1:9464')
    .addHelpText(
      'after',
      `${logLevelText}\n${exampleText('worker --config acme.yaml', 'worker --listen 127.0.0.1:9464')}`,
    )
    .runs((context, options: Omit<StartOptions, 'role'>) => start(context, { ...options, role: 'worker' }), {
      offline: 'worker',
      holdsSignals: true,
    });
}

export function addApi(program: CliCommand): void {
  program
    .command('api')
    .description('Serve only the HTTP API and the page, sharing PostgreSQL and Temporal with the workers')
    .addHelpText('after', `${logLevelText}\n${exampleText('api --config acme.yaml')}`)
    .runs((context) => start(context, { role: 'api' }), { offline: 'api', holdsSignals: true });
}

interface StartOptions {
  readonly acceptConfig?: boolean;
  readonly adopt?: boolean;
  /**
   * `start`: reads, delivers and serves the API. Store and Temporal are embedded unless addresses are configured.
   * `worker` and `api`: one of the two halves, which shares both with other processes.
   */
  readonly role: ProcessRole;
  /** Host and port at which a worker serves probes and metrics. */
  readonly listen?: string | undefined;
  /** Whether to print log lines instead of the screen on a terminal. */
  readonly plain?: boolean;
}

/**
 * `pigeonpost start`, `pigeonpost worker` and `pigeonpost api`: run until SIGTERM or Ctrl-C, then drain and exit with
 * 0. On a terminal, `start` shows a screen and logs to a file. Otherwise the log goes to standard error, and standard
 * output has the address of the page (except for `worker`) and a line with "ready". That line appears after the first
 * page from the service, or for `api`, once it serves.
 */
async function start({ config, out }: Context, options: StartOptions): Promise<ExitCode> {
  const { startProcess } = await import('../../worker/start-process.js');
  const { loadProcessConfig } = await import('../../operations/load-process-config.js');
  const { installRuntime } = await import('../../worker/install-runtime.js');
  const { binarySources } = await import('../../worker/embedded-temporal/find-binary.js');
  const loaded = await loadProcessConfig(config);
  const { role } = options;
  if (role !== 'start' && (loaded.store.kind === 'embedded' || loaded.temporal.address === 'embedded')) {
    throw wrongUse(
      `${role === 'worker' ? 'a worker' : 'an API process'} shares its store and Temporal with other processes: set store to a PostgreSQL URL and set temporal.address, or run "pigeonpost start"`,
    );
  }
  const probesAt = options.listen === undefined ? null : hostAndPort(options.listen);
  requireTokenOffLoopback(probesAt, loaded);
  const { log, report } = await openReport(out, loaded, { hasScreen: role === 'start' && options.plain !== true });
  const stop = untilStopped();
  const workspaces = Object.keys(loaded.workspaces);
  try {
    const temporalMetricsAddress = await installRuntime(log);
    if (isStopping()) return ExitCode.Done;
    const starting = startProcess({
      config: loaded,
      log,
      acceptConfiguration: options.acceptConfig === true,
      adopt: options.adopt === true,
      role,
      probesAt,
      temporalMetricsAddress,
      binarySources: binarySources(),
      onProgress: (line) => report.step(line),
    });
    const running = await Promise.race([starting, stop.then(() => undefined)]).catch(async (error: unknown) => {
      throw (await alreadyRuns(error, loaded)) ?? error;
    });
    if (running === undefined) return await endDuringStart(starting, report);
    const { api, pageLink, firstPage } = running;
    if (role === 'api') out.line(`ready: serving ${api?.url}, while workers read and deliver`);
    if (api !== undefined && pageLink !== undefined) {
      const [token] = tokensForCommands(loaded);
      report.serving(
        apiClient(() => Promise.resolve({ url: api.url, token })),
        pageLink,
      );
    } else if (api !== undefined) out.note(`probes: ${api.url}/readyz`);
    if (role !== 'api') {
      report.step(`waiting for the first page of ${workspaces.join(', ')}`);
      // Not earlier: after this line, operators and scripts use the page and the API.
      firstPage.then(() => report.ready(workspaces)).catch(() => undefined);
    }
    try {
      await Promise.race([stop, running.failed]);
    } finally {
      report.stopping();
      await running.stop();
    }
    return ExitCode.Done;
  } finally {
    report.end();
  }
}

/** Returns the error for a port that the process of the same configuration uses; undefined for any other error. */
async function alreadyRuns(error: unknown, config: Config): Promise<CommandError | undefined> {
  const { isListenError } = await import('../../worker/failure-kind.js');
  if (!isListenError(error)) return undefined;
  const running = await findInstance(config).catch(() => undefined); // if another program uses the port, the original error says so
  if (running === undefined) return undefined;
  return new CommandError(
    ExitCode.Failed,
    `pigeonpost already runs with this configuration at ${running.url}: "pigeonpost status" shows it. To start it again, stop it first`,
  );
}

/**
 * Returns the report for this output: the screen on a terminal, otherwise lines. If standard error is redirected, the
 * log is written there.
 */
async function openReport(
  out: Output,
  { file }: Config,
  { hasScreen }: { readonly hasScreen: boolean },
): Promise<{ log: ProcessLog; report: StartReport }> {
  const { openLog } = await import('../../worker/log.js');
  const { logLevel } = await import('../../operations/command-input.js');
  const level = logLevel();
  if (hasScreen && out.terminal && !isatty(2)) {
    return { log: openLog(level), report: new StartDisplay(out, 'on standard error') };
  }
  if (hasScreen && out.terminal) {
    try {
      const destination = openLogFile(file);
      return {
        log: openLog(level, { destination, terminal: false }),
        report: new StartDisplay(out, shownPath(destination)),
      };
    } catch (error) {
      out.note(`the log cannot be written beside ${file} (${codeOf(error)}), so log lines are shown here`);
    }
  }
  const log = openLog(level);
  return { log, report: lineReport(out, log) };
}

/** Returns a path relative to the current folder, if it is inside. */
function shownPath(file: string): string {
  const path = relative(process.cwd(), file);
  return path.startsWith('..') ? file : `./${path}`;
}

function lineReport(out: Output, log: ProcessLog): StartReport {
  let phase: 'start' | 'stop' = 'start';
  return {
    step: (text) => log.info({ step: phase }, text),
    serving: (_api, pageLink) => out.line(`page: ${pageLink()}`),
    ready: (workspaces) => out.line(`ready: reading ${workspaces.join(', ')}`),
    stopping: () => {
      phase = 'stop';
      log.info({ step: phase }, 'stopping; a second signal ends the process immediately');
    },
    end: () => undefined,
  };
}

function hostAndPort(text: string): { host: string; port: number } {
  const [, bracketed, plain, port] = /^(?:\[([0-9a-fA-F:]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host !== undefined && Number(port) <= 65_535) return { host, port: Number(port) };
  throw wrongUse(`"${text}" is not a host and port: give an address such as --listen 127.0.0.1:9464`);
}

function requireTokenOffLoopback(at: { readonly host: string } | null, { server }: Config): void {
  if (at === null || isLoopback(at.host) || server.token !== undefined) return;
  throw wrongUse(
    `other machines can reach ${at.host}, so /metrics needs a token: set server.token, or listen on 127.0.0.1`,
  );
}

type StartProcess = (typeof import('../../worker/start-process.js'))['startProcess'];

/**
 * Stops after a signal that arrived during the start. The parts that have started stop in order. The step in progress
 * ends with the process.
 */
async function endDuringStart(
  starting: Promise<Awaited<ReturnType<StartProcess>> | undefined>,
  report: StartReport,
): Promise<ExitCode> {
  report.stopping();
  report.step('waiting up to 8 s for the step in progress');
  const patience = new Promise<undefined>((resolve) => setTimeout(resolve, 8000, undefined).unref());
  const running = await Promise.race([starting.catch(() => undefined), patience]);
  await running?.stop();
  return ExitCode.Done;
}

/** Size above which `start` renames the existing log. */
const maxBytes = 20 * 1024 * 1024;

/**
 * Returns the log file used while the terminal shows the screen, beside the configuration and named after it. Appends
 * to an existing log, or renames it to end in `.1` if it is large. Only the owner can read a new log.
 * @throws {NodeJS.ErrnoException} if it cannot be written
 */
export function openLogFile(configuration: string): string {
  const name = basename(configuration, extname(configuration));
  const file = join(dirname(configuration), `${name}.log`);
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > maxBytes) renameSync(file, `${file}.1`);
  closeSync(openSync(file, 'a', 0o600));
  return file;
}
