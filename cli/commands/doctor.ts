import { codeOf } from '../../base/errors.js';
import { sumOf } from '../../base/words.js';
import type { CliCommand, Context, JsonOption } from '../command.js';
import type { Status } from '../../operations/status-view.js';
import { type CheckInShort, contextOf, inShort } from './check.js';
import { failureKindOf } from '../../worker/failure-kind.js';
import { runChecks, selections } from '../../operations/checks.js';
import type { Config } from '../../operations/load-process-config.js';
import { type ApiClient, apiClientFor } from '../api-client.js';
import { CommandError, type ExitCode, wrongUse } from '../exit-code.js';
import { printResult } from '../output.js';
import { tableLines } from '../text-line.js';
import { open } from 'node:fs/promises';

export function addDoctor(program: CliCommand): void {
  program
    .command('doctor')
    .description('Collect versions, settings without secrets, checks and recent errors for a bug report')
    .option('--log <file>', 'log of "start" whose latest warnings and errors are included')
    .json()
    .examples('doctor > report.txt', 'doctor --log pigeonpost.log --json')
    .runs(doctor, { offline: 'doctor' });
}

/** Maximum number of entries of each kind. */
const maxEntries = 50;

/**
 * `pigeonpost doctor`: a bug report as one text or JSON document: versions, settings without secrets, checks, the state
 * of the running pigeonpost, and recent errors. Works even with an invalid configuration. Exit 0; 2 for a log that
 * cannot be read.
 */
async function doctor(
  { config: file, out }: Context,
  { log, json }: JsonOption & { readonly log?: string },
): Promise<ExitCode> {
  const { namedVariables, redactor, shownSettings } = await import('../../operations/load-process-config.js');
  const { installedVersions } = await import('../../base/package-root.js');
  const lines = log === undefined ? [] : await latestTroublesOfLog(log);
  const loaded = await load(file);
  const config = 'config' in loaded ? loaded.config : undefined;
  const report: DoctorReport = {
    at: new Date().toISOString(),
    versions: installedVersions(),
    file,
    variables: await namedVariables(file),
    problem: 'problem' in loaded ? loaded.problem : null,
    settings: config === undefined ? null : shownSettings(config),
    checks: config === undefined ? [] : await lookAt(config),
    running:
      config === undefined
        ? { answers: false, why: 'not asked, because the configuration is invalid' }
        : await askRunning(apiClientFor(config)),
    log: lines,
  };
  const shown = redactor(config)(report);
  return printResult(out, json, shown, formatDoctor(shown));
}

async function load(file: string): Promise<{ config: Config } | { problem: string }> {
  const { loadProcessConfig } = await import('../../operations/load-process-config.js');
  try {
    return { config: await loadProcessConfig(file) };
  } catch (error) {
    if (failureKindOf(error) !== 'configuration' || !(error instanceof Error)) throw error;
    return { problem: error.message };
  }
}

async function lookAt(config: Config): Promise<CheckInShort[]> {
  const { standaloneChecks } = await import('../../worker/check.js');
  const found: CheckInShort[] = [];
  for await (const each of runChecks(selections.doctor, standaloneChecks, await contextOf(config))) {
    found.push(inShort(each));
  }
  return found;
}

async function askRunning(client: ApiClient) {
  try {
    const [status, { troubles }, { groups }] = await Promise.all([
      client.get('/api/status', {}),
      client.get('/api/overview', {}),
      client.get('/api/dead-letters', {}),
    ]);
    return {
      answers: true as const,
      ...summed(status),
      troubles: troubles
        .slice(0, maxEntries)
        .map(({ code, severity, text, since }) => ({ code, severity, text, since })),
      deadLetters: groups
        .slice(0, maxEntries)
        .map(({ sink, cause, list, changes, newest, detail }) => ({ sink, cause, list, changes, newest, detail })),
    };
  } catch (error) {
    if (error instanceof CommandError) return { answers: false as const, why: error.message };
    throw error;
  }
}

function summed({ configuration, settled, workspaces, sinks }: Status) {
  const pigeonholes: Record<string, number> = {};
  for (const { state } of workspaces.flatMap((workspace) => workspace.pigeonholes)) {
    pigeonholes[state] = (pigeonholes[state] ?? 0) + 1;
  }
  return {
    configuration,
    settled,
    pigeonholes,
    sinks: sinks.map(({ name, type, state, delivered, backlog, dead }) => ({
      name,
      type,
      state,
      delivered,
      backlog,
      dead: sumOf(dead),
    })),
    quotas: workspaces.flatMap(({ name, quota }) =>
      quota === null ? [] : [{ workspace: name, used: quota.used, left: quota.left }],
    ),
  };
}

