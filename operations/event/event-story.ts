import { titleOf } from '../../base/item-titles.js';
import { isObserving } from '../../base/delivery-words.js';
import type { Fields } from '../../ledger/item-form.js';
import type { Ledger } from '../../ledger/ledger.js';
import { behindCount } from '../../ledger/sql-expressions.js';
import { eventTimes, sessionTimes } from '../../reading/stream-facts.js';

/*
 * The story of an event: its sessions in time, how much happened in each, and what each sink has of it. It contains counts
 * and public titles only, so that every role may read it.
 */

interface SessionStory {
  readonly sessionId: number;
  readonly title: string | null;
  readonly type: string | null;
  readonly startsAt: string | null;
  readonly endsAt: string | null;
  /** Number of items by list; lists without items are left out. */
  readonly items: Readonly<Record<string, number>>;
}

/** Numbers of changes of the event at a sink. */
interface SinkStory {
  readonly sink: string;
  readonly delivered: number;
  readonly deliveredAt: string | null;
  readonly waiting: number;
  readonly refused: number;
  /** By reason. */
  readonly withheld: Readonly<Record<string, number>>;
  readonly observes: boolean;
  readonly failure: string | null;
}

export interface EventStory {
  readonly timezone: string | null;
  readonly startsAt: string | null;
  readonly endsAt: string | null;
  /** Number of items of the whole event, by list. */
  readonly items: Readonly<Record<string, number>>;
  /** Sorted by their start. */
  readonly sessions: readonly SessionStory[];
  readonly countedAt: string;
  readonly sinks: readonly SinkStory[];
}

interface EventPlace {
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly pigeonholeNumber: number;
}

/** Tells the story of an event. @param counts counts of its sessions, kept for a while */
export async function eventStory(ledger: Ledger, place: EventPlace, counts: SessionCounts): Promise<EventStory> {
  const { db } = ledger;
  const { pigeonholeNumber } = place;
  const [times, sessions, items, sinks] = await Promise.all([
    timesOf(db, place),
    db.query<{ key: string; payload: string }>(
      `select key, payload from items where pigeonhole_number = $1 and list = 'sessions' and payload is not null
         and not expired`,
      [pigeonholeNumber],
    ),
    db.query<{ list: string; items: number }>(
      'select list, items from item_counts where pigeonhole_number = $1 and items > 0 order by list',
      [pigeonholeNumber],
    ),
    sinksOf(db, pigeonholeNumber),
  ]);
  const all = items.reduce((sum, row) => sum + row.items, 0);
  const { bySession, countedAt } = await counts.of(ledger, pigeonholeNumber, all);
  return {
    ...times,
    items: Object.fromEntries(items.map((row) => [row.list, row.items])),
    sessions: sessions
      .map(({ key, payload }) => {
        const fields = JSON.parse(payload) as Fields;
        const { type = null, startsAt, endsAt } = sessionTimes(fields);
        const sessionId = Number(key);
        return {
          sessionId,
          title: titleOf('sessions', fields),
          type,
          startsAt: isoOf(startsAt),
          endsAt: isoOf(endsAt),
          items: bySession.get(sessionId) ?? {},
        };
      })
      .toSorted((a, b) => compare(a.startsAt ?? '', b.startsAt ?? '') || a.sessionId - b.sessionId),
    countedAt,
    sinks,
  };
}

type Db = Ledger['db'];

/** Returns the time zone and the window of an event, as the service last reported them. */
export async function timesOf(
  db: Db,
  { workspace, pigeonholeId }: Pick<EventPlace, 'workspace' | 'pigeonholeId'>,
): Promise<Pick<EventStory, 'timezone' | 'startsAt' | 'endsAt'>> {
  const [row] = await db.query<{ payload: string }>(
    `select i.payload from pigeonholes w join items i on i.pigeonhole_number = w.pigeonhole_number
     where w.workspace = $1 and w.pigeonhole_id = 0 and i.list = 'pigeonholes' and i.key = $2::text and i.payload is not null
       and not i.expired`,
    [workspace, pigeonholeId],
  );
  const fields = row === undefined ? {} : (JSON.parse(row.payload) as Fields);
  const { timezone } = fields;
  const { startsAt, endsAt } = eventTimes(fields);
  return { timezone: typeof timezone === 'string' ? timezone : null, startsAt: isoOf(startsAt), endsAt: isoOf(endsAt) };
}

