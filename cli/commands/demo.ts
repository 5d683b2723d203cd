import { sumOf } from '../../base/words.js';
import type { Command } from 'commander';
import { exampleText, wholeNumber, type Run, type Context } from '../command.js';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { packageRoot } from '../../base/package-root.js';
import { compareEverything, reportComparison } from '../demo/compare.js';
import { createDemoDisplay, type DemoDisplay, type DemoView } from '../demo/demo-screen.js';
import { claimDemoFolder, type DemoFolder } from '../demo/demo-folder.js';
import { DemoProcesses } from '../demo/demo-processes.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { untilStopped } from '../until-stopped.js';
import type { Status } from '../../operations/status-view.js';
import { tokenFileOfStore } from '../../worker/instance-file.js';
import { type ApiClient, apiClient } from '../api-client.js';
import { pageLink } from './open.js';
import {
  hubSpotState,
  hubSpotSummary,
  sandboxState,
  type SandboxState,
  slackState,
  slackSummary,
} from '../demo/stand-in-state.js';

export function addDemo(program: Command, run: Run): void {
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
    .addHelpText('after', exampleText('demo', 'demo --once --attendees 1000'))
    .action((options: DemoOptions) =>
      run((context) => demo(context, options), { offline: 'demo', holdsSignals: true }),
    );
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
    throw new CommandError(
      ExitCode.WrongUse,
      'the container image does not include the demo: run "npm start" in a clone of the repository',
    );
  }
  const stopped = untilStopped();
  const folder = await claimDemoFolder(options.folder, options);
  const processes = new DemoProcesses(folder, options);
  const ended = new AbortController();
  const show = createDemoDisplay(out, (line) => (options.once ? out.note(line) : out.line(line)));
  const run: DemoRun = {
    folder,
    processes,
    observer: new DemoObserver(folder, processes),
    display: (view) => (ended.signal.aborted ? undefined : show(view)),
  };
  try {
    processes.start();
    const work = options.once
      ? compareOnce(run).then((comparison) => () => reportComparison(comparison, out))
      : watch(run);
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

interface DemoRun {
  readonly folder: DemoFolder;
  readonly processes: DemoProcesses;
  readonly observer: DemoObserver;
  /** Shows the state. Does nothing after the run has ended. */
  readonly display: DemoDisplay;
}

/** Shows the state of the demo until the process ends. */
async function watch({ observer, display }: DemoRun): Promise<never> {
  for (;;) {
    display(await observer.look());
    await pause(showEveryMs);
  }
}

async function compareOnce({ folder, processes, observer, display }: DemoRun): ReturnType<typeof compareEverything> {
  const settled = await untilSettled(async () => {
    const view = await observer.look();
    display(view);
    return view;
  });
  const { sandboxUrl, receiverUrl, hubSpotUrl, slackUrl } = processes.addresses;
  return await compareEverything(
    {
      sandboxUrl: sandboxUrl!,
      receiverUrl: receiverUrl!,
      hubSpotUrl: hubSpotUrl!,
      slackUrl: slackUrl!,
      archive: folder.archive,
    },
    settled,
  );
}

function interrupted(): never {
  throw new CommandError(ExitCode.Failed, 'stopped before everything was settled, so nothing was compared');
}

/** Options of `demo`. */
export interface DemoOptions {
  readonly once: boolean;
  readonly folder: string;
  readonly attendees: number;
  /** Live events a second. */
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
 * @returns the settled status
 * @throws {CommandError} if nothing has changed for five minutes
 */
export async function untilSettled(
  look: () => Promise<DemoView>,
  clock: { now: () => number; pauseMs?: number } = { now: Date.now },
): Promise<Status> {
  let progress = '';
  let movedAt = clock.now();
  for (;;) {
    const view = await look();
    if (view.status !== null && isSettled(view)) return view.status;
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

/**
 * Whether the whole source is settled. The API may report settled before every pigeonhole was found, so this also
 * compares their number with the source. The demo's sync selects all pigeonholes, so nothing may be withheld as not
 * selected.
 */
export function isSettled({ source, status }: DemoView): boolean {
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

/**
 * The interval at which the stand-ins are read. It is longer than that of pigeonpost, because they return their whole
 * content, which grows.
 */
const lookAtStandInsEveryMs = 3000;
/** Interval at which the link is renewed: links expire after ten minutes. */
const renewLinkEveryMs = 5 * 60_000;

/** Reads the state of a running demo from the control APIs of the stand-ins and pigeonpost's own API. */
class DemoObserver {
  readonly #folder: DemoFolder;
  readonly #processes: DemoProcesses;
  readonly #startedAt = Date.now();
  #source: SandboxState | null = null;
  #status: DemoView['status'] = null;
  #contacts = '';
  #messages = '';
  #lookedAtStandInsAt = -Infinity;
  #link: string | null = null;
  #linkMadeAt = -Infinity;

  constructor(folder: DemoFolder, processes: DemoProcesses) {
    this.#folder = folder;
    this.#processes = processes;
  }

  /**
   * Returns the state of the demo. Values that cannot be read now keep their last state, and `note` says so.
   * `DemoProcesses` detects processes that have ended.
   */
  async look(): Promise<DemoView> {
    const notes = [this.#processes.stage];
    const { sandboxUrl, apiUrl } = this.#processes.addresses;
    try {
      if (sandboxUrl !== undefined) this.#source = await sandboxState(sandboxUrl);
      if (apiUrl !== undefined) await this.#lookAtPigeonpost(apiUrl);
      await this.#lookAtStandIns();
    } catch (error) {
      notes.push(`not up to date: ${error instanceof Error ? error.message : String(error)}`);
    }
    return {
      note: notes.find((note) => note !== null) ?? null,
      runningForMs: Date.now() - this.#startedAt,
      source: this.#source,
      status: this.#status,
      places: this.#places(),
    };
  }

  async #lookAtPigeonpost(apiUrl: string): Promise<void> {
    const token = readFileSync(tokenFileOfStore(this.#folder.store), 'utf8').trim();
    const client = apiClient(() => Promise.resolve({ url: apiUrl, token }));
    this.#status = await client.status({ counts: true });
    await this.#renewLink(apiUrl, client);
  }

  async #renewLink(apiUrl: string, client: ApiClient): Promise<void> {
    const now = Date.now();
    if (now - this.#linkMadeAt < renewLinkEveryMs) return;
    this.#link = pageLink(apiUrl, await client.createPageCode());
    this.#linkMadeAt = now;
  }

  async #lookAtStandIns(): Promise<void> {
    const { hubSpotUrl, slackUrl } = this.#processes.addresses;
    const now = Date.now();
    if (hubSpotUrl === undefined || slackUrl === undefined) return;
    if (now - this.#lookedAtStandInsAt < lookAtStandInsEveryMs) return;
    this.#lookedAtStandInsAt = now;
    this.#contacts = hubSpotSummary(await hubSpotState(hubSpotUrl));
    this.#messages = slackSummary(await slackState(slackUrl));
  }

  #places(): DemoView['places'] {
    const { hubSpotUrl, slackUrl } = this.#processes.addresses;
    return [
      ...(this.#link === null ? [] : [{ label: 'page', place: this.#link, holds: '' }]),
      ...(slackUrl === undefined ? [] : [{ label: 'messages', place: slackUrl, holds: this.#messages }]),
      ...(hubSpotUrl === undefined ? [] : [{ label: 'contacts', place: hubSpotUrl, holds: this.#contacts }]),
      { label: 'files', place: this.#folder.shown, holds: 'archive, receipts.ndjson, pigeonpost.yaml, logs' },
    ];
  }
}
