import { counted, grouped, sumOf } from './words.js';

/**
 * Texts about deliveries: why a change is withheld, and why it became a dead letter. The API, the dashboard and the CLI
 * show these texts.
 */

/** Texts for the reasons for withholding: a short one that follows a count, and a sentence about one change. */
const reasons: Readonly<Record<string, readonly [short: string, sentence: string]>> = {
  'consent-refused': ['consent refused', 'the person refused consent'],
  'consent-not-asked': ['consent not asked', 'the person was not asked for consent'],
  'consent-not-known': ['consent unknown', 'the service does not say whether the person gave consent'],
  condition: ['excluded by its condition', 'the condition of the mapping ("when") excludes it'],
  'not-selected': ['in a pigeonhole that no sync of this sink selects', 'no sync of this sink selects its pigeonhole'],
  'list-not-wanted': ['from a list that the sink no longer receives', 'the sink no longer receives its list'],
  'no-match': ['no value to match by', 'it has no value that identifies the record'],
  'no-email': ['no e-mail address', 'it has no e-mail address, which the sink needs to find the record'],
  'no-key': [
    'no key and no e-mail address to match by',
    'it has no key and no e-mail address, and the sink needs one of them to find the record',
  ],
  'no-user': ['no user', 'the mapping finds no user for it'],
  'no-assignment': ['no course or assignment', 'the mapping finds no course or no assignment for it'],
  'no-grade': ['no grade', 'the mapping finds no grade for it'],
  'no-actor': ['no actor', 'the mapping finds no actor for it'],
  'no-activity': ['no activity', 'the mapping finds no activity for it'],
  'no-attendance': ['no attendance', 'the mapping finds no attendance for it'],
  'no-text': ['no text', 'the mapping finds no text for it'],
  'no-value': ['no value for a required property', 'it has no value for a property that the record requires'],
  'no-record': ['no record of the mapping applies', 'no record of the mapping applies to it'],
  'no-person': ['the identity of the person must not be sent', 'the identity of the person must not be sent'],
  unchanged: ['already up to date at the destination', 'the destination already has this content'],
  kept: ['kept by the settings of the sink', 'the settings of the sink keep what it received'],
  'never-sent': ['never sent', 'there is nothing to remove: the sink never received the item'],
  observe: ['the sink only observes', 'the sink only observes ("mode: observe")'],
  erased: ['person forgotten', 'the person was forgotten before the sink received the item'],
  'by-replay': ['delivered by a replay', 'a replay delivered it'],
  expired: ['retention period ended', 'the retention period of its content has ended'],
};

/** The beginning of a reason if the mapping found no value while the person's identity was hidden. */
const identityHidden = 'identity-hidden:';

/**
 * Returns the reason for a change that lacks a value while the person's identity is hidden. Such a change is withheld
 * on purpose, because the value may be one that identifies the person.
 */
export function whileIdentityHidden(reason: string): string {
  return `${identityHidden}${reason}`;
}

/** Returns the mapping's own reason if the identity was hidden; null for every other reason. */
export function reasonWhileHidden(reason: string): string | null {
  return reason.startsWith(identityHidden) ? reason.slice(identityHidden.length) : null;
}

/** Returns the short text of a reason for withholding, or the reason's code if it has no text. */
export function reasonWords(reason: string): string {
  const hidden = reasonWhileHidden(reason);
  if (hidden !== null) return `${reasonWords(hidden)} while the identity is hidden`;
  return reasons[reason]?.[0] ?? reason;
}

/** Returns the sentence about a change that was withheld for a reason, or the reason's code if it has no sentence. */
export function reasonText(reason: string): string {
  const hidden = reasonWhileHidden(reason);
  if (hidden !== null) return `the identity of the person must not be sent, and without it ${reasonText(hidden)}`;
  return reasons[reason]?.[1] ?? reason;
}

const outcomes: Readonly<Record<string, string>> = {
  delivered: 'delivered',
  withheld: 'withheld',
  superseded: 'superseded by a later revision',
  dead: 'dead letter',
  retry: 'failed, will be retried',
  waiting: 'queued',
  sending: 'being sent, outcome unknown',
  behind: 'not processed yet',
  unwanted: 'not sent: this sink does not receive the list',
  passed: 'not sent: the configuration at that time did not send it to this sink',
};