interface SinkRow {
  readonly sink: string;
  readonly deliveredAt: Date | null;
  readonly behind: number;
  readonly observed: number | null;
  readonly isApproved: boolean;
  readonly failure: string | null;
  readonly counts: string;
}

/** Returns what each sink has of the event, from the counts that the store keeps. */
async function sinksOf(db: Db, pigeonholeNumber: number): Promise<SinkStory[]> {
  const rows = await db.query<SinkRow>(
    `select k.name as sink, l.delivered_at as "deliveredAt", ${behindCount} as behind, l.observed, l.failure,
       exists (select 1 from approvals a where a.sink_id = k.id) as "isApproved",
       (select coalesce(json_agg(json_build_array(state, reason, changes)), '[]')::text from (
          select state, reason, sum(changes)::int8 as changes from delivery_counts
          where sink_id = l.sink_id and pigeonhole_number = $1 and changes > 0 group by state, reason
          order by state, reason) c) as counts
     from lanes l join sinks k on k.id = l.sink_id and k.archived_at is null
       join pigeonholes p on p.pigeonhole_number = l.pigeonhole_number
     where l.pigeonhole_number = $1 order by k.name`,
    [pigeonholeNumber],
  );
  return rows.map(({ sink, deliveredAt, behind, observed, isApproved, failure, counts }) => {
    const own = JSON.parse(counts) as [state: string, reason: string, changes: number][];
    const sum = (...states: readonly string[]): number =>
      own.filter(([state]) => states.includes(state)).reduce((total, [, , n]) => total + n, 0);
    const observes = isObserving({
      observation: observed === null ? null : { observed },
      approval: isApproved ? {} : null,
    });
    return {
      sink,
      delivered: sum('delivered'),
      deliveredAt: deliveredAt?.toISOString() ?? null,
      waiting: sum('waiting', 'sending', 'retry') + (observes ? 0 : behind),
      refused: sum('dead'),
      withheld: Object.fromEntries(
        own.filter(([state]) => state === 'withheld').map(([, reason, changes]) => [reason, changes]),
      ),
      observes,
      failure,
    };
  });
}

interface Counted {
  readonly bySession: ReadonlyMap<number, Readonly<Record<string, number>>>;
  readonly countedAt: string;
}

/** Maximum number of events whose counts are kept. */
const maxKept = 50;

/**
 * Counts of the items of each session. Counting reads every item of the event once, so a count is kept for a time that
 * grows with their number: 5 s for a small event, 100 s for a million items.
 */
export class SessionCounts {
  readonly #kept = new Map<number, { readonly until: number; readonly counted: Promise<Counted> }>();

  /** @param items number of items of the event, about */
  async of({ db }: Pick<Ledger, 'db'>, pigeonholeNumber: number, items: number): Promise<Counted> {
    const now = performance.now();
    const known = this.#kept.get(pigeonholeNumber);
    if (known !== undefined && now < known.until) return await known.counted;
    const counted = countSessions(db, pigeonholeNumber);
    this.#kept.delete(pigeonholeNumber);
    this.#kept.set(pigeonholeNumber, { until: now + Math.max(5000, items / 10), counted });
    for (const number of this.#kept.keys()) if (this.#kept.size > maxKept) this.#kept.delete(number);
    try {
      return await counted;
    } catch (error) {
      this.#kept.delete(pigeonholeNumber);
      throw error;
    }
  }
}

async function countSessions(db: Db, pigeonholeNumber: number): Promise<Counted> {
  const rows = await db.query<{ sessionId: number; list: string; items: number }>(
    `select session_id as "sessionId", list, count(*)::int as items from items
     where pigeonhole_number = $1 and visibility is not null and session_id is not null and payload is not null
     group by 1, 2 order by 1, 2`,
    [pigeonholeNumber],
  );
  const bySession = new Map<number, Record<string, number>>();
  for (const { sessionId, list, items } of rows) {
    const own = bySession.get(sessionId) ?? {};
    own[list] = items;
    bySession.set(sessionId, own);
  }
  return { bySession, countedAt: new Date().toISOString() };
}

function isoOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
