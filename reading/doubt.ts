import type { Queryable } from '../ledger/drivers/database.js';
import { doubtStream, type StreamLease } from '../ledger/streams.js';
import { sweepSessions } from '../ledger/streams-due.js';

/*
 * A cache between pigeonpost and the service can mix up its entries, so that an answer with status 200 shows the list of
 * another pigeonhole. Nothing of a page that looks like that is stored until a separate, later answer agrees.
 */

/** A page that may show another pigeonhole's list, and the reason for the doubt. */
export interface DoubtfulPage {
  /** Keys of its items; for `unknown-sessions`, the ids of these sessions. */
  readonly keys: readonly string[];
  readonly requestedAt: Date;
  /**
   * `unknown-sessions`: rows belong to sessions that the pigeonhole is not known to have. `replaced`: the page shows only
   * items that are not in the ledger, in place of items that are. `new-items`: the page shows only new items, where the
   * list may have new ones: it was empty, or their ids are higher than all known ones and more pages follow.
   */
  readonly reason: 'unknown-sessions' | 'replaced' | 'new-items';
  /** True if every item belongs to a session of the pigeonhole, which shows that the answer is the requested one. */
  readonly fitsSessions: boolean;
}

/** State of the pigeonhole's list of sessions. */
export interface SessionsState {
  /** First request of its last sweep that can prove something; null: it has not been swept. */
  readonly sweptFrom: Date | null;
  /** True if its own answers are doubtful now. */
  readonly isDoubtful: boolean;
}

/** An earlier doubtful page of the same stream, since which no other page of it was stored. */
export interface EarlierDoubt {
  readonly since: Date;
  readonly keys: readonly string[];
}

/** Minimum time between two answers that agree, if nothing else shows to which pigeonhole the items belong. */
export const strangersAfterMs = 2 * 60_000;

/**
 * Returns what to do with a doubtful page. `hold`: store nothing, and request the page again. `again`: the same, and the
 * time starts again, because this page shows other items than the earlier one. `accept`: the page shows the requested
 * list; for `unknown-sessions`, the rows belong to another pigeonhole and are set aside. Pure.
 * @param sessions null: the pigeonhole's sessions are not read, or this is the list of sessions
 */
export function judgeDoubt(
  { keys, requestedAt, reason, fitsSessions }: DoubtfulPage,
  earlier: EarlierDoubt | null,
  sessions: SessionsState | null,
): 'hold' | 'again' | 'accept' {
  if (earlier === null) return 'hold';
  const before = new Set(earlier.keys);
  if (!keys.some((key) => before.has(key))) return 'again';
  const hasWaited = requestedAt.getTime() - earlier.since.getTime() >= strangersAfterMs;
  const isRead = sessions?.sweptFrom != null && sessions.sweptFrom > earlier.since && !sessions.isDoubtful;
  switch (reason) {
    case 'unknown-sessions': // the list must not wait for ever if the sessions cannot be read
      return isRead || hasWaited ? 'accept' : 'hold';
    case 'new-items':
      return isRead || sessions === null ? 'accept' : 'hold';
    case 'replaced':
      if (fitsSessions) return 'accept';
      return hasWaited && (isRead || sessions === null) ? 'accept' : 'hold';
  }
}

/**
 * Times until a doubtful page is requested again. The list of sessions is read before that, in the next cycle. If the
 * next answer can end the doubt, it is requested immediately within the first second.
 */
const againMs = { first: 0, soon: 1000, later: 5000 };

/** The failure of a stream whose answers have been doubtful more than once. */
const failure =
  'the answer shows none of the known items, but others in their place, as if it came from another pigeonhole: nothing of it is stored until a later answer agrees';

/**
 * Decides about a doubtful page of a stream under its lease. If the page is held, stores the doubt, makes the list of
 * sessions due for a sweep, and lets the stream request the page again in a few seconds.
 * @returns true if the page may be stored
 */
export async function settleDoubt(tx: Queryable, lease: StreamLease, page: DoubtfulPage): Promise<boolean> {
  const earlier = lease.doubtSince === null ? null : { since: lease.doubtSince, keys: lease.doubtKeys ?? [] };
  const sessions = lease.list === 'sessions' ? null : await sessionsState(tx, lease.pigeonholeNumber);
  const decision = judgeDoubt(page, earlier, sessions);
  if (decision === 'accept') return true;
  const isFirst = decision === 'again' || earlier === null;
  const isSoon = page.reason !== 'replaced' || page.fitsSessions;
  // This cycle may request the page once more before the next one reads the sessions.
  const isFresh =
    decision === 'hold' && page.requestedAt.getTime() - (earlier?.since ?? page.requestedAt).getTime() < againMs.soon;
  const waitMs = isSoon ? againMs[isFresh ? 'first' : 'soon'] : againMs.later;
  const since = isFirst ? page.requestedAt : lease.doubtSince!;
  await doubtStream(tx, lease, {
    since,
    keys: isFirst ? page.keys : (lease.doubtKeys ?? []),
    retryInMs: waitMs,
    failure: !isFirst && page.reason === 'replaced' ? failure : null,
  });
  if (sessions !== null) await sweepSessions(tx, lease.pigeonholeNumber, since);
  return false;
}

async function sessionsState(tx: Queryable, pigeonholeNumber: number): Promise<SessionsState | null> {
  const [row] = await tx.query<SessionsState>(
    `select swept_from as "sweptFrom", doubt_since is not null as "isDoubtful"
     from streams where pigeonhole_number = $1 and list = 'sessions' and wanted`,
    [pigeonholeNumber],
  );
  return row ?? null;
}

/**
 * Returns those of the given sessions that belong to the pigeonhole, although they may be deleted by now. Before the
 * first sweep of its list of sessions, all of them count as its own. So do all if the list is not read.
 */
export async function ownSessions(tx: Queryable, pigeonholeNumber: number, ids: readonly number[]): Promise<number[]> {
  const state = await sessionsState(tx, pigeonholeNumber);
  if (state === null || state.sweptFrom === null) return [...ids];
  const rows = await tx.query<{ key: string }>(
    `select key from items where pigeonhole_number = $1 and list = 'sessions' and key = any($2::text[])`,
    [pigeonholeNumber, ids.map(String)],
  );
  return rows.map(({ key }) => Number(key));
}
