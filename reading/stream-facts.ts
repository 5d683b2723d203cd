import { dayStartMs, instantMs } from '../base/instant.js';
import { zoneOffsetMs } from '../base/zoned-instant.js';
import type { Ledger } from '../ledger/ledger.js';
import type { ServiceListName } from '../base/lists.js';
import { noWindow, type StreamFacts, type TimeWindow } from './cadence.js';
import type { Stretch } from '../requests/quota-rules.js';

/** Status and times of a pigeonhole and its sessions, as the ledger knows them. */
export interface Schedule {
  readonly status: string | null;
  /** Epoch ms. */
  readonly endedAt: number | null;
  /** Epoch ms; null: no rehearsal was started. */
  readonly rehearsalUntil: number | null;
  readonly event: TimeWindow;
  /** By session id. */
  readonly sessions: ReadonlyMap<number, SessionTimes>;
}

/** Returns the schedules of pigeonholes by their numbers in the ledger. */
export async function readSchedules(
  ledger: Ledger,
  pigeonholeNumbers: readonly number[],
): Promise<Map<number, Schedule>> {
  const [records, items] = await Promise.all([
    pigeonholeRecords(ledger, pigeonholeNumbers),
    sessionItems(ledger, pigeonholeNumbers),
  ]);
  const sessions = new Map(records.map(({ pigeonholeNumber }) => [pigeonholeNumber, new Map<number, SessionTimes>()]));
  for (const { pigeonholeNumber, key, payload } of items)
    sessions.get(pigeonholeNumber)?.set(Number(key), sessionTimes(JSON.parse(payload)));
  return new Map(
    records.map((record) => [record.pigeonholeNumber, scheduleOf(record, sessions.get(record.pigeonholeNumber)!)]),
  );
}

function scheduleOf(record: PigeonholeRecord, sessions: ReadonlyMap<number, SessionTimes>): Schedule {
  return {
    status: record.status,
    endedAt: record.endedAt?.getTime() ?? null,
    rehearsalUntil: record.rehearsalUntil?.getTime() ?? null,
    event: record.payload === null ? noWindow : eventTimes(JSON.parse(record.payload)),
    sessions,
  };
}

/** Returns the facts that decide a stream's cadence. */
export function factsOf(
  stream: Pick<StreamRecord, 'list' | 'sessionId' | 'changedAt' | 'quietReads' | 'pages' | 'sweptAt' | 'order'>,
  schedule: Schedule,
  stretch: Stretch,
): StreamFacts {
  const session = schedule.sessions.get(stream.sessionId);
  return {
    list: stream.list as ServiceListName,
    sessionType: session?.type,
    session: session ?? noWindow,
    status: schedule.status,
    event: schedule.event,
    lastChangeAt: stream.changedAt?.getTime() ?? null,
    quietReads: stream.quietReads,
    pages: stream.pages,
    isUnordered: stream.order === 'unordered',
    sweptAt: stream.sweptAt?.getTime() ?? null,
    endedAt: schedule.endedAt,
    rehearsalUntil: schedule.rehearsalUntil,
    stretch,
  };
}

/** The ledger's facts that decide how often a stream is read. */
interface StreamRecord {
  readonly pigeonholeNumber: number;
  readonly list: string;
  /** 0: the list of the whole pigeonhole. */
  readonly sessionId: number;
  readonly changedAt: Date | null;
  readonly quietReads: number;
  /** Number of pages in the last complete sweep; null: no sweep is complete. */
  readonly pages: number | null;
  readonly sweptAt: Date | null;
  /** The order that the walks have shown: ascending, descending, unordered or unknown. */
  readonly order: string;
}

interface PigeonholeRecord {
  readonly pigeonholeNumber: number;
  readonly pigeonholeId: number;
  readonly status: string | null;
  /** Instant at which the pigeonhole was first seen as ended; null: it has not ended. */
  readonly endedAt: Date | null;
  /** End of the last rehearsal that an operator started; null: none was started. */
  readonly rehearsalUntil: Date | null;
  /** The record from the workspace's list, canonical JSON; null: not in that list. */
  readonly payload: string | null;
}

/** Returns pigeonholes with their status and record. */
async function pigeonholeRecords(ledger: Ledger, pigeonholeNumbers: readonly number[]): Promise<PigeonholeRecord[]> {
  return await ledger.db.query<PigeonholeRecord>(
    `select p.pigeonhole_number as "pigeonholeNumber", p.pigeonhole_id as "pigeonholeId", p.status,
       p.ended_at as "endedAt", p.rehearsal_until as "rehearsalUntil", i.payload
     from pigeonholes p left join pigeonholes w on w.workspace = p.workspace and w.pigeonhole_id = 0
       left join items i on i.pigeonhole_number = w.pigeonhole_number and i.list = 'pigeonholes'
         and i.key = p.pigeonhole_id::text
     where p.pigeonhole_number = any($1::int4[]) order by p.pigeonhole_number`,
    [pigeonholeNumbers],
  );
}

/** Returns the wanted streams of these pigeonholes. */
export async function streamRecords(ledger: Ledger, pigeonholeNumbers: readonly number[]): Promise<StreamRecord[]> {
  return await ledger.db.query<StreamRecord>(
    `select pigeonhole_number as "pigeonholeNumber", list, item_order as "order", session_id as "sessionId",
       changed_at as "changedAt", quiet_reads as "quietReads", swept_at as "sweptAt",
       case when swept_at is not null then greatest(1, ceil(item_count::float8 / greatest(1, per_page)))::int4 end as pages
     from streams where wanted and pigeonhole_number = any($1::int4[])`,
    [pigeonholeNumbers],
  );
}

