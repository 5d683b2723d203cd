import { counted, grouped, sumOf } from '../base/words.js';
import { causeOf, reasonOf } from './all-reasons.js';
import { type Cause, engineCauses, reasonWhileHidden, refused } from './reasons.js';

/*
 * Texts about reasons for withholding and causes of dead letters, from the declarations of the sinks. The API, the
 * dashboard and the CLI show these texts.
 */

/** Returns the short text of a reason for withholding, or the reason's code if nothing declares it. */
export function reasonWords(reason: string): string {
  const hidden = reasonWhileHidden(reason);
  if (hidden !== null) return `${reasonWords(hidden)} while the identity is hidden`;
  return reasonOf(reason)?.short ?? reason;
}

/** Returns the sentence about a change that was withheld for a reason, or the reason's code if nothing declares it. */
export function reasonText(reason: string): string {
  const hidden = reasonWhileHidden(reason);
  if (hidden !== null) return `the identity of the person must not be sent, and without it ${reasonText(hidden)}`;
  return reasonOf(reason)?.sentence ?? reason;
}

/** Returns what a cause of dead letters means, and what helps. */
export function causeText(cause: string): Pick<Cause, 'meaning' | 'help'> {
  const { meaning, help } = causeOf(cause) ?? refused;
  return { meaning, help };
}

/** Whether this cause means that the mapping failed, so that the change never reached the destination. */
export function isMappingCause(cause: string): boolean {
  return causeOf(cause) === engineCauses['mapping*'];
}

/** Returns one text for each reason, such as `2,140 withheld: no value to match by`. */
export function withheldWords(withheld: Readonly<Record<string, number>>): string[] {
  return Object.entries(withheld)
    .filter(([, n]) => n > 0)
    .map(([reason, n]) => `${grouped(n)} withheld: ${reasonWords(reason)}`);
}

/** Describes what a sink would do with stored items: `about 2 to send, 2,140 withheld: no value to match by`. */
export function plannedWords({
  items,
  withheld,
  failed = 0,
  estimated = false,
}: {
  readonly items: number;
  readonly withheld: Readonly<Record<string, number>>;
  /** Items on which the mapping fails. */
  readonly failed?: number;
  readonly estimated?: boolean;
}): string {
  return [`${estimated ? 'about ' : ''}${grouped(items)} to send`, ...unsentWords({ withheld, failed })].join(', ');
}

/** Returns the texts of `withheldWords`, and one about the items for which the mapping fails. */
export function unsentWords({
  withheld,
  failed,
}: {
  readonly withheld: Readonly<Record<string, number>>;
  readonly failed: number;
}): string[] {
  return [...withheldWords(withheld), ...(failed === 0 ? [] : [`${grouped(failed)} for which the mapping fails`])];
}

/** Deliveries that a new configuration causes for stored changes. */
interface Caused {
  readonly cause: 'history' | 'list-added' | 'released' | 'cured' | 'redriven' | 'since-watermark' | 'observed';
  /** The reason why `released` changes were withheld or `redriven` changes were refused; null for other causes. */
  readonly reason: string | null;
  readonly changes: number;
  /** True if the sink only observes: the changes are counted and not sent. */
  readonly observed: boolean;
  readonly estimated: boolean;
}

/** Returns why a new configuration sends stored changes. */
export function causedByWords({ cause, reason }: Pick<Caused, 'cause' | 'reason'>): string {
  switch (cause) {
    case 'history':
      return 'existing items: the sink is new';
    case 'list-added':
      return 'existing items: the list is new for this sink';
    case 'released':
      return `withheld until now: ${reasonWords(reason ?? '')}`;
    case 'cured':
      return 'withheld until now: the changed mapping sends it';
    case 'redriven':
      return `dead letters: ${reason ?? ''}`;
    case 'since-watermark':
      return 'found while the sink was not in the configuration';
    case 'observed':
      return 'found while the sink only observed';
  }
}

/** Returns the number of changes that a new configuration sends, as `about 12 changes`; null if it sends none. */
export function sentByPlan(deliveries: readonly Caused[]): string | null {
  const sent = deliveries.filter(({ observed }) => !observed);
  const changes = sent.reduce((sum, each) => sum + each.changes, 0);
  if (changes === 0) return null;
  return `${sent.some(({ estimated }) => estimated) ? 'about ' : ''}${counted(changes, 'change')}`;
}

/** The items of a list that a new or changed mapping does not send. */
interface PlannedWithholding {
  readonly sink: string;
  readonly list: string;
  readonly items: number;
  readonly withheld: Readonly<Record<string, number>>;
  readonly failed: number;
  /** The sum of both until now; null if the sink or the list is new. */
  readonly before: number | null;
  readonly estimated: boolean;
}

/**
 * Says how much of a list a new or changed mapping does not send: `does not send 5 of 12 attendees, 1 until now (…)`.
 */
export function withholdingWords(planned: PlannedWithholding): string {
  const untilNow = planned.before === null ? '' : `, ${grouped(planned.before)} until now`;
  return `does not send ${partOfList(planned)}${untilNow} (${unsentWords(planned).join(', ')})`;
}

function partOfList({ list, items, withheld, failed, estimated }: PlannedWithholding): string {
  return `${estimated ? 'about ' : ''}${grouped(sumOf(withheld) + failed)} of ${grouped(items)} ${list}`;
}

/** Returns sentences about the lists that a new configuration withholds, for a confirmation. */
export function withheldByPlan(withholding: readonly PlannedWithholding[]): string[] {
  return withholding.map((planned) => `The mapping of sink ${planned.sink} does not send ${partOfList(planned)}.`);
}
