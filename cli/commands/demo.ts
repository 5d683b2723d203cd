import { sumOf } from '../../base/words.js';
import { type CliCommand, wholeNumber, type Context } from '../command.js';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { packageRoot } from '../../base/package-root.js';
import { compareEverything, reportComparison } from '../demo/compare.js';
import { createDemoDisplay, type DemoView } from '../demo/demo-screen.js';
import { claimDemoFolder, type DemoFolder } from '../demo/demo-folder.js';
import { type DemoStatement, makeDemoStatement, reportStatement } from '../demo/demo-statement.js';
import { DemoObserver, DemoProcesses, type Surroundings } from '../demo/demo-processes.js';
import { CommandError, ExitCode, wrongUse } from '../exit-code.js';
import { untilStopped } from '../until-stopped.js';
import { spawn } from 'node:child_process';

export function addDemo(program: CliCommand): void {
  program
    .command('demo')
    .description(
      'Run a complete demo, as "npm start" does: a sandbox with live traffic, and sinks that receive its changes',
    )
    .option(
      '--once',
      'run without live traffic: wait until everything is delivered, compare the sinks with the source, and exit',
      false,
    )
    .option('--attendees <n>', 'size of the conference', wholeNumber(1_000_000), 500)
    .option('--rate <n>', 'live events per second', wholeNumber(1000), 2)
    .option('--seed <n>', 'random seed of the conference', wholeNumber(2 ** 31 - 1, 0), 1)
    .option(
      '--folder <path>',
      'folder of the demo; each run first deletes the files of the previous run',
      './demo-data',
    )
    .examples('demo', 'demo --once --attendees 1000')
    .runs(demo, { offline: 'demo', holdsSignals: true });
}

const showEveryMs = 1000;

/**
 * `pigeonpost demo`, which `npm start` runs: a conference with live traffic, a webhook receiver, stand-ins for HubSpot
 * and Slack, and pigeonpost between them, until Ctrl-C. With `--once` there is no live traffic, and the command exits
 * when everything is settled: 0 if the number of items in the source equals delivered plus withheld for each list and
 * sink, else 1. It also exits with 1 and a message if one of its processes stops unexpectedly.
 */
async function demo({ out }: Context, options: DemoOptions): Promise<ExitCode> {
  if (!existsSync(join(packageRoot(), 'dist/ledger/new-store'))) {
    throw wrongUse('the container image does not include the demo: run "npm start" in a clone of the repository');
  }
  const stopped = untilStopped();
  const folder = await claimDemoFolder(options.folder, options);
  const processes = new DemoProcesses(folder, options);
  const ended = new AbortController();
  const show = createDemoDisplay(out, (line) => (options.once ? out.note(line) : out.line(line)));
  const observer = new DemoObserver(folder, processes);
  const look = async (): Promise<DemoView> => {
    const view = await observer.look();
    if (!ended.signal.aborted) show(view);
    return view;
  };
  try {
    processes.start();
    const work = options.once
      ? compareOnce(look, processes, folder).then(({ comparison, statement }) => () => {
          const compared = reportComparison(comparison, out);
          const stated = reportStatement(statement, out);
          return compared === ExitCode.Done ? stated : compared;
        })
      : watch(look);
    const stop = stopped.then(() => () => (options.once ? interrupted() : ExitCode.Done));
    const finish = await Promise.race([stop, processes.failed, work]);
    ended.abort();
    return finish();
  } finally {
    ended.abort();
    out.note('stopping the processes of the demo');
    await processes.stop();
    await folder.release();
  }
}

/** Shows the state of the demo until the process ends. */
async function watch(look: () => Promise<DemoView>): Promise<never> {
  for (;;) {
    await look();
    await pause(showEveryMs);
  }
}

async function compareOnce(
  look: () => Promise<DemoView>,
  processes: DemoProcesses,
  folder: DemoFolder,
): Promise<{ comparison: Awaited<ReturnType<typeof compareEverything>>; statement: DemoStatement }> {
  const { status, source } = await untilSettled(look);
  const { apiUrl, ...surroundings } = processes.addresses as Surroundings & { readonly apiUrl: string };
  const comparison = await compareEverything({ ...surroundings, archive: folder.archive }, status);
  return { comparison, statement: await makeDemoStatement(apiUrl, folder, source) };
}