/** The report, after `redactor` has removed secrets and e-mail addresses. */
export interface DoctorReport {
  readonly at: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly file: string;
  /** The variables that the configuration names, each with "set", "empty" or "not set". */
  readonly variables: Readonly<Record<string, string>>;
  /** Why the configuration is invalid; null if it is valid. */
  readonly problem: string | null;
  /** Null if the configuration is invalid. */
  readonly settings: unknown;
  readonly checks: readonly CheckInShort[];
  readonly running: Awaited<ReturnType<typeof askRunning>>;
  /** Warnings and errors of the log, if a log was named. */
  readonly log: readonly LogLine[];
}

/** Formats the report as text in sections, to paste into an issue. Pure. */
export function formatDoctor(report: DoctorReport): string[] {
  const { at, versions, file, variables, problem, settings, checks, running, log } = report;
  return [
    `pigeonpost doctor, ${at}`,
    ...section('Versions', tableLines(Object.entries(versions))),
    ...section('Environment', tableLines(Object.entries(variables))),
    ...section(
      `Configuration ${file}`,
      problem === null ? JSON.stringify(settings, null, 2).split('\n') : ['invalid:', ...problem.split('\n')],
    ),
    ...section(
      'Checks',
      checks.map(({ what, result, text }) => `${result.padEnd(11)} ${what}: ${text}`),
    ),
    ...section('Running pigeonpost', running.answers ? runningLines(running) : [running.why]),
    ...(log.length === 0 ? [] : section('Warnings and errors in the log', log.map(logLine))),
  ];
}

function section(title: string, lines: readonly string[]): string[] {
  return ['', `${title}`, ...(lines.length === 0 ? ['  nothing'] : lines.map((line) => `  ${line}`))];
}

function runningLines(running: Extract<DoctorReport['running'], { readonly answers: true }>): string[] {
  const { configuration, settled, pigeonholes, sinks, quotas, troubles, deadLetters } = running;
  const states = Object.entries(pigeonholes).map(([state, n]) => `${n} ${state}`);
  return [
    `configuration ${configuration}, ${settled ? 'settled' : 'not settled'}; pigeonholes: ${states.join(', ') || 'none'}`,
    ...sinks.map(
      ({ name, type, state, delivered, backlog, dead }) =>
        `sink ${name} (${type}): ${state}, ${delivered} delivered, backlog ${backlog}, ${dead} dead letters`,
    ),
    ...quotas.map(
      ({ workspace, used, left }) => `quota of ${workspace}: ${used} used, ${left ?? 'unknown number'} left`,
    ),
    ...troubles.map(({ severity, since, text }) => `${severity}${since === null ? '' : ` since ${since}`}: ${text}`),
    ...deadLetters.map(
      ({ sink, cause, list, changes, newest, detail }) =>
        `dead letters of ${sink}, ${list}: ${changes} by ${cause}, last ${newest}${detail === null ? '' : `: ${detail}`}`,
    ),
  ];
}

function logLine({ time, level, event, facts }: LogLine): string {
  const told = Object.entries(facts).map(([name, value]) => `${name}=${String(value)}`);
  return [`${time} ${level} ${event}`, ...told].join(' ');
}

/** Number of bytes read from the end of a log, and maximum number of lines kept. */
const maxBytes = 1024 * 1024;
const maxLines = 50;
const warning = 40; // the number of the level "warn" in pino's log lines

interface LogLine {
  readonly time: string;
  readonly level: 'warn' | 'error';
  readonly event: string;
  /** Facts of the log line: IDs, counts, outcomes. */
  readonly facts: Readonly<Record<string, string | number | boolean | null>>;
}

/** Returns the latest warnings and errors of a log of `start`, oldest first. Skips lines of other programs. */
export async function latestTroublesOfLog(path: string): Promise<LogLine[]> {
  return (await endOf(path))
    .split('\n')
    .flatMap((line) => troubleIn(line) ?? [])
    .slice(-maxLines);
}

async function endOf(path: string): Promise<string> {
  try {
    await using file = await open(path);
    const { size } = await file.stat();
    const length = Math.min(size, maxBytes);
    const { buffer } = await file.read({ buffer: Buffer.alloc(length), position: size - length });
    return buffer.toString('utf8');
  } catch (error) {
    throw wrongUse(`the log cannot be read (${codeOf(error)}): give the path of the file that "start" writes to`, {
      cause: error,
    });
  }
}

function troubleIn(line: string): LogLine | undefined {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined; // a line of another program, or an incomplete line at the start of the part that was read
  }
  const { level, time, msg, ...rest } = entry;
  if (typeof level !== 'number' || level < warning || typeof msg !== 'string') return undefined;
  const facts = Object.entries(rest).filter(
    (each): each is [string, string | number | boolean | null] => typeof each[1] !== 'object' || each[1] === null,
  );
  return {
    time: typeof time === 'string' ? time : '',
    level: level > warning ? 'error' : 'warn',
    event: msg,
    facts: Object.fromEntries(facts),
  };
}
