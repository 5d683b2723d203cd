import type { Command } from 'commander';
import { exampleText, type Run } from '../command-options.js';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { packageRoot } from '../../base/package-root.js';
import type { Context } from '../context.js';
import { compareEverything, reportComparison } from '../demo/compare.js';
import { createDemoDisplay, type DemoDisplay } from '../demo/demo-display.js';
import { claimDemoFolder, type DemoFolder } from '../demo/demo-folder.js';
import { DemoObserver } from '../demo/demo-observer.js';
import { DemoProcesses } from '../demo/demo-processes.js';
import { untilSettled } from '../demo/until-settled.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { untilStopped } from '../until-stopped.js';

/** Adds `pigeonpost demo`. */
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
    .option('--attendees <n>', 'size of the conference', '500')
    .option('--rate <n>', 'live events a second', '2')
    .option('--seed <n>', 'seed of everything random in the conference', '1')
    .option(
      '--folder <path>',
      'folder of the demo; each run first deletes the files of the previous run',
      './demo-data',
    )
    .addHelpText('after', exampleText('demo', 'demo --once --attendees 1000'))
    .action((options: DemoArguments) => run((context) => demo(context, options)));
}

const showEveryMs = 1000;

/**
 * `pigeonpost demo`, which `npm start` runs: a conference with live traffic, a webhook receiver, stand-ins for HubSpot
 * and Slack, and pigeonpost between them, until Ctrl-C. With `--once` there is no live traffic, and the command exits
 * when everything is settled: 0 if the number of items in the source equals delivered plus withheld for each list and
 * sink, else 1. It also exits with 1 and a message if one of its processes stops unexpectedly.
 */
export async function demo({ out }: Context, given: DemoArguments): Promise<ExitCode> {
  const options = readDemoOptions(given);
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
  /** Does nothing once the run has ended. */
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

/** Validated options of `demo`. */
export interface DemoOptions {
  readonly once: boolean;
  readonly folder: string;
  readonly attendees: number;
  /** Live events a second. */
  readonly rate: number;
  readonly seed: number;
}

/** Options as typed. */
export interface DemoArguments {
  readonly once: boolean;
  readonly folder: string;
  readonly attendees: string;
  readonly rate: string;
  readonly seed: string;
}

/** @throws {CommandError} exit code 2 for the first number out of range */
export function readDemoOptions(given: DemoArguments): DemoOptions {
  return {
    once: given.once,
    folder: given.folder,
    attendees: wholeNumber('--attendees', given.attendees, 1, 1_000_000),
    rate: wholeNumber('--rate', given.rate, 1, 1000),
    seed: wholeNumber('--seed', given.seed, 0, 2 ** 31 - 1),
  };
}

function wholeNumber(option: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new CommandError(ExitCode.WrongUse, `${option} is "${text}": give a whole number from ${least} to ${most}`);
}
