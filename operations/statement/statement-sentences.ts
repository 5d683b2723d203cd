import { counted, formatSpan, grouped } from '../../base/words.js';
import type { Destination, DestinationList, Parity, Statement, StatementList } from './statement.js';
import { parityWords } from './statement-words.js';

/*
 * The sentences of a statement that its page and the terminal share. Their readers know the event but not pigeonpost.
 */

/** Returns the result in a few words. Pure. */
export function verdictOf({ agrees, open }: Pick<Statement, 'agrees' | 'open'>): string {
  return agrees
    ? 'Every item is accounted for'
    : `${counted(open.length, 'point')} ${open.length === 1 ? 'is' : 'are'} open`;
}

/** Returns the result in one or two sentences. Pure. */
export function summaryOf({ source, destinations }: Pick<Statement, 'source' | 'destinations'>): string {
  const { shown, held, lists } = source;
  const first = `The event service shows ${counted(shown, 'item')} (people, questions, votes and so on) in ${counted(lists.length, 'list')}, and pigeonpost has ${shown === held ? (shown === 1 ? 'it' : `all ${grouped(held)}`) : grouped(held)}.`;
  if (destinations.length === 0) return `${first} No destination receives this event.`;
  const sum = (pick: (list: DestinationList) => number): number =>
    destinations.reduce((total, { lists: own }) => total + own.reduce((n, list) => n + pick(list), 0), 0);
  const parts = [
    `${grouped(sum(({ delivered }) => delivered))} were delivered`,
    ...[
      [sum(({ withheld }) => withheld), 'were withheld on purpose'] as const,
      [sum(({ unsent }) => unsent), 'were not meant for the destination'] as const,
      [sum(({ refused }) => refused), 'were refused'] as const,
      [sum(({ waiting }) => waiting), 'are waiting'] as const,
    ].flatMap(([n, words]) => (n === 0 ? [] : [`${grouped(n)} ${words}`])),
  ];
  const items = counted(
    sum((list) => list.items),
    'item',
  );
  const whole =
    destinations.length === 1
      ? `The destination receives the lists that its settings name. These have ${items}`
      : `Each destination receives the lists that its settings name. Counted once for each of the ${counted(destinations.length, 'destination')}, these have ${items}`;
  return `${first} ${whole}: ${parts.join(', ')}.`;
}

/** Returns the differences of a list in one text; empty if there are none. Pure. */
export function differenceText({ differences }: Pick<StatementList, 'differences'>): string {
  return differences.map(({ items, text }) => `${grouped(Math.abs(items))} ${text}`).join('; ');
}

/** Returns the reasons of a list at a destination in one text; empty if everything was delivered. Pure. */
export function reasonsText({ reasons }: Pick<DestinationList, 'reasons'>): string {
  return reasons.map(({ items, text }) => `${grouped(items)}: ${text}`).join('; ');
}

/** Returns what became of the removals at a destination in a sentence; null if there are none. Pure. */
export function removalsText({ name, lists }: Destination): string | null {
  const sum = (pick: (removed: DestinationList['removed']) => number): number =>
    lists.reduce((total, { removed }) => total + pick(removed), 0);
  const items = sum((removed) => removed.items);
  if (items === 0) return null;
  const parts = [
    [sum(({ delivered }) => delivered), `were removed from ${name} or marked there as removed`] as const,
    [sum(({ withheld, unsent }) => withheld + unsent), 'had never been sent'] as const,
    [sum(({ refused }) => refused), 'could not be removed there'] as const,
    [sum(({ waiting }) => waiting), 'are still to be removed'] as const,
  ].flatMap(([n, words]) => (n === 0 ? [] : [`${grouped(n)} ${words}`]));
  return `${counted(items, 'earlier item')} of these lists ${items === 1 ? 'was' : 'were'} deleted in the event service or erased on request: ${parts.join(', ')}.`;
}

/** Returns the differences that a comparison with a destination found and nothing explains, in words. Pure. */
export function parityDifferences(parity: Parity | null): { class: keyof Parity; words: string; items: number }[] {
  if (parity === null) return [];
  return (Object.entries(parityWords) as [keyof typeof parityWords, string][])
    .map(([found, words]) => ({ class: found, words, items: parity[found] }))
    .filter(({ items }) => items > 0);
}

/**
 * Returns what the last comparison with a destination found, in a sentence; null if there was none. Pure.
 * @param at formats an instant
 * @param requestedAt instant of the request for the statement; a comparison that ended before it says so
 */
export function parityText(
  { name, parity }: Destination,
  at: (iso: string) => string,
  requestedAt: string,
): string | null {
  if (parity === null) return null;
  const { comparedAt, compared, same, explained, unreadable } = parity;
  const parts = [
    ...(explained === 0 ? [] : [`${grouped(explained)} follow earlier settings`]),
    ...parityDifferences(parity).map(({ words, items }) => `${grouped(items)} ${words}`),
    ...(unreadable === 0 ? [] : [`${grouped(unreadable)} cannot be read there`]),
  ];
  const found =
    same === compared && parts.length === 0
      ? 'all are there as sent'
      : [`${grouped(same)} are there as sent`, ...parts].join('; ');
  const age = comparedAt < requestedAt ? ', which is before this statement was requested' : '';
  return `Compared with what ${name} holds, ${at(comparedAt)}${age}: of ${counted(compared, 'delivered item')}, ${found}.`;
}

/** Returns how reading was interrupted, in a sentence. Pure. */
export function coverageText({
  coverage: { interruptions, seconds, readAfterwards },
}: Pick<Statement, 'coverage'>): string {
  if (interruptions.length === 0) return 'The reading of the lists was never late or interrupted.';
  const after = readAfterwards
    ? 'Every list was read completely after the last of them, so nothing was missed.'
    : 'Not every list has been read completely since.';
  return `The reading of the lists was late or interrupted ${interruptions.length === 1 ? 'once' : `${grouped(interruptions.length)} times`}, for ${formatSpan(seconds)} in total. ${after}`;
}

/** Returns the type of a session in words. Pure. */
export function sessionTypeWords(type: string | null): string {
  if (type === null) return '';
  return type === 'qna' ? 'Q&A' : type.replace(/^poll_/, '').replaceAll('_', ' ');
}

/** Returns an instant as `3 Jun 2026, 10:05` in a time zone. Pure. @param timezone null or unknown: UTC */
export function localInstant(iso: string, timezone: string | null): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone ?? 'UTC',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  return format.format(new Date(iso));
}
