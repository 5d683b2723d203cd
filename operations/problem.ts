import type { AlertFacts } from './alerts/alert-store.js';

/**
 * Codes are a contract with programs: `GET /api/status`, the label `code` of `pigeonpost_problems`. Never rename one.
 */
export const problemCodes = [
  'process-failing',
  'service-down',
  'workspace-paused',
  'workspace-waiting',
  'quota-used-up',
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

/**
 * `error`: data that should flow does not, and an operator should act now; `warning`: data flows, but something needs
 * attention; `notice`: for information.
 */
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
  /** Whether the sentences contain the instant `since`, so that callers do not add it again. */
  readonly saysSince: boolean;
  readonly help: ProblemHelp | null;
}

/** Returns one line for a log or a terminal: title, detail and consequences. Pure. */
export function problemLine({ title, detail, says }: Pick<Problem, 'title' | 'detail' | 'says'>): string {
  return `${title}${detail === null ? '' : `: ${detail.replace(/\.$/, '')}`}.${says === null ? '' : ` ${says}`}`;
}
