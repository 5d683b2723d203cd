import { counted, grouped, sumOf } from '../base/words.js';
import { isObserving } from '../base/delivery-words.js';
import { reasonWords } from '../sinks/reason-words.js';
import { catchingUpWord, stateWords } from '../base/reading-words.js';
import type { WorkState } from '../operations/status-view.js';
import type { Trouble } from '../operations/problem.js';

/**
 * Splits a sentence into instants, in ISO 8601, and the text between them, in order. An instant such as
 * "2026-11-21 09:30 UTC" has no seconds.
 */
export function splitAtInstants(sentence: string): { readonly text: string; readonly instant: boolean }[] {
  return sentence
    .split(/(\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?Z| \d\d:\d\d UTC))/)
    .map((text, position) => ({
      text: position % 2 === 1 ? text.replace(/ (\d\d:\d\d) UTC$/, 'T$1Z') : text,
      instant: position % 2 === 1,
    }))
    .filter(({ text }) => text !== '');
}

/** Capitalizes a sentence of the API, which starts with a lower-case letter. A command is left unchanged. */
export function capitalized(sentence: string): string {
  if (sentence.startsWith('pigeonpost ')) return sentence;
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

/**
 * Tone of a state. Each tone has a mark of its own shape as well as a colour, for readers who cannot distinguish
 * colours.
 */
export type Tone = 'good' | 'busy' | 'warning' | 'bad' | 'quiet';
export type ToneAndWord = readonly [Tone, string];

type TroubleKind = Pick<Trouble, 'kind' | 'severity' | 'stops' | 'state'>;

/** Returns the label in front of a problem. Pure. */
export function labelOf({ severity, stops }: TroubleKind): string {
  if (stops) return 'Stopped';
  return { error: 'Problem', warning: 'Warning', notice: 'Note' }[severity];
}

/** Returns the heading for the open problems; null if there are only notices or none. Pure. */
export function troubleHeading(troubles: readonly TroubleKind[]): string | null {
  const errors = troubles.filter(({ severity }) => severity === 'error');
  const warnings = troubles.filter(({ severity }) => severity === 'warning');
  if (errors.length > 0 && errors.every(({ stops }) => stops)) {
    return errors.length === 1 ? 'One thing has stopped' : `${errors.length} things have stopped`;
  }
  if (errors.length > 0) return errors.length === 1 ? 'One problem' : `${errors.length} problems`;
  if (warnings.length === 0) return null;
  return warnings.length === 1 ? 'One warning' : `${warnings.length} warnings`;
}

const states: Readonly<Record<WorkState, ToneAndWord>> = {
  working: ['good', stateWords.working],
  backfilling: ['busy', stateWords.backfilling],
  waiting: ['warning', stateWords.waiting],
  paused: ['bad', stateWords.paused],
  failing: ['bad', stateWords.failing],
};

/**
 * Returns the tone and label of a sync, a workspace or a pigeonhole. If it is read on time but has problems, such as a
 * failing sink of the sync, the label counts the problems. If it waits or is read for the first time, the label says so
 * and counts them. Pure.
 * @param isCatchingUp whether lists that should have been read earlier are being read now
 */
export function readingState(state: WorkState, troubles: readonly TroubleKind[], isCatchingUp = false): ToneAndWord {
  const errors = troubles.filter(({ severity }) => severity === 'error').length;
  const warnings = troubles.filter(({ severity }) => severity === 'warning').length;
  if ((state === 'waiting' || state === 'backfilling') && errors > 0) {
    return ['bad', `${stateWords[state]}, ${counted(errors, 'problem')}`];
  }
  if (state === 'working' && errors + warnings === 0 && isCatchingUp) return ['busy', catchingUpWord];
  if (state !== 'working' || errors + warnings === 0) return states[state];
  if (errors > 0) return ['bad', counted(errors, 'problem')];
  const named = troubles.find((each) => each.kind !== 'sink' && each.state !== null);
  return ['warning', named?.state ?? counted(warnings, 'warning')];
}

/** State of a pigeonhole or a stream that no longer exists. */
export const goneState: ToneAndWord = ['quiet', 'deleted in the service'];

interface Pigeonhole {
  readonly state: WorkState;
  readonly goneAt: string | null;
  readonly troubles: readonly TroubleKind[];
  readonly freshness: { readonly catchingUp: boolean };
}

/** Returns the tone and label of a pigeonhole, which may have been deleted. Pure. */
export function pigeonholeState({ state, goneAt, troubles, freshness }: Pigeonhole): ToneAndWord {
  return goneAt === null ? readingState(state, troubles, freshness.catchingUp) : goneState;
}

/** The states of a pigeonhole with their labels, for a filter. */
export const stateChoices = Object.entries(stateWords);

interface Observed {
  readonly wouldSend: number;
  readonly wouldSendAnonymously: number;
}

/** Returns the number of changes that an observing sink would have sent, and a note about those without the person. Pure. */
export function wouldHaveSent({ wouldSend, wouldSendAnonymously }: Observed): {
  readonly changes: number;
  readonly note: string | undefined;
} {
  const note = wouldSendAnonymously === 0 ? undefined : `${grouped(wouldSendAnonymously)} of them anonymously`;
  return { changes: wouldSend + wouldSendAnonymously, note };
}

/** Returns the number of changes that an observing sink would have withheld, and a note with the reasons. Pure. */
export function wouldHaveWithheld({ wouldWithhold }: { readonly wouldWithhold: Readonly<Record<string, number>> }): {
  readonly changes: number;
  readonly note: string | undefined;
} {
  const reasons = Object.entries(wouldWithhold).map(([reason, n]) => `${grouped(n)} ${reasonWords(reason)}`);
  return { changes: sumOf(wouldWithhold), note: reasons.length === 0 ? undefined : reasons.join(', ') };
}

/** Returns the note beside the backlog of an observing sink: the changes that it has not counted yet. Pure. */
export function observedNote(backlog: number): string {
  return `${backlog === 0 ? 'all changes are counted' : 'not counted yet'}; this sink only observes`;
}

/** Returns the tone and label of a sink in one pigeonhole. Pure. */
export function laneState(
  lane: { readonly failure: string | null; readonly undeliveredSince: string | null },
  sink: Pick<SinkStatus, 'observation' | 'approval'> & { readonly pause: object | null },
): ToneAndWord {
  if (lane.failure === null && lane.undeliveredSince === null) return states.working;
  if (sink.pause !== null) return states.paused;
  if (lane.failure !== null) return states.failing;
  return isObserving(sink) ? ['quiet', 'observing'] : ['busy', 'sending'];
}

interface SinkStatus {
  readonly state: WorkState;
  readonly backlog: number;
  readonly withholding: readonly { readonly kind?: string }[];
  readonly observation: object | null;
  readonly approval: object | null;
  readonly replays: readonly object[];
  readonly troubles: readonly TroubleKind[];
}

/** Whether a withheld list is a problem. That one event lacks a field is only for information. */
export function isUnusual({ kind }: { readonly kind?: string }): boolean {
  return kind !== 'event';
}

/** Returns the tone and label of a sink. Pure. */
export function sinkState({
  state,
  backlog,
  withholding,
  observation,
  approval,
  replays,
  troubles,
}: SinkStatus): ToneAndWord {
  if (state !== 'working') return states[state];
  if (isObserving({ observation, approval })) {
    return withholding.some(isUnusual) ? ['bad', 'would withhold too much'] : ['quiet', 'observing'];
  }
  for (const { state: named, severity } of troubles) {
    if (named !== null) return [severity === 'error' ? 'bad' : 'warning', named];
  }
  if (replays.length > 0) return ['busy', 'sending again'];
  return backlog > 0 ? ['busy', 'sending'] : states.working;
}
