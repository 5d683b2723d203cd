import type { Ledger } from '../ledger/ledger.js';
import { type CadenceReason, isLiveReason, cadenceReasons } from '../reading/cadence.js';
import { z } from '@hono/zod-openapi';
import { instant } from '../base/printable.js';
import { readableAt, type ReadingWait } from '../base/reading-words.js';
import { latenessMs, type ListReading, type Obstacles, shortestGraceMs } from './lateness.js';
import { askBackEveryMs } from '../requests/outages.js';
import { type WorkspaceStatus } from './ledger-status.js';
import { formatSpan } from '../base/words.js';

/**
 * How fresh the data of a pigeonhole is. This file and lateness.ts are the only definition; docs/operations.md#freshness
 * describes it. Status, page, API, metrics and alerts show what it returns.
 *
 * Each list is judged against the polling interval in force for it, which the reader stores with its reason at the end
 * of each read. A list that is rarely read on purpose (its session does not run, the event has ended) is therefore
 * never stale, and a list that misses its own interval always is.
 */

/** Reasons of lists in which nothing new is expected. The age of such a list does not count for the pigeonhole. */
const rareReasons: ReadonlySet<CadenceReason> = new Set(['unfilled', 'dormant']);

/** The lists of a pigeonhole that share a reason. Null: not read yet by this version. */
export interface CadenceGroup extends Pick<
  FreshnessView['groups'][number],
  'reason' | 'lists' | 'everyMs' | 'longestEveryMs'
> {
  /**
   * The shortest and the longest interval according to the configuration. If the quota lengthens them, those in force
   * are longer.
   */
  readonly shortestWantedMs: number | null;
  readonly wantedMs: number | null;
  /** Instant of the last read of the list that was read longest ago; null: none was read. */
  readonly readAt: Date | null;
  /** Instant at which the same list is due, or without a read the first of them. */
  readonly nextAt: Date | null;
}

/**
 * Judges one pigeonhole. `current`: every list is in time. `late`: at least one list missed its interval. `paused`: an
 * operator or pigeonpost paused reading. `unread`: no list that counts was read yet.
 * @param maybeLate every list that may be late; lists that are in time may be among them
 */
export function judgeFreshness(
  { groups, maybeLate }: FreshnessFacts,
  {
    paused,
    waits = null,
    now,
    ...obstacles
  }: { readonly paused: boolean; readonly waits?: ReadingWait | null; readonly now: Date } & Obstacles,
): FreshnessView {
  const timed = groups.map(({ shortestWantedMs, wantedMs, ...group }) => ({
    ...group,
    cadence: cadenceWords({ ...group, shortestWantedMs, wantedMs }),
    readAt: group.readAt?.toISOString() ?? null,
    nextAt: paused || group.nextAt === null ? null : readableAt(group.nextAt.toISOString(), waits),
  }));
  const live = timed.filter(({ reason }) => isLiveReason(reason));
  const usual = timed.filter(({ reason }) => reason === null || !rareReasons.has(reason));
  const counted = live.length > 0 ? live : usual.length > 0 ? usual : timed;
  const oldest = readLongestAgo(counted);
  const judged = paused ? [] : maybeLate.map((each) => ({ ...each, lateMs: latenessMs(each, now, obstacles) }));
  const late = judged.filter(({ lateMs }) => lateMs > 0).toSorted((a, b) => b.lateMs - a.lateMs);
  return {
    state: paused ? 'paused' : late.length > 0 ? 'late' : oldest?.readAt == null ? 'unread' : 'current',
    liveLists: live.reduce((sum, { lists }) => sum + lists, 0),
    readAt: oldest?.readAt ?? null,
    nextAt: oldest?.nextAt ?? null,
    waits: paused ? null : waits,
    catchingUp: judged.some((each) => each.lateMs === 0 && latenessMs(each, now) > 0),
    lateLists: late.length,
    lateSeconds: (late[0]?.lateMs ?? 0) / 1000,
    late: lateWords(late),
    groups: timed,
  };
}

/**
 * Returns the entry that was read longest ago, or if none was read, the one that is due first. Its two instants belong
 * to the same list, so that "read 14 min ago, next in 1 min" is true of that list.
 */
