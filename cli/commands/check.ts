import { InvalidArgumentError } from 'commander';
import type { CliCommand, Context } from '../command.js';
import type { Checked } from '../../worker/check-start.js';
import type { Config } from '../../operations/load-process-config.js';
import type { Estimate } from '../../operations/calendar-demand.js';
import { ExitCode, CommandError } from '../exit-code.js';
import { printLabelled, whileWaiting } from '../output.js';
import { type Style, tableLines } from '../text-line.js';
import { readFile } from 'node:fs/promises';
import { findInstance, isRunning, isTokenRefusal, NotReadyError } from '../find-instance.js';
import { apiClientFor } from '../api-client.js';
import { plannedWords } from '../../sinks/reason-words.js';
import { counted, grouped } from '../../base/words.js';

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
  const { estimate } = await import('../../operations/calendar-demand.js');
  const { loadProcessConfig } = await import('../../operations/load-process-config.js');
  const { binarySources } = await import('../../worker/embedded-temporal/find-binary.js');
  const { check: checkAll } = await import('../../worker/check.js');
  const loaded = await loadProcessConfig(config);
  const results: Checked[] = [];
  const add = (checked: Checked): void => {
    const { what, result, text } = checked;
    results.push(checked);
    if (!json) printLabelled(out, labels[result], `${what}: ${text}`);
  };
  const note = (text: string): void => {
    if (!json) printLabelled(out, ['note', 'yellow'], text);
  };
  add({ what: 'configuration', result: 'ok', text: `${config} is valid` });
  for (const { line, key, message } of loaded.warnings) note(`${config}:${line}: ${key}: ${message}`);
  const surroundings = { binarySources: binarySources(), isRunning: () => isRunning(loaded) };
  for await (const result of checkAll(loaded, surroundings, AbortSignal.timeout(60_000))) add(result);
  for (const result of await checkPort(loaded)) add(result);
  const { problems, notes } = await whileWaiting('checking the mappings with stored items', () => checkSinks(loaded));
  for (const { sink, text } of problems) add({ what: `sink ${sink}`, result: 'refused', text });
  for (const each of notes) note(each);
  const estimates: Estimate[] = [];
  const canRead = results.every(({ what, result }) => result === 'ok' || !what.startsWith('workspace '));
  if (wantsEstimate && canRead) {
    const signal = AbortSignal.timeout(estimateTimeoutMs);
    for await (const each of estimate(loaded, { quota, now: Date.now(), signal })) {
      estimates.push(each);
      if (!json) for (const line of formatEstimate(each)) out.line(line);
    }
  }
  if (json) {
    out.line(JSON.stringify({ results, warnings: loaded.warnings, notes, ...(wantsEstimate ? { estimates } : {}) }));
  }
  if (!json && isLast) {
    const runs = await isRunning(loaded);
    out.line('');
    for (const line of verdictOf(results, config, runs)) out.line(line);
  }
  if (results.some(({ result }) => result === 'refused')) return ExitCode.Failed;
  return results.some(({ result }) => result === 'unreachable') ? ExitCode.Unreachable : ExitCode.Done;
}

const labels: Readonly<Record<Checked['result'], readonly [string, Style]>> = {
  ok: ['ok', 'green'],
  warning: ['warning', 'yellow'],
  refused: ['PROBLEM', 'red'],
  unreachable: ['PROBLEM', 'red'],
};