function interrupted(): never {
  throw new CommandError(ExitCode.Failed, 'stopped before everything was settled, so nothing was compared');
}

export interface DemoOptions {
  readonly once: boolean;
  readonly folder: string;
  readonly attendees: number;
  readonly rate: number;
  readonly seed: number;
}

const lookEveryMs = 1000;
/**
 * The run fails if nothing changes during this time. It is long enough for every step, because even the build of
 * Temporal reports progress every few seconds.
 */
const giveUpAfterMs = 5 * 60_000;

/**
 * Waits until everything is delivered or withheld.
 * @param look reads the current state; calls never overlap
 * @returns the settled state
 * @throws {CommandError} if nothing has changed for five minutes
 */
export async function untilSettled(
  look: () => Promise<DemoView>,
  clock: { now: () => number; pauseMs?: number } = { now: Date.now },
): Promise<SettledView> {
  let progress = '';
  let movedAt = clock.now();
  for (;;) {
    const view = await look();
    if (isSettled(view)) return view;
    const seen = progressOf(view);
    if (seen !== progress) movedAt = clock.now();
    progress = seen;
    if (clock.now() - movedAt > giveUpAfterMs) {
      throw new CommandError(
        ExitCode.Failed,
        `nothing changed for 5 minutes while the demo was waiting for everything to settle (${lastWords(view)}): see the logs in the demo's folder`,
      );
    }
    await pause(clock.pauseMs ?? lookEveryMs);
  }
}

/** The state of a demo in which everything is settled. */
type SettledView = DemoView & { readonly [Part in 'source' | 'status']: NonNullable<DemoView[Part]> };

/**
 * Whether the whole source is settled. The API may report settled before every pigeonhole was found, so this also
 * compares their number with the source. The demo's sync selects all pigeonholes, so nothing may be withheld as not
 * selected.
 */
export function isSettled(view: DemoView): view is SettledView {
  const { source, status } = view;
  if (source === null || status === null || !status.settled) return false;
  if (status.sinks.some(({ withheld }) => (withheld['not-selected'] ?? 0) > 0)) return false;
  const read = new Set(status.workspaces.flatMap(({ pigeonholes }) => pigeonholes.map(({ id }) => id)));
  return source.pigeonholes.every(({ id }) => read.has(id));
}

function progressOf({ note, status }: DemoView): string {
  return JSON.stringify([
    note,
    status?.workspaces.map(({ pigeonholes }) => pigeonholes.map(({ id, changes, streams }) => [id, changes, streams])),
    status?.sinks.map(({ delivered, backlog, withheld }) => [delivered, backlog, sumOf(withheld)]),
  ]);
}

function lastWords({ note, status }: DemoView): string {
  if (status === null) return note ?? 'pigeonpost has not started';
  const trouble = [...status.workspaces, ...status.sinks].find(({ state }) => state !== 'working');
  if (trouble === undefined) return 'no problems reported';
  return `${trouble.name} is ${trouble.state}${trouble.reason === null ? '' : `: ${trouble.reason}`}`;
}

/** Adds `pigeonpost sandbox`, which parses its own options and prints its own help. */
export function addSandbox(program: CliCommand): void {
  program
    .command('sandbox')
    .description('Run a local stand-in for the Event Engagement Service with live traffic; see "sandbox --help"')
    .allowUnknownOption()
    .helpOption(false)
    .argument('[options...]')
    .runs(sandbox, { offline: 'sandbox' });
}

/** `pigeonpost sandbox …`: runs the sandbox as a child process, with its own options and output. */
async function sandbox(_: Context, options: readonly string[]): Promise<ExitCode> {
  const child = spawn(process.execPath, [join(__dirname, '../../sandbox/main.js'), ...options], { stdio: 'inherit' });
  // The terminal sends Ctrl-C to the child as well, but a SIGTERM reaches only this process.
  process.on('SIGINT', () => undefined);
  process.once('SIGTERM', () => child.kill('SIGTERM'));
  return await new Promise((resolve) => {
    child.once('exit', (code) =>
      resolve(code === 0 ? ExitCode.Done : code === 2 ? ExitCode.WrongUse : ExitCode.Failed),
    );
  });
}