/** Returns the sessions of these pigeonholes, as canonical JSON. */
export async function sessionItems(
  ledger: Ledger,
  pigeonholeNumbers: readonly number[],
): Promise<{ pigeonholeNumber: number; key: string; payload: string }[]> {
  return await ledger.db.query<{ pigeonholeNumber: number; key: string; payload: string }>(
    `select pigeonhole_number as "pigeonholeNumber", key, payload from items where pigeonhole_number = any($1::int4[])
       and list = 'sessions' and payload is not null`,
    [pigeonholeNumbers],
  );
}

/** A session's type and times. */
export interface SessionTimes extends TimeWindow {
  /** Undefined if the service reports none. */
  readonly type: string | undefined;
}

/** Parses a session's type and times; an unreadable value counts as not known. Pure. */
export function sessionTimes(session: unknown): SessionTimes {
  const { type, startDate, endDate } = fieldsOf(session);
  return {
    type: typeof type === 'string' ? type : undefined,
    startsAt: instantOf(startDate),
    endsAt: instantOf(endDate),
  };
}

/** Returns the start of a pigeonhole's first day and the end of its last day, in its time zone. */
export function eventTimes(pigeonhole: unknown): TimeWindow {
  const { startDate, endDate, timezone } = fieldsOf(pigeonhole);
  const zone = typeof timezone === 'string' ? timezone : 'UTC';
  return { startsAt: startOfDay(startDate, zone, 0), endsAt: startOfDay(endDate, zone, 1) };
}

function fieldsOf(item: unknown): Record<string, unknown> {
  return typeof item === 'object' && item !== null ? (item as Record<string, unknown>) : {};
}

function instantOf(text: unknown): number | null {
  return typeof text === 'string' ? (instantMs(text) ?? null) : null;
}

const dayMs = 24 * 3_600_000;

/** Returns the start of a day (YYYY-MM-DD) plus `daysLater` in a time zone, epoch ms. An unknown zone counts as UTC. */
function startOfDay(day: unknown, zone: string, daysLater: number): number | null {
  const inUtc = typeof day === 'string' ? dayStartMs(day) : undefined;
  if (inUtc === undefined) return null;
  const wanted = inUtc + daysLater * dayMs;
  const guess = wanted - zoneOffsetMs(wanted, zone);
  return wanted - zoneOffsetMs(guess, zone); // the zone may change its offset between `wanted` and `guess`
}

/** State of one stream, for status and the page. */
export interface StreamState {
  readonly list: string;
  /** Null: the list is not read by session. */
  readonly sessionId: number | null;
  /** False: no sync needs the stream any longer. */
  readonly wanted: boolean;
  readonly order: string;
  /** Cursor at which the next poll starts; null: the first page. */
  readonly checkpoint: string | null;
  readonly dueAt: Date;
  readonly polledAt: Date | null;
  /** The polling interval in force, its reason, and the interval before the quota lengthened it; null: not read yet. */
  readonly everyMs: number | null;
  readonly reason: string | null;
  readonly wantedMs: number | null;
  readonly sweepDueAt: Date | null;
  readonly sweptAt: Date | null;
  /** Counts of the last complete sweep. */
  readonly items: number | null;
  readonly pages: number | null;
  readonly changedAt: Date | null;
  /** Number of consecutive reads that found nothing. */
  readonly quietReads: number;
  /**
   * Number of rows that the last complete sweep did not store, because no key can be formed from them or they are
   * nested too deep.
   */
  readonly setAside: number;
  /** Number of rows of other sessions than the requested one, in the last complete sweep. */
  readonly foreignRows: number;
  readonly failures: number;
  readonly failure: string | null;
  readonly goneAt: Date | null;
  /** Number of pages read by the sweep in progress; null: no sweep is in progress. */
  readonly sweepPages: number | null;
}

export interface StreamPosition {
  readonly list: string;
  readonly sessionId: number;
}

/**
 * Returns the streams of a pigeonhole in the order of list and session.
 * @param after the last stream of the previous call; null: starts with the first stream
 */
export async function streamStates(
  ledger: Ledger,
  pigeonholeNumber: number,
  { after, limit }: { readonly after: StreamPosition | null; readonly limit: number },
): Promise<StreamState[]> {
  return await ledger.db.query<StreamState>(
    `select s.list, nullif(s.session_id, 0) as "sessionId", s.wanted, s.item_order as order, s.checkpoint,
       s.due_at as "dueAt", s.polled_at as "polledAt", s.every_ms as "everyMs", s.every_reason as reason, s.wanted_ms as "wantedMs", s.sweep_due_at as "sweepDueAt", s.swept_at as "sweptAt",
       s.item_count as items, s.page_count as pages, s.changed_at as "changedAt", s.quiet_reads as "quietReads",
       s.set_aside as "setAside", s.foreign_rows as "foreignRows", s.failures, s.failure, s.gone_at as "goneAt", w.pages as "sweepPages"
     from streams s left join walks w on w.stream_id = s.id and w.kind = 'sweep' and w.number > s.sweeps
     where s.pigeonhole_number = $1 and ($2::text is null or (s.list, s.session_id) > ($2, $3::int8))
     order by s.list, s.session_id limit $4`,
    [pigeonholeNumber, after?.list ?? null, after?.sessionId ?? null, limit],
  );
}
