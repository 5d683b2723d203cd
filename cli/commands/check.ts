import { InvalidArgumentError } from 'commander';
import type { CliCommand, Context } from '../command.js';
import type { CheckContext } from '../../worker/check.js';
import {
  type CheckOf,
  checkOf,
  type CheckResult,
  type CheckRun,
  type CheckState,
  isOf,
  runChecks,
  selections,
} from '../../operations/checks.js';
import type { Config } from '../../operations/load-process-config.js';
import type { Estimate } from '../../operations/calendar-demand.js';
import { checkPort } from '../checks/check-port.js';
import { checkSinks, type SinkFindings } from '../checks/check-sinks.js';
import { formatEstimate } from '../checks/estimate-lines.js';
import { ExitCode } from '../exit-code.js';
import { type Output, printLabelled, whileWaiting } from '../output.js';
import type { Style } from '../text-line.js';
import { isRunning } from '../find-instance.js';
import { counted } from '../../base/words.js';

export function addCheck(program: CliCommand): void {
  program
    .command('check')
    .description(
      'Check the configuration, each key, each sink, each drop folder, and everything that would stop a start; changes nothing',
    )
    .option('--estimate', 'also estimate the number of requests per calendar day', false)
    .option('--quota <n>', 'request quota per day for --estimate, if the service does not report it', toRequests)
    .json()
    .examples('check', 'check --estimate --quota 10000')
    .runs(
      (context, { quota = null, ...options }: { json: boolean; estimate: boolean; quota?: number | null }) =>
        check(context, { ...options, quota }),
      { offline: 'check' },
    );
}

function toRequests(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count > 0) return count;
  throw new InvalidArgumentError('give a whole number of requests, such as 10000');
}

/** Time limit of an estimate, which makes one or two requests per pigeonhole, one after another. */
const estimateTimeoutMs = 10 * 60_000;

/**
 * `pigeonpost check`: checks the configuration, each key, each sink, each drop folder, the store, Temporal and the port
 * of the API, and prints a line for each. Notes list the number of people each sink receives, fields that a mapping
 * reads but no stored item has, and mappings that could not be checked. A mapping that withholds a whole list is a
 * problem. With `--estimate` it also estimates the requests for the busiest day of the calendar. Exit 0 without
 * problems, 2 for an invalid configuration, 3 when something cannot be reached, 1 for a refusal. Notes do not change
 * the exit code.
 */
export async function check(
  { config, out }: Context,
  {
    json,
    estimate: wantsEstimate,
    quota,
    isLast = true,
  }: {
    readonly json: boolean;
    readonly estimate: boolean;
    readonly quota: number | null;
    /** Whether to print a verdict and the next command. */
    readonly isLast?: boolean;
  },
): Promise<ExitCode> {
  const { loadProcessConfig } = await import('../../operations/load-process-config.js');
  const loaded = await loadProcessConfig(config);
  const results: CheckResult[] = [];
  const runs = await runsOf(loaded, { file: config, quota, results });
  const names = wantsEstimate ? ([...selections.check, 'estimate'] as const) : selections.check;
  for await (const each of runChecks(names, runs, await contextOf(loaded))) {
    results.push(each);
    if (!json) printCheck(out, each);
  }
  if (json) {
    const notes = results.filter(({ state }) => state === 'note');
    const document = {
      results: results.filter(({ state }) => state !== 'note').map(inShort),
      warnings: loaded.warnings,
      notes: notes.filter((each) => !isEstimate(each) && !isOf(each, 'configuration')).map(({ says }) => says),
      ...(wantsEstimate ? { estimates: notes.filter(isEstimate).map(({ estimate }) => estimate) } : {}),
    };
    out.line(JSON.stringify(document));
  }
  if (!json && isLast) {
    const isStarted = await isRunning(loaded);
    out.line('');
    for (const line of verdictOf(results, config, isStarted)) out.line(line);
  }
  if (results.some(({ state }) => state === 'failed')) return ExitCode.Failed;
  return results.some(({ state }) => state === 'unknown') ? ExitCode.Unreachable : ExitCode.Done;
}

/** A note with the table of an estimate. */
interface EstimateResult extends CheckResult<'note'> {
  readonly estimate: Estimate;
}

