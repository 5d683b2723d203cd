import type { AlertFacts, LastingOccasion } from './alerts/alert-store.js';
import { formatInstant, problemWords } from './problem-words.js';

/** Codes are a contract with programs: `GET /api/status`, the label `code` of `pigeonpost_problems`. Never rename one. */
export const problemCodes = [
  'process-failing',
  'service-down',
  'workspace-paused',
  'workspace-waiting',
  'quota-short',
  'pigeonhole-paused',
  'pigeonhole-failing',
  'pigeonhole-gone',
  'reading-late',
  'deletions-held',
  'filters-ignored',
  'sink-paused',
  'sink-failing',
  'sink-behind',
  'sink-withholding',
  'sink-observing',
  'dead-letters',
] as const;
export type ProblemCode = (typeof problemCodes)[number];

/** `error`: data does not flow as configured, and an operator should act now; `warning`: it flows, but not as it should. */
export const severities = ['error', 'warning', 'notice'] as const;
export type Severity = (typeof severities)[number];

export type ProblemKind = 'process' | 'workspace' | 'pigeonhole' | 'sink';

/** An action that an operator can start with one button, one command or one request. */
export interface ProblemAction {
  readonly do: 'resume' | 'try-now' | 'poll-now' | 'approve';
  readonly kind: 'workspace' | 'pigeonhole' | 'sink';
  readonly name: string;
}

export interface ProblemHelp {
  /** Label of the button. */
  readonly label: string;
  /** Null: the button only leads to the details. */
  readonly action: ProblemAction | null;
  /** Address of the details in the API. */
  readonly see: string | null;
}

/** A problem as a rule finds it. */
export interface FoundProblem {
  readonly code: ProblemCode;
  readonly kind: ProblemKind;
  /** Name as an action uses it; empty for the process. */
  readonly name: string;
  /** Counts, codes and instants only. The sentences that leave the installation are built from nothing else. */
  readonly facts: AlertFacts;
  /** Words of a vendor, the service or a person. The page and the CLI show them, alerts never do. */
  readonly detail: string | null;
  readonly since: Date | null;
  /** Another problem explains this one, so it is not shown beside it. */
  readonly coveredBy: ProblemCode | null;
}

/** The sentences about one problem, the same on the page, in `status`, in alerts and in the log. */
export interface ProblemWords {
  /** One sentence without its full stop. */
  readonly title: string;
  /** Details and consequences in whole sentences; null: the title says it all. */
  readonly says: string | null;
  /** The action that helps, in whole sentences; null: the problem passes without one. */
  readonly todo: string | null;
}

export interface Problem extends FoundProblem, ProblemWords {
  readonly severity: Severity;
  /** Nothing is read or sent there while the problem lasts. */
  readonly stops: boolean;
  /** The sentences name the instant `since`, so that nobody adds it to them. */
  readonly saysSince: boolean;
  readonly help: ProblemHelp | null;
}

/** Problems that raise alerts, by the key of `alerts.when`. The page, `status` and the metrics show all problems. */
export const alertOccasions: Readonly<Partial<Record<ProblemCode, LastingOccasion>>> = {
  'service-down': 'service-down',
  'workspace-paused': 'workspace-paused',
  'sink-paused': 'sink-paused',
  'sink-behind': 'behind',
  'dead-letters': 'dead-letters',
  'sink-withholding': 'withholding',
  'reading-late': 'reading-late',
  'deletions-held': 'deletions-held',
  'quota-short': 'quota-short',
};

interface CatalogueEntry {
  readonly severity: Severity;
  /** By default false. */
  readonly stops?: boolean;
  readonly help: (found: FoundProblem) => ProblemHelp | null;
}

const catalogue: Readonly<Record<ProblemCode, CatalogueEntry>> = {
  'process-failing': { severity: 'error', stops: true, help: () => null },
  'service-down': { severity: 'error', stops: true, help: (found) => button('Try now', 'try-now', found) },
  'workspace-paused': { severity: 'error', stops: true, help: liftPause },
  'workspace-waiting': { severity: 'warning', help: (found) => button('Try now', 'try-now', found) },
  'quota-short': {
    severity: 'warning',
    help: (found) =>
      found.facts['waits'] === 1 ? button('Try now', 'try-now', found) : link('Show the quota', '/api/quota'),
  },
  'pigeonhole-paused': { severity: 'error', stops: true, help: liftPause },
  'pigeonhole-failing': { severity: 'warning', help: readNow },
  'pigeonhole-gone': { severity: 'notice', help: () => null },
  'reading-late': { severity: 'warning', help: readNow },
  'deletions-held': { severity: 'warning', help: () => link('Show the deletions', '/api/deletions') },
  'filters-ignored': { severity: 'warning', help: (found) => link('Show the streams', `${placeOf(found)}/streams`) },
  'sink-paused': { severity: 'error', stops: true, help: liftPause },
  'sink-failing': { severity: 'error', stops: true, help: (found) => button('Try now', 'try-now', found) },
  'sink-behind': { severity: 'warning', help: (found) => link('Show its backlog', placeOf(found)) },
  'sink-withholding': { severity: 'error', help: (found) => link('Preview what it would send', placeOf(found)) },
  'sink-observing': { severity: 'notice', help: (found) => button('Start sending', 'approve', found) },
  'dead-letters': {
    severity: 'warning',
    help: ({ name }) => link('Show the dead letters', `/api/dead-letters?sink=${name}`),
  },
};

/** Returns the catalogue's entry for a found problem: severity, sentences and what helps. Pure. */
export function describeProblem(found: FoundProblem): Problem {
  const { severity, stops = false, help } = catalogue[found.code];
  const words = problemWords(found.code, found.name, found.facts);
  const since = found.since === null ? null : formatInstant(found.since.toISOString());
  const saysSince = since !== null && `${words.title} ${words.says ?? ''}`.includes(since);
  return { ...found, ...words, severity, stops, saysSince, help: help(found) };
}

/** Returns one line for a log or a terminal: title, then the words of others. Pure. */
export function problemLine({ title, detail, says }: Pick<Problem, 'title' | 'detail' | 'says'>): string {
  return `${title}${detail === null ? '' : `: ${detail.replace(/\.$/, '')}`}.${says === null ? '' : ` ${says}`}`;
}

function liftPause(found: FoundProblem): ProblemHelp | null {
  return found.facts['cause'] === 'credential'
    ? button('Try now', 'try-now', found)
    : button('Resume', 'resume', found);
}

function readNow(found: FoundProblem): ProblemHelp | null {
  return button('Read now', 'poll-now', found);
}

function button(label: string, verb: ProblemAction['do'], found: FoundProblem): ProblemHelp | null {
  const { kind, name } = found;
  return kind === 'process' ? null : { label, action: { do: verb, kind, name }, see: placeOf(found) };
}

function link(label: string, see: string | null): ProblemHelp {
  return { label, action: null, see };
}

function placeOf({ kind, name }: FoundProblem): string | null {
  if (kind === 'sink') return `/api/sinks/${name}`;
  return kind === 'pigeonhole' ? `/api/pigeonholes/${name}` : null;
}
