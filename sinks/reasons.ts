/**
 * Declarations of the codes in a sink's plans and outcomes. Each sink type declares its codes as data in its folder
 * (`reasons.ts`). Alerts about withheld items, the decisions that a changed mapping repeats, receipts of erasures, the
 * page and the command line read these declarations, so no other code knows the code of a single sink. A code means the
 * same in every sink. This file and the declarations import nothing else, because the page loads them in the browser.
 */

/** A reason why a sink sends nothing for a change: `reason` of a plan `nothing`. */
export interface Reason {
  /** Follows a count, as in `2,140 withheld: no value to match by`. */
  readonly short: string;
  /** Follows "withheld, because". */
  readonly sentence: string;
  readonly kind: ReasonKind;
  /** The expressions that should have supplied the value, or that excluded the item. */
  readonly readBy?: ReadBy;
  /** True if a removal that is skipped for this reason leaves no data of the item at the destination. */
  readonly nothingLeft?: true;
  /** Advice for an operator about a removal that is skipped for this reason, if data of the item may be left. */
  readonly help?: string;
}

/**
 * - `missing-value`: the mapping finds no value that the sink needs, so another mapping may find one. If many items of a
 *   list lack it, the mapping is probably wrong. While the identity of the person is hidden, the engine marks the reason
 *   (`whileIdentityHidden`), because the value may be one that identifies the person.
 * - `excluded`: the mapping excludes the item on purpose. Another mapping may not.
 * - `hidden`: nobody may be named, and the mapping needs a person. This is never a mistake of the mapping, but another
 *   mapping may need nobody.
 * - `settled`: no mapping would decide otherwise: the destination is up to date, or it must not receive the item.
 */
export type ReasonKind = 'missing-value' | 'excluded' | 'hidden' | 'settled';

/** The expressions in the settings of a sink that read a value. */
export interface ReadBy {
  /** Matches the keys of the expressions, such as `records[0].user`. */
  readonly keys: RegExp;
  /**
   * The key of an entry that lists those of its properties that supply the value, such as `match`. If an entry has no
   * such list, its other matching keys supply the value.
   */
  readonly listedIn?: string;
}

/** By code. */
export type Reasons = Readonly<Record<string, Reason>>;

/** A cause with which a change becomes a dead letter: `cause` of an outcome `rejected` or a plan `unplannable`. */
export interface Cause {
  /** Follows the number of dead letters. */
  readonly meaning: string;
  /** The action that helps. */
  readonly help: string;
  /**
   * True if the destination may have carried out the operation. Only an operator sends such a change again, because the
   * destination might then have it twice.
   */
  readonly outcomeUnknown?: true;
}

/** By code. A code that ends with `*` declares all codes that start with the text before it. */
export type Causes = Readonly<Record<string, Cause>>;

/** Reasons that several sinks share. */
const common = {
  condition: {
    short: 'excluded by its condition',
    sentence: 'the condition of the mapping ("when") excludes it',
    kind: 'excluded',
    readBy: { keys: /(?:^|\.)when$/ },
    nothingLeft: true, // a removal has this reason only if the sink made nothing of the item
  },
  'no-record': {
    short: 'no record of the mapping applies',
    sentence: 'no record of the mapping applies to it',
    kind: 'excluded',
    nothingLeft: true,
  },
  'no-person': {
    short: 'the identity of the person must not be sent',
    sentence: 'the identity of the person must not be sent',
    kind: 'hidden',
  },
  unchanged: {
    short: 'already up to date at the destination',
    sentence: 'the destination already has this content',
    kind: 'settled',
  },
  kept: {
    short: 'kept by the settings of the sink',
    sentence: 'the settings of the sink keep what it received',
    kind: 'settled',
  },
  'never-sent': {
    short: 'never sent',
    sentence: 'there is nothing to remove: the sink never received the item',
    kind: 'settled',
    nothingLeft: true,
  },
  'nothing-made': {
    short: 'nothing to remove',
    sentence: 'there is nothing to remove: the destination has nothing of the item',
    kind: 'settled',
    nothingLeft: true,
  },
  'forget-by-hand': {
    short: 'to be removed by hand',
    sentence: 'the settings of the sink ("onForget: manual") leave the removal to an operator',
    kind: 'settled',
    help: 'set "onForget" to let pigeonpost remove people',
  },
  deleted: {
    short: 'deleted before the sink received it',
    sentence: 'the item was deleted, and the destination has nothing of it',
    kind: 'settled',
    nothingLeft: true,
  },
  'consent-withdrawn': {
    short: 'consent withdrawn before the sink received it',
    sentence: 'the person withdrew consent, and the destination has nothing of the item',
    kind: 'settled',
    nothingLeft: true,
  },
  erased: {
    short: 'person forgotten',
    sentence: 'the person was forgotten before the sink received the item',
    kind: 'settled',
    nothingLeft: true,
  },
} as const satisfies Reasons;

