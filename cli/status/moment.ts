import type { Status } from '../../operations/status-view.js';
import type { ApiClient } from '../api-client.js';
import { grouped } from '../../base/words.js';
import { type TextLine, wrapFacts } from '../text-line.js';
import type { Overview } from '../../api/syncs.js';

type ItemCount = NonNullable<Status['counts']>['items'][number];

/**
 * Waits between two counts: at least 10 s, and 20 times the duration of the last count, because a count reads all
 * items.
 */
const minWaitMs = 10_000;
const waitPerRead = 20;

/** Reads the number of items by list repeatedly, less often if counting is slow. */
export class ItemCounts {
  #latest: readonly ItemCount[] | null = null;
  #nextAt = -Infinity;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Returns the latest counts, and reads new ones if they are due. */
  async read(api: Pick<ApiClient, 'status'>): Promise<readonly ItemCount[] | null> {
    const startedAt = this.now();
    if (startedAt < this.#nextAt) return this.#latest;
    const { counts } = await api.status({ counts: false, items: true });
    this.#latest = counts?.items ?? null;
    const took = this.now() - startedAt;
    this.#nextAt = this.now() + Math.max(minWaitMs, took * waitPerRead);
    return this.#latest;
  }
}

/** Returns "items  600 attendees, 1,200 votes" for all events of a workspace; no line if nothing is stored. Pure. */
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

/** The data that `status`, `status --watch` and the screen of `start` show. */
export interface Moment {
  readonly status: Status;
  readonly overview: Overview;
  /** Number of items by list; null if not counted. */
  readonly items: readonly ItemCount[] | null;
}

/** Requests both views of the API at the same time. */
export async function readMoment(
  api: ApiClient,
  { counts, itemCounts }: { readonly counts: boolean; readonly itemCounts?: ItemCounts },
): Promise<Moment> {
  const [status, overview, items] = await Promise.all([
    api.status({ counts }),
    api.overview(),
    itemCounts?.read(api) ?? null,
  ]);
  return { status, overview, items };
}
