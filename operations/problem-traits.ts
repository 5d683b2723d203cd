import type { AlertsConfig } from '../config/config.js';
import type { Action } from './action.js';

/** Traits that the catalogue in `problems.ts` has for each kind of problem. */

export const severities = ['error', 'warning', 'notice'] as const;
export const subjectKinds = ['process', 'workspace', 'pigeonhole', 'sink'] as const;
export type SubjectKind = (typeof subjectKinds)[number];

/** Counts, codes and instants; never text of a person or a vendor. */
export type ProblemFacts = Readonly<Record<string, string | number | null>>;

/** The subject of a problem and what is known about it. */
export interface Subject {
  readonly kind: SubjectKind;
  /** Name as used in actions; empty for the process. */
  readonly name: string;
  readonly facts: ProblemFacts;
}

/** The sentences about one problem, the same on the page, in `status`, in alerts and in the log. */
export interface ProblemWords {
  /** One sentence without its full stop. */
  readonly title: string;
  /** Details and consequences. */
  readonly says: string | null;
  /** The action that helps, in whole sentences; null: the problem passes without one. */
  readonly todo: string | null;
}

export interface Help {
  readonly label: string;
  /** Null: the button leads to `see`. */
  readonly action: Action | null;
  /** Address of the details in the API. */
  readonly see: string | null;
}

/** Everything known about one kind of problem. */
export interface ProblemTraits {
  readonly kind: SubjectKind;
  /** `error`: data that should flow does not; `warning`: it flows, but something needs attention; `notice`: for information. */
  readonly severity: (typeof severities)[number];
  /** Whether the subject reads or receives nothing while the problem lasts. */
  readonly stops: boolean;
  /** Builds the sentences from the name and the facts only, because alerts contain them. */
  readonly words: (name: string, facts: ProblemFacts) => ProblemWords;
  /** Builds the button that helps; null: none does. */
  readonly help: (subject: Subject) => Help | null;
  /** Page that shows the problem: its subject's, a part of the sink's, or the held deletions. */
  readonly page: 'subject' | 'dead-letters' | 'preview' | 'lanes' | 'parity' | 'deletions';
  /** State of the subject in a word, if nothing else states it; null: the number of its problems does. */
  readonly state: string | null;
  /** Traits of the one problem that replaces the same problem of several pigeonholes; null: each stays. */
  readonly group: GroupTraits | null;
  /** Whether pigeonpost waits on purpose, so that the problems that this one explains never raise an alert. */
  readonly isIntended: boolean;
  /** Effect on the checks before an event; null: none, or another check reports the same facts. */
  readonly ready: { readonly check: 'reading' | 'running'; readonly state: 'failed' | 'warning' } | null;
  /** Alert to operators; null: only the page, the status and the metrics show the problem. */
  readonly alert: AlertTraits | null;
  /** Metric from which the problem can be seen, other than `pigeonpost_problems`; null: none. */
  readonly metric: string | null;
  /** Rule of `deploy/alerts.yml` on that metric; null: none. */
  readonly rule: string | null;
  /** Section of `docs/operations.md`, as the fragment of its address. */
  readonly runbook: string;
}

export interface GroupTraits {
  /** Whether all pigeonholes of a workspace have one cause. Otherwise only those with the same `detail` have. */
  readonly isOneCause: boolean;
  /** @param count of the pigeonholes and of their lists, in words */
  readonly title: (workspace: string, count: { readonly events: string; readonly lists: string }) => string;
  /** Details and consequences; null: those of the single problem. @param isShort whether the workspace's quota is short */
  readonly says: ((isShort: boolean) => string) | null;
  /** Null: the action for the single problem helps. */
  readonly advice: ((workspace: string) => string) | null;
  /** Whether the button that reads all pigeonholes of the workspace helps. */
  readonly readAll: boolean;
}

/** Key of `alerts.when` in the configuration. In an alert, it is the `occasion`. */
export type Occasion = keyof AlertsConfig['when'];

/** Traits of every alert: its key, and its words for several subjects. */
export interface SharedAlertTraits {
  readonly occasion: Occasion;
  /** Title of one message about several subjects. @param n their number, in words */
  readonly several: (n: string, facts: ProblemFacts) => string;
  /** Sentence about the cause that all subjects share; null: none is known. */
  readonly common: (facts: ProblemFacts) => string | null;
  /** Command that lists the subjects. */
  readonly listedBy: string;
}

export interface AlertTraits extends SharedAlertTraits {
  /** Time for which the problem must have lasted. */
  readonly afterMs: number;
  /** Fact that must reach the number in the configuration; null: the key has no number, or another rule applies it. */
  readonly counts: string | null;
  /** A wait (`waitUntil`) that ends sooner neither starts nor ends an alert. 0: every wait does. */
  readonly minWaitMs: number;
  readonly over: { readonly one: (subject: string) => string; readonly several: (n: string) => string };
}

/** Something that happens once and is reported to operators. It is no state, so it never recovers, and the status does not show it. */
export interface EventTraits extends SharedAlertTraits {
  readonly words: (name: string, facts: ProblemFacts) => ProblemWords;
  /** Address of the page, without `#`. */
  readonly page: { readonly one: (name: string) => string; readonly several: string };
}
