import type { Trouble } from '../operations/find-problems.js';
import type { DeadLetterGroupView } from '../api/dead-letters.js';
import type { Checked } from '../worker/check.js';
import type { LogLine } from './latest-troubles-of-log.js';

/** What `doctor` has gathered. Holds no secret and nobody's name: it has gone through `redactor`. */
export interface DoctorReport {
  readonly at: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly file: string;
  /** Of the variables that the file names: set, empty or not set. */
  readonly variables: Readonly<Record<string, string>>;
  /** Why the configuration cannot be used; null: it can. */
  readonly problem: string | null;
  /** Null where it cannot be used. */
  readonly settings: unknown;
  readonly checks: readonly Checked[];
  readonly running: RunningReport | { readonly answers: false; readonly why: string };
  /** Of a log, where one was named. */
  readonly log: readonly LogLine[];
}

export interface RunningReport {
  readonly answers: true;
  readonly configuration: number;
  readonly settled: boolean;
  readonly pigeonholes: Readonly<Record<string, number>>;
  readonly sinks: readonly {
    readonly name: string;
    readonly type: string;
    readonly state: string;
    readonly delivered: number;
    readonly backlog: number;
    readonly dead: number;
  }[];
  readonly quotas: readonly { readonly workspace: string; readonly used: number; readonly left: number | null }[];
  readonly troubles: readonly Pick<Trouble, 'code' | 'severity' | 'text' | 'since'>[];
  readonly deadLetters: readonly Pick<
    DeadLetterGroupView,
    'sink' | 'cause' | 'list' | 'changes' | 'newest' | 'detail'
  >[];
}

/** The report as a text of sections, which an issue can quote. Pure. */
export function formatDoctor(report: DoctorReport): string[] {
  const { at, versions, file, variables, problem, settings, checks, running, log } = report;
  return [
    `pigeonpost doctor, ${at}`,
    ...section('Versions', table(versions)),
    ...section('Environment', table(variables)),
    ...section(
      `Configuration ${file}`,
      problem === null ? JSON.stringify(settings, null, 2).split('\n') : ['it cannot be used:', ...problem.split('\n')],
    ),
    ...section(
      'What it names',
      checks.map(({ what, result, text }) => `${result.padEnd(11)} ${what}: ${text}`),
    ),
    ...section('The running pigeonpost', running.answers ? runningLines(running) : [running.why]),
    ...(log.length === 0 ? [] : section('Warnings and errors of the log', log.map(logLine))),
  ];
}

function section(title: string, lines: readonly string[]): string[] {
  return ['', `${title}`, ...(lines.length === 0 ? ['  nothing'] : lines.map((line) => `  ${line}`))];
}

function table(facts: Readonly<Record<string, string>>): string[] {
  const width = Math.max(0, ...Object.keys(facts).map((name) => name.length));
  return Object.entries(facts).map(([name, value]) => `${name.padEnd(width)}  ${value}`);
}

function runningLines(running: RunningReport): string[] {
  const { configuration, settled, pigeonholes, sinks, quotas, troubles, deadLetters } = running;
  const states = Object.entries(pigeonholes).map(([state, n]) => `${n} ${state}`);
  return [
    `configuration ${configuration}, ${settled ? 'settled' : 'not settled'}; pigeonholes: ${states.join(', ') || 'none'}`,
    ...sinks.map(
      ({ name, type, state, delivered, backlog, dead }) =>
        `sink ${name} (${type}): ${state}, ${delivered} delivered, ${backlog} to go, ${dead} dead letters`,
    ),
    ...quotas.map(
      ({ workspace, used, left }) => `quota of ${workspace}: ${used} used, ${left ?? 'not known how many'} left`,
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