type CommonCode = keyof typeof common;

/** Returns the declarations of reasons that several sinks share. */
export function commonReasons<Code extends CommonCode>(...codes: readonly Code[]): Readonly<Record<Code, Reason>> {
  const declared: Reasons = common;
  return Object.fromEntries(codes.map((code) => [code, declared[code]!])) as Record<Code, Reason>;
}

/**
 * The reasons of a removal for which the sink has nothing to do, because the destination has nothing of the item: the
 * values of `Subject.removal`.
 */
export const removalReasons = commonReasons('deleted', 'consent-withdrawn', 'erased');

const thenRedrive = 'then redrive them';

/** The meaning of dead letters if the declaration says nothing more precise. */
export const refused: Cause = {
  meaning: 'the destination refused them',
  help: `read the answer of the destination, fix the cause, ${thenRedrive}`,
};

export const contentRejected: Cause = {
  meaning: 'the destination rejects their content',
  help: `read the answer of the destination, correct the record or the mapping, ${thenRedrive}`,
};

export const targetUnusable: Cause = {
  meaning: 'the object that they belong to does not exist, is closed, or is not accessible',
  help: `create it, open it or grant the permission at the destination, ${thenRedrive}`,
};

export const removeByHand: Cause = {
  meaning: 'the destination offers no way to remove these records automatically',
  help: 'remove them by hand at the destination; a redrive does not help',
};

export const mergedRecord: Cause = {
  meaning: 'the record was merged into another one, so pigeonpost does not remove its data',
  help: 'remove the data from the remaining record by hand; a redrive does not help',
};

export const severalMatches: Cause = {
  meaning: 'several records at the destination match',
  help: 'merge the records there, or match by a value that is unique, then redrive them',
};

export const unsafePath: Cause = {
  meaning: 'their workspace, list or timestamp cannot be part of a file name',
  help: 'send such changes to a sink of another type; a redrive does not help',
};

/** The engine has this cause as well. A sink uses it if it looked an operation up and could not find out. */
export const outcomeUnknown: Cause = {
  meaning: 'the answer was lost, and pigeonpost could not find out whether the destination has them',
  help: 'check the destination, and redrive only the changes that are missing there: others would arrive twice',
  outcomeUnknown: true,
};

/** Codes of the delivery engine (delivering/), in the same form. */
export const engineReasons = {
  'consent-refused': { short: 'consent refused', sentence: 'the person refused consent', kind: 'settled' },
  'consent-not-asked': {
    short: 'consent not asked',
    sentence: 'the person was not asked for consent',
    kind: 'settled',
  },
  'consent-not-known': {
    short: 'consent unknown',
    sentence: 'the service does not say whether the person gave consent',
    kind: 'settled',
  },
  'not-selected': {
    short: 'in a pigeonhole that no sync of this sink selects',
    sentence: 'no sync of this sink selects its pigeonhole',
    kind: 'settled',
  },
  'list-not-wanted': {
    short: 'from a list that the sink no longer receives',
    sentence: 'the sink no longer receives its list',
    kind: 'settled',
  },
  observe: { short: 'the sink only observes', sentence: 'the sink only observes ("mode: observe")', kind: 'settled' },
  'by-replay': { short: 'delivered by a replay', sentence: 'a replay delivered it', kind: 'settled' },
  expired: {
    short: 'retention period ended',
    sentence: 'the retention period of its content has ended',
    kind: 'settled',
  },
  ...commonReasons('erased'),
} as const satisfies Reasons;

export const engineCauses = {
  'mapping*': {
    meaning: 'an expression of the mapping failed on these items',
    help: 'preview one of the items, correct the expression in pigeonpost.yaml, and apply the configuration, which sends them again',
  },
  'outcome-unknown': outcomeUnknown,
  'withdrawals-held': {
    meaning:
      'an unusually large number of people withdrew consent at the same time, so their removal waits for a decision',
    help: 'check that the withdrawals are intended, then redrive them to remove the people from the destination',
  },
  'attempts-exhausted': {
    meaning: 'every attempt failed, while other changes were accepted',
    help: `read the answer of the destination, fix the record or the destination, ${thenRedrive}`,
  },
} as const satisfies Causes;

/** Returns the declaration of a cause: that of the code itself, or of the longest family that includes it. */
export function declaredCause(causes: Causes, code: string): Cause | undefined {
  if (!code.endsWith('*') && Object.hasOwn(causes, code)) return causes[code];
  const families = Object.keys(causes).filter((each) => each.endsWith('*') && code.startsWith(each.slice(0, -1)));
  return causes[families.toSorted((one, other) => other.length - one.length)[0] ?? ''];
}

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
