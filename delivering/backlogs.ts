import { groupBy } from '../base/grouping.js';
import { sumOf } from '../base/words.js';
import type { Ledger } from '../ledger/ledger.js';
import { maxCountedBehind } from '../ledger/sql-expressions.js';

/** A lane whose sink may have to receive changes after the watermark. */
export interface BehindLane {
  readonly sinkId: number;
  readonly pigeonholeNumber: number;
  readonly watermark: number;
  /** Sequence of the newest change of the pigeonhole. */
  readonly newest: number;
  /** The lists that the sink accepts, separated by spaces; empty: not known yet, so all count. */
  readonly lists: string;
}

/** The changes after a lane's watermark. */
export interface Backlog {
  /** Number of changes of lists that the sink accepts; of all lists if there are too many to count. */
  readonly behind: number;
  /** The same number by list. Empty name: changes that are not counted by list. */
  readonly byList: ReadonlyMap<string, number>;
  /** Time at which the oldest of them was found; null: there is none. */
  readonly since: Date | null;
}

/** Knowledge about the changes after `watermark`, up to `upTo`. */
interface Known extends Pick<BehindLane, 'watermark' | 'lists'> {
  readonly upTo: number;
  readonly byList: ReadonlyMap<string, number>;
  readonly since: Date | null;
}

/**
 * Number of changes that one call reads to count them by list, over all lanes. The others count as if their sinks
 * accepted every list, until a later call has counted them.
 */
const maxRead = 20_000;

/**
 * Counts the changes after the watermarks of lanes. Changes are only ever appended, so a process that has counted those
 * of a lane needs to read only newer ones. A sink that has been down for a day then costs no more than one that works.
 */
export class Backlogs {
  #known = new Map<string, Known>();

  /** Returns the backlog of each lane, in their order. Forgets lanes that are not among them. */
  async of(ledger: Ledger, lanes: readonly BehindLane[]): Promise<Backlog[]> {
    const before = lanes.map((lane) => this.#before(lane));
    const counted = toCount(lanes, before);
    const found = await readRanges(
      ledger,
      lanes.flatMap((lane, index): Range[] => {
        const { upTo, since } = before[index]!;
        if (counted.has(index)) return [{ lane, index, after: upTo, counts: true }];
        return since === null && upTo < lane.newest ? [{ lane, index, after: upTo, counts: false }] : [];
      }),
    );
    const known = lanes.map((lane, index): Known => {
      const { upTo, byList, since, ...position } = before[index]!;
      const more = found.get(index);
      const isCounted = counted.has(index);
      return {
        ...position,
        upTo: isCounted ? lane.newest : upTo,
        byList: isCounted && more !== undefined ? added(byList, more.byList) : byList,
        since: since ?? more?.since ?? null,
      };
    });
    this.#known = new Map(lanes.map((lane, index) => [keyOf(lane), known[index]!]));
    return known.map(({ upTo, byList, since }, index) => {
      const { newest, lists } = lanes[index]!;
      const uncounted = newest - upTo;
      const counts = uncounted === 0 ? byList : added(byList, new Map([['', uncounted]]));
      const behind = sumOf(Object.fromEntries(counts));
      return { behind, byList: lists === '' && behind > 0 ? new Map([['', behind]]) : counts, since };
    });
  }

  #before(lane: BehindLane): Known {
    const { watermark, lists } = lane;
    const known = this.#known.get(keyOf(lane));
    if (known !== undefined && known.watermark === watermark && known.lists === lists) return known;
    return { watermark, lists, upTo: watermark, byList: new Map(), since: null };
  }
}

function added(counts: ReadonlyMap<string, number>, more: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const sums = new Map(counts);
  for (const [list, changes] of more) sums.set(list, (sums.get(list) ?? 0) + changes);
  return sums;
}

function keyOf({ sinkId, pigeonholeNumber }: BehindLane): string {
  return `${sinkId} ${pigeonholeNumber}`;
}

/**
 * Returns the indexes of the lanes whose changes are counted by list now: the shortest ranges first, so that most lanes
 * are. Lanes that are far behind are not counted.
 */
function toCount(lanes: readonly BehindLane[], before: readonly Known[]): Set<number> {
  let read = 0;
  return new Set(
    lanes
      .map(({ watermark, newest }, index) => ({
        index,
        changes: newest - before[index]!.upTo,
        all: newest - watermark,
      }))
      .filter(({ changes, all }) => changes > 0 && all <= maxCountedBehind)
      .toSorted((one, other) => one.changes - other.changes)
      .filter(({ changes }) => (read += changes) <= maxRead)
      .map(({ index }) => index),
  );
}

interface Range {
  readonly lane: BehindLane;
  readonly index: number;
  readonly after: number;
  /** False: only the first change that the sink accepts is searched, or else the one after those searched is taken. */
  readonly counts: boolean;
}

async function readRanges(
  ledger: Ledger,
  ranges: readonly Range[],
): Promise<ReadonlyMap<number, Omit<Backlog, 'behind'>>> {
  if (ranges.length === 0) return new Map();
  const rows = await ledger.db.query<{ index: number; list: string | null; behind: number; since: Date | null }>(
    // `materialized`, so that the lists of a lane are split only once.
    `with n as materialized (
       select index, pigeonhole_number, after, up_to, counts, lists = '' as is_all, string_to_array(lists, ' ') as lists
       from unnest($1::int4[], $2::int4[], $3::int8[], $4::int8[], $5::text[], $6::boolean[])
         as n (index, pigeonhole_number, after, up_to, lists, counts))
     select n.index, counted.list, coalesce(counted.behind, 0) as behind, case when n.counts then counted.since else coalesce(
         (select c.found_at from changes c where c.pigeonhole_number = n.pigeonhole_number and c.sequence > n.after
           and c.sequence <= n.up_to and (n.is_all or c.list = any(n.lists)) order by c.sequence limit 1),
         (select c.found_at from changes c where c.pigeonhole_number = n.pigeonhole_number
           and c.sequence = n.up_to + 1)) end as since
     from n left join lateral (select c.list, count(*)::int as behind, min(c.found_at) as since from changes c
         where n.counts and c.pigeonhole_number = n.pigeonhole_number and c.sequence > n.after and c.sequence <= n.up_to
           and (n.is_all or c.list = any(n.lists)) group by c.list) counted on true`,
    [
      ranges.map(({ index }) => index),
      ranges.map(({ lane }) => lane.pigeonholeNumber),
      ranges.map(({ after }) => after),
      ranges.map(({ lane, after }) => Math.min(lane.newest, after + maxCountedBehind)),
      ranges.map(({ lane }) => lane.lists),
      ranges.map(({ counts }) => counts),
    ],
  );
  return new Map(
    [...groupBy(rows, ({ index }) => index)].map(([index, own]) => [
      index,
      {
        byList: new Map(own.flatMap(({ list, behind }) => (list === null ? [] : [[list, behind] as const]))),
        since: own.reduce<Date | null>(
          (first, { since }) => (first === null || (since ?? first) < first ? since : first),
          null,
        ),
      },
    ]),
  );
}