function readLongestAgo<Entry extends Pick<FreshnessSummary, 'readAt' | 'nextAt'>>(
  entries: readonly Entry[],
): Entry | undefined {
  const order = ({ readAt, nextAt }: Entry): string => `${readAt ?? afterAll} ${nextAt ?? afterAll}`;
  return entries.reduce<Entry | undefined>(
    (first, each) => (first === undefined || order(each) < order(first) ? each : first),
    undefined,
  );
}

/** Sorts after every instant. */
const afterAll = '~';

/** The state of a workspace's requests, from the ledger. */
export type RequestState = Pick<WorkspaceStatus, 'waitReason' | 'waitUntil' | 'unansweredSince'>;

/**
 * Returns what prevents all requests of a workspace. While the quota is used up, pigeonpost sends none, even if the
 * service did not answer the last one. Pure.
 */
export function readingWait({ waitReason, waitUntil, unansweredSince }: RequestState, now: Date): ReadingWait | null {
  const until = waitUntil !== null && waitUntil > now ? waitUntil.toISOString() : null;
  if (waitReason === 'quota' && until !== null) return { for: 'quota', until, everySeconds: null };
  if (unansweredSince !== null) {
    return { for: 'service', until: null, everySeconds: askBackEveryMs / 1000 };
  }
  if (waitReason === null) return null;
  return { for: waitReason === 'quota' ? 'quota' : 'service', until, everySeconds: null };
}

/**
 * Returns the freshness of several pigeonholes together. If one has live lists, those without do not count. A paused one
 * counts if no other has live lists, or if all are paused. There is no next read as soon as one is paused, because it
 * would be that of the others. `liveLists` includes paused ones: people still expect changes in these lists.
 */
export function combineFreshness(all: readonly FreshnessSummary[]): FreshnessSummary {
  const running = all.filter(({ state }) => state !== 'paused');
  const live = [running, all].map((some) => some.filter(({ liveLists }) => liveLists > 0));
  const counted = [...live, running].find((some) => some.length > 0) ?? all;
  const oldest = readLongestAgo(counted);
  const readAt = oldest?.readAt ?? null;
  const lateLists = running.reduce((sum, each) => sum + each.lateLists, 0);
  const isPaused = all.length > 0 && running.length === 0;
  return {
    state: isPaused ? 'paused' : lateLists > 0 ? 'late' : readAt === null ? 'unread' : 'current',
    liveLists: all.reduce((sum, { liveLists }) => sum + liveLists, 0),
    readAt,
    nextAt: running.length < all.length ? null : (oldest?.nextAt ?? null),
    waits: counted.find(({ waits }) => waits !== null)?.waits ?? null,
    catchingUp: running.some(({ catchingUp }) => catchingUp),
    lateLists,
    lateSeconds: Math.max(0, ...running.map(({ lateSeconds }) => lateSeconds)),
  };
}

const reasonWords: Readonly<Record<CadenceReason, string>> = {
  live: 'the event is live',
  found: 'changes were found within the last 2 min',
  rehearsal: 'a rehearsal is in progress',
  stated: 'the configuration sets this interval',
  'no-session': 'no session runs',
  'no-event-day': 'today is not a day of the event',
  unfilled: 'sessions of this type never produce this data',
  new: 'the event is new',
  upcoming: 'the event is upcoming',
  ended: 'the event has ended',
  dormant: 'the event ended more than a week ago',
  workspace: 'workspace lists are not tied to an event',
  'whole-walk': 'without a recognisable order, every read is a complete one',
};