/**
 * Returns the state of a delivery in words.
 * @param others the other deliveries of the same revision to the same sink
 */
export function outcomeText(
  { state, reason, replay }: { readonly state: string; readonly reason: string | null; readonly replay: string | null },
  others: readonly { readonly state: string; readonly reason: string | null }[] = [],
): string {
  if (state === 'delivered' && reason === 'by-replay') return 'not delivered at first, but later by a replay';
  if (state === 'behind' && reason === 'observe') return 'not sent';
  const outcome = outcomes[state] ?? state;
  if (replay === null) return outcome;
  const isAgain = others.some((other) => other.state === 'delivered' && other.reason !== 'by-replay');
  return state === 'delivered' && isAgain ? 'delivered again by a replay' : `${outcome} by a replay`;
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

/** Meaning of a cause of dead letters, and the action that helps. */
interface CauseText {
  readonly meaning: string;
  readonly help: string;
}

/** Whether a sink with these properties only counts what it would send. Pure. */
export function isObserving<Sink extends { readonly observation: object | null; readonly approval: object | null }>(
  sink: Sink,
): sink is Sink & { readonly observation: NonNullable<Sink['observation']> } {
  return sink.observation !== null && sink.approval === null;
}

/** Progress of a replay at a sink. */
interface ReplayProgress {
  /** Number of items to send; null if it is not known. */
  readonly total: number | null;
  readonly sent: number;
  /** Number of items passed to the sink; `open` of them are not settled. */
  readonly taken: number;
  readonly open: number;
}

/** Returns `4,231 of 18,331 sent again, 12 withheld or refused, 3 in progress`. Omits what is 0. */
export function replayWords({ total, sent, taken, open }: ReplayProgress): string {
  const inProgress = open === 0 ? [] : [`${grouped(open)} in progress`];
  if (total === null) return [`${counted(taken, 'item')} so far`, ...inProgress].join(', ');
  const others = taken - open - sent;
  const notSent = others <= 0 ? [] : [`${grouped(others)} withheld or refused`];
  return [`${grouped(sent)} of ${grouped(total)} sent again`, ...notSent, ...inProgress].join(', ');
}

const redriveThem = 'then redrive them';

const causes: readonly { readonly matches: RegExp; readonly says: CauseText }[] = [
  {
    matches: /^mapping/,
    says: {
      meaning: 'an expression of the mapping failed on these items',
      help: 'preview one of the items, correct the expression in pigeonpost.yaml, and apply the configuration, which sends them again',
    },
  },
  {
    matches: /^outcome-unknown$/,
    says: {
      meaning: 'the answer was lost, and pigeonpost could not find out whether the destination has them',
      help: 'check the destination, and redrive only the changes that are missing there: others would arrive twice',
    },
  },
  {
    matches: /^withdrawals-held$/,
    says: {
      meaning:
        'an unusually large number of people withdrew consent at the same time, so their removal waits for a decision',
      help: 'check that the withdrawals are intended, then redrive them to remove the people from the destination',
    },
  },
  {
    matches: /^attempts-exhausted$/,
    says: {
      meaning: 'every attempt failed, while other changes were accepted',
      help: `read the answer of the destination, fix the record or the destination, ${redriveThem}`,
    },
  },
  {
    matches: /forget-by-hand$/,
    says: {
      meaning: 'the destination offers no way to remove these records automatically',
      help: 'remove them by hand at the destination; a redrive does not help',
    },
  },
  {
    matches: /(not-found|gone|is_archived|not-published|assignment|no-permission|no-external-id)/i,
    says: {
      meaning: 'the object that they belong to does not exist, is closed, or is not accessible',
      help: `create it, open it or grant the permission at the destination, ${redriveThem}`,
    },
  },
  {
    matches: /(invalid|missing|too_long|not-storable|unsafe|http:4|duplicate|conflict)/i,
    says: {
      meaning: 'the destination rejects their content',
      help: `read the answer of the destination, correct the record or the mapping, ${redriveThem}`,
    },
  },
];

/** The text for a cause that matches none of the patterns. */
const anyCause: CauseText = {
  meaning: 'the destination refused them',
  help: `read the answer of the destination, fix the cause, ${redriveThem}`,
};

export function causeText(cause: string): CauseText {
  return causes.find(({ matches }) => matches.test(cause))?.says ?? anyCause;
}
