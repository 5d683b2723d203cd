import { counted } from './words.js';

/* Texts about audits, which the page and the command line show. */

/** The classes of an audit in the order in which they are shown, with the word for each. */
export const parityClasses = [
  ['same', 'same'],
  ['stale', 'stale'],
  ['changed', 'changed there'],
  ['missing', 'missing'],
  ['extra', 'extra'],
  ['unreadable', 'unreadable'],
  ['undelivered', 'not compared'],
] as const;

export type ParityCounts = Readonly<Record<(typeof parityClasses)[number][0], number>>;

/** Returns the word for a class. */
export function parityWord(name: keyof ParityCounts): string {
  return parityClasses.find(([each]) => each === name)![1];
}

/** Returns the number of entries that are not as they should be. */
export function differing({ same: _, undelivered: __, ...counts }: ParityCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** Returns what is old about a stale item, or why an item cannot be read, in words; null: nothing is known. */
export function causeWords(cause: string | null): string | null {
  switch (cause) {
    case null:
      return null;
    case 'revision':
      return 'an earlier revision';
    case 'related':
      return 'the session, the person or a copied text has changed since';
    case 'mapping':
      return 'the mapping has changed since';
    case 'read-failed':
      return 'every attempt to read it failed';
    default:
      return cause;
  }
}

interface RepairPlan {
  readonly actions: Readonly<Record<'send' | 'remove' | 'remove-copy', number>>;
  readonly byHand: number;
}

/** Returns what a repair does, one phrase for each action that has something to do. */
export function planWords({ actions, byHand }: RepairPlan): string[] {
  return [
    ...(actions.send > 0 ? [`send ${counted(actions.send, 'item')} again`] : []),
    ...(actions.remove > 0 ? [`remove ${counted(actions.remove, 'item')} that should not be there`] : []),
    ...(actions['remove-copy'] > 0
      ? [`remove ${counted(actions['remove-copy'], 'copy', 'copies')} with the mark of pigeonpost`]
      : []),
    ...(byHand > 0 ? [`leave ${counted(byHand, 'difference')} to an operator at the destination`] : []),
  ];
}

/** A difference that an audit found. */
interface Found {
  readonly class: keyof ParityCounts;
  readonly copy: string | null;
  readonly fields: readonly string[];
  readonly cause: string | null;
}

/** Returns the details of a difference: the copy, the names of the fields, and the cause. */
export function findingWords({ copy, fields, cause }: Omit<Found, 'class'>): string[] {
  return [
    ...(copy === null ? [] : [`copy: ${copy}`]),
    ...(fields.length === 0 ? [] : [fields.join(', ')]),
    ...(cause === null ? [] : [causeWords(cause)!]),
  ];
}