/** "every 5 s: the event is live". */
export function cadenceWords({
  reason,
  everyMs,
  longestEveryMs = everyMs,
  wantedMs,
  shortestWantedMs = wantedMs,
}: Partial<Pick<CadenceGroup, 'longestEveryMs' | 'shortestWantedMs'>> &
  Pick<CadenceGroup, 'reason' | 'everyMs' | 'wantedMs'>): string {
  if (reason === null || everyMs === null || longestEveryMs === null) return 'not read yet';
  if (reason === 'dormant') return `no longer read: ${reasonWords.dormant}`;
  // A read that is planned early, for the start of a session or a final sweep, does not change the interval.
  const shortestMs = Math.max(everyMs, shortestWantedMs ?? 0);
  const longestMs = Math.max(longestEveryMs, wantedMs ?? 0);
  const [shortest, longest] = [intervalWords(shortestMs), intervalWords(longestMs)];
  const every = shortest === longest ? `every ${shortest}` : `every ${shortest} to ${longest}`;
  const lengthened = [
    ...(shortestWantedMs !== null && shortestWantedMs < shortestMs ? [intervalWords(shortestWantedMs)] : []),
    ...(wantedMs !== null && wantedMs < longestMs ? [intervalWords(wantedMs)] : []),
  ];
  const isStretched = lengthened.length > 0 && reason !== 'whole-walk';
  const from = [...new Set(lengthened)].join(' and ');
  return `${every}: ${reasonWords[reason]}${isStretched ? `, lengthened from ${from} so that the quota lasts` : ''}`;
}

function intervalWords(ms: number): string {
  return formatSpan(Math.max(1, ms / 1000));
}

/**
 * "votes of session 5001 (every 5 s: the event is live) and 1 more": the lists that are late, given the latest first;
 * null: none is.
 */
function lateWords(late: readonly ListReading[]): string | null {
  const [worst] = late;
  if (worst === undefined) return null;
  const list = worst.sessionId === null ? worst.list : `${worst.list} of session ${worst.sessionId}`;
  const every = worst.reason === null ? '' : ` (${cadenceWords(worst)})`;
  return `${list}${every}${late.length === 1 ? '' : ` and ${late.length - 1} more`}`;
}

/** Stored facts about the freshness of one pigeonhole. */
interface FreshnessFacts {
  readonly groups: readonly CadenceGroup[];
  /** Every list that may be late. */
  readonly maybeLate: readonly ListReading[];
}

/** Facts about all pigeonholes, with the instant at which the database took them. */
export interface AllFreshness {
  readonly at: Date;
  /** By the pigeonhole's `workspace/id`. */
  readonly byPlace: ReadonlyMap<string, FreshnessFacts>;
}

/** The wanted streams of a pigeonhole that share a reason, added up. */
export interface StreamGroup extends CadenceGroup {
  readonly pigeonholeNumber: number;
  /** Whether the service no longer knows these streams. They count only in `lists` and in the numbers of rows. */
  readonly isGone: boolean;
  /** Streams whose first sweep has not ended. */
  readonly backfilling: number;
  /** Streams that fail although the service answers other requests. */
  readonly failing: number;
  /** Streams whose last request failed, for whatever reason. */
  readonly unread: number;
  /** Streams that fail or are due. */
  readonly waiting: number;
  /** One of the failures; null when nothing fails. */
  readonly failure: string | null;
  readonly setAside: number;
  readonly foreignRows: number;
  readonly strangerRows: number;
  /** End of the last sweep of the stream that was swept longest ago; null: none was swept. */
  readonly sweptAt: Date | null;
}

/** Returns the groups of all pigeonholes with the instant at which the database read them. */
export async function streamGroups(ledger: Ledger): Promise<{ at: Date; groups: StreamGroup[] }> {
  const rows = await ledger.db.query<StreamGroup & { at: Date }>(
    `select s.pigeonhole_number as "pigeonholeNumber", s.every_reason as reason, s.gone_at is not null as "isGone",
       count(*)::int as lists,
       min(s.every_ms) as "everyMs", max(s.every_ms) as "longestEveryMs", min(s.wanted_ms) as "shortestWantedMs",
       max(s.wanted_ms) as "wantedMs", min(s.polled_at) as "readAt", min(s.swept_at) as "sweptAt",
       (array_agg(s.due_at order by s.polled_at, s.due_at))[1] as "nextAt", clock_timestamp() as at,
       (count(*) filter (where s.swept_at is null and s.gone_at is null))::int as backfilling,
       (count(*) filter (where s.failures > 0 and s.failure is not null and s.gone_at is null))::int as failing,
       (count(*) filter (where s.failures > 0 and s.gone_at is null))::int as unread,
       (count(*) filter (where (s.failures > 0 or s.due_at <= now()) and s.gone_at is null))::int as waiting,
       max(s.failure) as failure, coalesce(sum(s.set_aside), 0)::int as "setAside",
       coalesce(sum(s.foreign_rows) filter (where s.session_id <> 0), 0)::int as "foreignRows",
       coalesce(sum(s.foreign_rows) filter (where s.session_id = 0), 0)::int as "strangerRows"
     from streams s where s.wanted
     group by s.pigeonhole_number, s.every_reason, s.gone_at is not null
       order by s.pigeonhole_number, min(s.every_ms) nulls first`,
  );
  return { at: rows[0]?.at ?? new Date(), groups: rows };
}

