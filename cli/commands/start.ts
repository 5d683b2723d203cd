import { binarySources } from '../../worker/embedded-temporal/binary-sources.js';
import { installRuntime } from '../../worker/install-runtime.js';
import { type Config, loadProcessConfig, logLevel } from '../../worker/load-process-config.js';
import { openLog } from '../../worker/log.js';
import { type ProcessRole, startProcess } from '../../worker/start-process.js';
import type { Context } from '../context.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { isStopping, untilStopped } from '../until-stopped.js';

export interface StartOptions {
  readonly acceptConfig: boolean;
  readonly adopt: boolean;
  /** `start`: everything, embedded unless addresses are configured. `worker` and `api`: one of its halves, beside others. */
  readonly role: ProcessRole;
  /** Of a worker: host and port at which it answers probes and metrics. */
  readonly listen?: string | undefined;
}

/**
 * `pigeonpost start`, `pigeonpost worker` and `pigeonpost api`: runs until SIGTERM or Ctrl-C, then drains and ends with
 * 0. Prints a line with "ready" once the service has given a first page, or, where it reads none, once it serves.
 */
export async function start({ config, out }: Context, options: StartOptions): Promise<ExitCode> {
  const loaded = await loadProcessConfig(config);
  const { role } = options;
  if (role !== 'start' && (loaded.store.kind === 'embedded' || loaded.temporal.address === 'embedded')) {
    throw new CommandError(
      ExitCode.WrongUse,
      `${role === 'worker' ? 'a worker' : 'an API process'} shares its store and Temporal with others: set store to a PostgreSQL URL and temporal.address, or use "pigeonpost start"`,
    );
  }
  const probesAt = options.listen === undefined ? null : hostAndPort(options.listen);
  requireTokenOffLoopback(probesAt, loaded);
  const log = openLog(logLevel());
  const stop = untilStopped();
  const temporalMetricsAddress = await installRuntime(log);
  if (isStopping()) return ExitCode.Done;
  const starting = startProcess({
    config: loaded,
    log,
    acceptConfiguration: options.acceptConfig,
    adopt: options.adopt,
    role,
    probesAt,
    temporalMetricsAddress,
    binarySources: binarySources(),
    onProgress: (line) => out.note(line),
    onFirstPage: () => out.line(`ready: reading ${Object.keys(loaded.workspaces).join(', ')}`),
  });
  const running = await Promise.race([starting, stop.then(() => undefined)]);
  if (running === undefined) return await endDuringStart(starting);
  if (role === 'api') out.line(`ready: serving ${running.api?.url}, while workers read and deliver`);
  if (running.pageLink !== undefined) out.note(`page: ${running.pageLink}`);
  else if (running.api !== undefined) out.note(`probes: ${running.api.url}/readyz`);
  try {
    await Promise.race([stop, running.failed]);
  } finally {
    await running.stop();
  }
  return ExitCode.Done;
}

function hostAndPort(text: string): { host: string; port: number } {
  const [, bracketed, plain, port] = /^(?:\[([0-9a-fA-F:]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host !== undefined && Number(port) <= 65_535) return { host, port: Number(port) };
  throw new CommandError(ExitCode.WrongUse, `"${text}" is no host and port: write --listen 127.0.0.1:9464`);
}

function requireTokenOffLoopback(at: { readonly host: string } | null, { server }: Config): void {
  if (at === null || isOwnMachine(at.host) || server.token !== undefined) return;
  throw new CommandError(
    ExitCode.WrongUse,
    `others can reach ${at.host}, so /metrics needs a token: set server.token, or listen on 127.0.0.1`,
  );
}

function isOwnMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

/** Told to stop before everything was there: what is under way ends with the process, the parts that stand end in order. */
async function endDuringStart(starting: ReturnType<typeof startProcess>): Promise<ExitCode> {
  const patience = new Promise<undefined>((resolve) => setTimeout(resolve, 8000, undefined).unref());
  const running = await Promise.race([starting.catch(() => undefined), patience]);
  await running?.stop();
  return ExitCode.Done;
}