/** Returns the verdict on a configuration, and the next command. Pure. */
export function verdictOf(results: readonly Pick<Checked, 'result'>[], file: string, runs: boolean): string[] {
  const count = (...wanted: Checked['result'][]): number =>
    results.filter(({ result }) => wanted.includes(result)).length;
  const [problems, warnings] = [count('refused', 'unreachable'), count('warning')];
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

/**
 * Checks that a start can listen at its addresses and store the API's token. A running process of this configuration is
 * not a problem.
 */
export async function checkPort(config: Config): Promise<Checked[]> {
  const { checkServer } = await import('../../worker/check-start.js');
  const { isTaken } = await import('../../worker/embedded-temporal/free-port.js');
  const { host, port } = config.server;
  const own = (await isTaken(host, port)) ? await ownPigeonpost(config) : null;
  if (own === null) return await checkServer(config);
  return [{ what: 'server', result: 'ok', text: `port ${port} of ${host} is in use by ${own}` }];
}

/** Returns how to name the pigeonpost of this configuration that listens at its address; null: another program does. */
async function ownPigeonpost(config: Config): Promise<string | null> {
  const name = 'the pigeonpost of this configuration';
  try {
    const { url } = await findInstance(config);
    return portOf(url) === config.server.port ? name : null;
  } catch (error) {
    if (error instanceof NotReadyError) return 'a pigeonpost that is not ready yet';
    return isTokenRefusal(error) ? name : null;
  }
}

/** Returns the port of an HTTP address, also the default one, which URL leaves out. Pure. */
export function portOf(url: string): number {
  return Number(new URL(url).port || 80);
}

const maxDays = 14;

/** Formats an estimate as a table of days with the busiest one marked, and a sentence that explains it. Pure. */
export function formatEstimate({ workspaces, quota, days, busiest, advice, requestsMade }: Estimate): string[] {
  const rows = days
    .toSorted((a, b) => total(b.needs) - total(a.needs))
    .slice(0, maxDays)
    .toSorted((a, b) => a.day.localeCompare(b.day))
    .map(({ day, pigeonholes, needs }) => [
      day,
      grouped(pigeonholes),
      ...[needs.live, needs.idle, needs.sweep, total(needs)].map((n) => grouped(Math.ceil(n))),
      ...(quota === null ? [] : [`${grouped(Math.ceil((total(needs) / quota) * 100))} %`]),
      ...(day === busiest?.day ? ['<- busiest'] : []),
    ]);
  const head = ['day', 'pigeonholes', 'live', 'idle', 'sweeps', 'requests', ...(quota === null ? [] : ['of quota'])];
  return [
    `estimate for ${workspaces.join(', ')}${quota === null ? '' : `, ${counted(quota, 'request')} a day`}:`,
    ...(rows.length === 0 ? [] : tableLines([head, ...rows], [1, 2, 3, 4, 5, 6]).map((line) => `  ${line}`)),
    ...(days.length > maxDays
      ? [`  and ${counted(days.length - maxDays, 'more day', 'more days')} with fewer requests`]
      : []),
    `  ${advice.text}`,
    `  The first read of existing items is not included. This estimate made ${counted(requestsMade, 'request')}.`,
  ];
}

function total({ live, idle, sweep }: { live: number; idle: number; sweep: number }): number {
  return live + idle + sweep;
}

/** Findings about the sinks of a configuration, from stored items. */
export interface SinkFindings {
  /** One sentence per sink with the lists that its mapping withholds entirely. */
  readonly problems: readonly { readonly sink: string; readonly text: string }[];
  /**
   * Number of people each sink receives, fields that a mapping reads but no stored item has, and sinks whose mapping
   * could not be checked.
   */
  readonly notes: readonly string[];
}

/**
 * Requests a preview for each sink from the running pigeonpost, without values, so that nothing is audited. If none
 * runs, looks the fields up in its store. Finds nothing if there is no ledger yet.
 */
export async function checkSinks(config: Config): Promise<SinkFindings> {
  const { storedFieldNotes } = await import('../../operations/field-notes.js');
  const client = apiClientFor(config);
  const configuration = { file: config.file, text: await readFile(config.file, 'utf8') };
  const problems: { sink: string; text: string }[] = [];
  const people: string[] = [];
  const fields: string[] = [];
  const unchecked = new Map<string, string[]>();
  for (const sink of Object.keys(config.sinks)) {
    const asked = { sink, list: null, pigeonhole: null, key: null, limit: 1, configuration, changedFrom: null };
    const preview = await client.post('/api/preview', { json: asked }).catch((error: unknown) => {
      if (error instanceof CommandError) return error; // the findings about mappings are optional
      throw error;
    });
    if (preview instanceof CommandError) {
      if (preview.exitCode === ExitCode.Unreachable) return { problems, notes: (await storedFieldNotes(config)) ?? [] };
      unchecked.set(preview.message, [...(unchecked.get(preview.message) ?? []), sink]);
      continue;
    }
    problems.push(...preview.problems.map((text) => ({ sink, text })));
    fields.push(...preview.notes);
    for (const count of preview.counts.filter(({ list }) => list === 'attendees')) {
      people.push(`sink ${sink}: of the attendees read so far, ${plannedWords(count)}`);
    }
  }
  const reasons = [...unchecked].map(([why, sinks]) => uncheckedNote(sinks, why));
  return { problems, notes: [...people, ...fields, ...reasons] };
}

function uncheckedNote(sinks: readonly string[], why: string): string {
  const mappings = sinks.length === 1 ? 'the mapping of sink' : 'the mappings of sinks';
  return `${mappings} ${sinks.join(', ')} ${sinks.length === 1 ? 'was' : 'were'} not checked with stored items: ${why}`;
}
