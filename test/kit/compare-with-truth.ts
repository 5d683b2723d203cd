import { pigeonholeLists, workspaceLists } from '../../base/lists.js';
import { truthOf } from './truth.js';

/** A change in a sink. */
export interface HeldChange {
  readonly pigeonholeId: number;
  readonly list: string;
  readonly key: string;
  readonly revision: number;
  readonly data: Readonly<Record<string, unknown>> | null;
}

export type Item = Readonly<Record<string, unknown>>;

/**
 * Returns the items of the source that a sink lacks or holds in an old version, and the items that it must not hold;
 * empty if it has everything. Anonymous items are compared without the person. Attendees whose consent state the sink
 * does not accept must be absent: no such record is ever sent, so its presence is a leak. The configuration must select
 * every pigeonhole.
 * @param accepts consent states, as the source would show them
 */
export async function lackOf(
  held: readonly HeldChange[],
  baseUrl: string,
  accepts: (consent: unknown) => boolean,
): Promise<string[]> {
  const latest = new Map<string, HeldChange>();
  for (const change of held) {
    const name = `${change.pigeonholeId} ${change.list} ${change.key}`;
    if ((latest.get(name)?.revision ?? 0) < change.revision) latest.set(name, change);
  }
  const have = new Map<string, number>();
  const lacks: string[] = [];
  for (const { pigeonholeId, list, key, data } of latest.values()) {
    if (data === null) continue;
    add(have, fingerprint(pigeonholeId, list, data));
    if (list === 'attendees' && !accepts(data['consent']))
      lacks.push(`held without consent: ${pigeonholeId} attendees ${key}`);
  }
  for (const list of workspaceLists) compare(0, list, await truthOf(baseUrl, list, 0));
  for (const { id } of await truthOf(baseUrl, 'pigeonholes', 0)) {
    for (const list of pigeonholeLists) {
      const truth = await truthOf(baseUrl, list, Number(id));
      compare(Number(id), list, list === 'attendees' ? truth.filter((item) => accepts(item['consent'])) : truth);
    }
  }
  return lacks;

  function compare(pigeonholeId: number, list: string, wanted: readonly Item[]): void {
    const want = new Map<string, number>();
    for (const item of wanted) add(want, fingerprint(pigeonholeId, list, item));
    for (const [print, n] of want) if ((have.get(print) ?? 0) < n) lacks.push(print);
  }
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** Identifies a version of an item, without the person and without copies of other items. */
export function fingerprint(pigeonholeId: number, list: string, item: Item): string {
  const { attendee: _, attendeeId: __, links: ___, ...rest } = item;
  return `${pigeonholeId} ${list} ${JSON.stringify(sorted(list === 'votes' ? voteOf(item) : withoutCopies(list, rest)))}`;
}

/** Removes the texts of a vote, which are copies of its question's and may be outdated. */
function voteOf(item: Item): Item {
  return { createdAt: item['createdAt'], question: idOf(item['question']), session: idOf(item['session']) };
}

function withoutCopies(list: string, item: Item): Item {
  const copies =
    list === 'questions' || list === 'sessions' || list === 'attendees'
      ? ['session']
      : ['session', 'question', 'option'];
  return Object.fromEntries(
    Object.entries(item).map(([name, value]) => [name, copies.includes(name) ? idOf(value) : value]),
  );
}

function idOf(value: unknown): unknown {
  return value !== null && typeof value === 'object' && 'id' in value ? value.id : value;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== 'links' && name !== 'passcode')
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  );
}