function isEstimate(result: CheckResult): result is EstimateResult {
  return 'estimate' in result;
}

/** Returns how each check of the command is made. @param quota requests a day, for `--estimate` @param results those so far */
async function runsOf(
  config: Config,
  { file, quota, results }: { readonly file: string; readonly quota: number | null; readonly results: CheckResult[] },
) {
  const { estimate } = await import('../../operations/calendar-demand.js');
  const { standaloneChecks } = await import('../../worker/check.js');
  let findings: Promise<SinkFindings> | undefined;
  const found = async (): Promise<SinkFindings> =>
    await (findings ??= whileWaiting('checking the mappings with stored items', () => checkSinks(config)));
  return {
    ...standaloneChecks,
    configuration: async () => {
      const about = checkOf('configuration', 'configuration');
      const warnings = config.warnings.map(({ line, key, message }) => `${file}:${line}: ${key}: ${message}`);
      return [about.ok(`${file} is valid`), ...warnings.map((text) => about.note(text))];
    },
    server: async () => await checkPort(config),
    mapping: async () => (await found()).mapping,
    consent: async () => (await found()).consent,
    'profile-fields': async () => (await found())['profile-fields'],
    async *estimate() {
      if (results.some((each) => isOf(each, 'workspace') && each.state !== 'ok')) return;
      const signal = AbortSignal.timeout(estimateTimeoutMs);
      const about = checkOf('estimate', 'estimate');
      for await (const each of estimate(config, { quota, now: Date.now(), signal })) {
        yield { ...about.note(each.advice.text), estimate: each };
      }
    },
  } satisfies Readonly<Record<CheckOf<'check'> | 'estimate', CheckRun<CheckContext>>>;
}

/** Returns the dependencies of the checks of an installation. */
export async function contextOf(config: Config): Promise<CheckContext> {
  const { binarySources } = await import('../../worker/embedded-temporal/find-binary.js');
  const surroundings = { binarySources: binarySources(), isRunning: () => isRunning(config) };
  return { config, surroundings, signal: AbortSignal.timeout(60_000) };
}

function printCheck(out: Output, result: CheckResult): void {
  const { label, state, says } = result;
  if (isEstimate(result)) {
    for (const line of formatEstimate(result.estimate)) out.line(line);
  } else {
    printLabelled(out, marks[state].label, state === 'note' ? says : `${label}: ${says}`);
  }
}

/** The level of a result in the terminal, and in JSON documents. */
const marks: Readonly<Record<CheckState, { readonly label: readonly [string, Style]; readonly word: string }>> = {
  ok: { label: ['ok', 'green'], word: 'ok' },
  note: { label: ['note', 'yellow'], word: 'note' },
  warning: { label: ['warning', 'yellow'], word: 'warning' },
  failed: { label: ['PROBLEM', 'red'], word: 'refused' },
  unknown: { label: ['PROBLEM', 'red'], word: 'unreachable' },
};

/** A result in a JSON document and in a bug report. */
export interface CheckInShort {
  readonly what: string;
  readonly result: string;
  readonly text: string;
}

/** Returns a result as JSON documents and bug reports show it. */
export function inShort({ label, state, says }: CheckResult): CheckInShort {
  return { what: label, result: marks[state].word, text: says };
}

/** Returns the verdict on a configuration, and the next command. Pure. */
export function verdictOf(results: readonly Pick<CheckResult, 'state'>[], file: string, runs: boolean): string[] {
  const count = (...wanted: CheckState[]): number => results.filter(({ state }) => wanted.includes(state)).length;
  const [problems, warnings] = [count('failed', 'unknown'), count('warning')];
  const command = (name: string): string =>
    file === './pigeonpost.yaml' ? `pigeonpost ${name}` : `pigeonpost ${name} --config ${file}`;
  if (problems > 0) {
    return [`${counted(problems, 'problem')}: fix each PROBLEM above, then run: ${command('check')}`];
  }
  const reviewed = warnings === 0 ? '' : `, ${counted(warnings, 'warning')} to review`;
  return [
    `no problems: ${counted(count('ok'), 'check')} passed${reviewed}`,
    runs
      ? `next: pigeonpost runs; to use a changed file, run: ${command('config apply')}`
      : `next: ${command('start')}`,
  ];
}