/** Returns only the lists that may be late, each with its pigeonhole's number. */
export async function maybeLateLists(ledger: Ledger): Promise<(ListReading & { readonly pigeonholeNumber: number })[]> {
  return await ledger.db.query<ListReading & { pigeonholeNumber: number }>(
    `select s.pigeonhole_number as "pigeonholeNumber", s.list, nullif(s.session_id, 0) as "sessionId",
       s.every_reason as reason, s.every_ms as "everyMs",
       s.wanted_ms as "wantedMs", s.polled_at as "readAt", s.due_at as "dueAt"
     from streams s
     where s.wanted and s.gone_at is null
       and coalesce(s.polled_at + s.every_ms * interval '1 millisecond', s.due_at)
         < clock_timestamp() - $1 * interval '1 millisecond'
     order by s.pigeonhole_number, s.polled_at nulls first, s.id`,
    [shortestGraceMs],
  );
}

/** The interval in force of a list or of several, with its reason. */
export const cadenceShape = {
  reason: z.enum(cadenceReasons).nullable().describe('What decided the interval; null: not read yet.'),
  everyMs: z
    .int()
    .nullable()
    .describe(
      'Milliseconds between the last read and the next. Shorter than the interval in `cadence` if the next read is planned earlier; null: not read yet.',
    ),
  cadence: z.string().describe('Interval and reason as a phrase: "every 5 s: the event is live".'),
};

/** Freshness of one pigeonhole, or of several together. */
export const freshnessSummary = {
  state: z
    .enum(['current', 'late', 'paused', 'unread'])
    .describe('`late`: a list missed the interval in force for it; `unread`: no list was read yet.'),
  liveLists: z.int().describe('Lists that are live now, whether or not reading is paused.'),
  readAt: instant()
    .nullable()
    .describe(
      'When the list that was read longest ago was last read: of the live lists, or if none is live, of all that are not rarely read on purpose; null: none was read.',
    ),
  nextAt: instant()
    .nullable()
    .describe('The next read of the same list; null: reading is paused, or the service does not answer.'),
  waits: z
    .object({
      for: z
        .enum(['quota', 'service'])
        .describe('`quota`: no requests are left; `service`: it does not answer, or it requested a pause.'),
      until: instant()
        .nullable()
        .describe(
          'From when requests are possible again; null: now, or not known because the service does not answer.',
        ),
      everySeconds: z
        .int()
        .nullable()
        .describe('Interval at which pigeonpost checks whether the service answers; null: the service answers.'),
    })
    .nullable()
    .describe('Why nothing of the workspace can be read now; null: nothing prevents it, or reading is paused.'),
  catchingUp: z
    .boolean()
    .describe(
      'Whether lists that should have been read during a pause, an outage, a used-up quota or before the start are being read now. They are not late.',
    ),
  lateLists: z.int(),
  lateSeconds: z.number().describe('How long the latest list has been due; 0: none is late.'),
};

/** Instants are ISO 8601 in UTC, which sort as text. */
export type FreshnessSummary = z.infer<z.ZodObject<typeof freshnessSummary>>;

export const freshnessSchema = z
  .object({
    ...freshnessSummary,
    late: z
      .string()
      .nullable()
      .describe('The lists that are late: the latest one with its interval, and how many more; null: none is late.'),
    groups: z
      .array(
        z.object({
          ...cadenceShape,
          lists: z.int(),
          longestEveryMs: z.int().nullable().describe('Longest interval, if the lists of a reason have several.'),
          readAt: instant().nullable().describe('When the list that was read longest ago was last read.'),
          nextAt: instant().nullable().describe('When the same list is read next; null as above.'),
        }),
      )
      .readonly()
      .describe('All lists, by the reason for their interval.'),
  })
  .openapi('Freshness');
export type FreshnessView = z.infer<typeof freshnessSchema>;
