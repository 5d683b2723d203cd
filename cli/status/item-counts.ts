import type { Status } from '../../operations/status-view.js';
import type { ApiClient } from '../api-client.js';
import { grouped } from '../grouped.js';
import type { TextLine } from '../text-line.js';
import { wrapFacts } from './wrap-facts.js';

export type ItemCount = NonNullable<Status['counts']>['items'][number];

/** Counting reads all items, so it takes at most a twentieth of the time, however many there are. */
const minWaitMs = 10_000;
const waitPerRead = 20;

/** Reads the number of items by list again and again, less often where it takes long. */
export class ItemCounts {
  #latest: readonly ItemCount[] | null = null;
  #nextAt = -Infinity;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Returns the latest counts, read now where it is time. */
  async read(api: Pick<ApiClient, 'status'>): Promise<readonly ItemCount[] | null> {
    const began = this.now();
    if (began < this.#nextAt) return this.#latest;
    const { counts } = await api.status({ counts: false, items: true });
    this.#latest = counts?.items ?? null;
    const took = this.now() - began;
    this.#nextAt = this.now() + Math.max(minWaitMs, took * waitPerRead);
    return this.#latest;
  }
}

/** Returns "items  600 attendees, 1,200 votes", of all events of a workspace together; nothing where none is stored. Pure. */
export function itemLines(items: readonly ItemCount[] | null, workspace: string, columns: number): TextLine[] {
  const sums = new Map<string, number>();
  for (const each of items ?? []) {
    if (each.workspace === workspace) sums.set(each.list, (sums.get(each.list) ?? 0) + each.items);
  }
  const facts = [...sums].toSorted(([one], [other]) => one.localeCompare(other));
  return wrapFacts(
    '  items  ',
    facts.map(([list, n]) => `${grouped(n)} ${list}`),
    columns,
    'dim',
  );
}
