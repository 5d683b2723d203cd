import type { Ledger } from '../ledger/ledger.js';
import { type PigeonholeRecord, pigeonholeRecords, sessionItems, type StreamRecord } from './stored-stream-facts.js';
import type { ListName } from '../pigeonhole/lists.js';
import { noWindow, type StreamFacts, type TimeWindow } from './cadence.js';
import { eventTimes, type SessionTimes, sessionTimes } from './event-times.js';
import type { Stretch } from '../work/asking/quota-rules.js';

/** When a pigeonhole and its sessions take place, as far as the ledger knows. */
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

/** The schedules of pigeonholes, by ref. */
export async function readSchedules(ledger: Ledger, refs: readonly number[]): Promise<Map<number, Schedule>> {
  const [records, items] = await Promise.all([pigeonholeRecords(ledger, refs), sessionItems(ledger, refs)]);
  const sessions = new Map(records.map(({ ref }) => [ref, new Map<number, SessionTimes>()]));
  for (const { ref, key, payload } of items) sessions.get(ref)?.set(Number(key), sessionTimes(JSON.parse(payload)));
  return new Map(records.map((record) => [record.ref, scheduleOf(record, sessions.get(record.ref)!)]));
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

/** All that the cadence of a stream depends on. */
export function factsOf(
  stream: Pick<StreamRecord, 'list' | 'sessionId' | 'changedAt' | 'quietReads' | 'pages' | 'sweptAt' | 'order'>,
  schedule: Schedule,
  stretch: Stretch,
): StreamFacts {
  const session = schedule.sessions.get(stream.sessionId);
  return {
    list: stream.list as ListName,
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
