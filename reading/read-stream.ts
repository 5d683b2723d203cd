import { performance } from 'node:perf_hooks';
import { confirmMissing } from '../ledger/streams-due.js';
import {
  type NextRead,
  type NextReads,
  postponeForQuota,
  postponeStream,
  scheduleStream,
  type StreamLease,
  abandonWalks,
  failStream,
} from '../ledger/streams.js';
import type { OpenWalk } from '../ledger/walk.js';
import { type Cadence, cadenceOf, isLive, slicePagesOf, untilNextRead } from './cadence.js';
import type { Collaborators } from '../cycles/collaborators.js';
import { examineMissing } from './examine-missing.js';
import {
  type CursorHistory,
  isEndWorthLogging,
  isRequestFailure,
  isWorthLogging,
  judgeFailure,
  type Verdict,
  pauseForKey,
} from '../requests/failures.js';
import { PermitRefusal } from '../requests/quota-rules.js';
import { factsOf } from './stream-facts.js';
import {
  streamLogFields,
  foundNews,
  leaveQuiet,
  type StreamPlace,
  type StreamReading,
  type StreamCycle,
  type CycleLimits,
} from './stream-reading.js';
import type { RememberedStream } from './remembered-stream.js';
import { walkStream } from './walk-stream.js';
import type { WalkEnd } from './page-requests.js';
import { walkStart } from './walk-progress.js';
import { markGone } from '../ledger/streams-gone.js';
import { waitWorkspace } from '../ledger/workspaces.js';
import type { ApiError } from '../pigeonhole/api-error.js';

/** Interval after which a dormant stream is read again, in case its pigeonhole was reopened unnoticed. */
const dormantMs = 30 * 24 * 3_600_000;
/** Maximum time until a sweep is tried again if it failed although the poll of the same cycle succeeded. */
const sweepAgainMs = 3_600_000;

/**
 * Runs one cycle of a stream. If the list is known to be in order, a poll finds new items: it reads from the checkpoint
 * onwards (ascending), or from the newest item down to a known one (descending). A sweep finds edits, deletions and
 * items that polls miss: it reads a few pages after each poll, or as many as the cycle allows when a full sweep is due.
 * A page commits together with the walk's position, and only under the newest
 * lease. If a request fails, stores when the stream or the workspace is read again. Throws only if the store fails.
 */
export async function readStream(
  deps: Collaborators,
  place: StreamPlace,
  stream: RememberedStream,
  limits: CycleLimits,
): Promise<StreamCycle & { readonly isQuiet: boolean }> {
  const lease = stream.startRead(deps.ledger.clock.now());
  const cycle: StreamCycle = {
    pages: 0,
    created: 0,
    updated: 0,
    deleted: 0,
    reviewsLeft: false,
    workspaceWaits: false,
  };
  const stretch = await deps.gate.stretchOf(deps, place.workspace);
  const reading: StreamReading = {
    deps,
    place,
    readLimits: limits,
    cycle,
    stream,
    requests: new Map(),
    isQuiet: stream.isSettled && limits.whole === undefined && place.workspaceWait === null,
    outagesBefore: deps.gate.outages.endedOf(place.workspace),
    lease,
    stretch,
    isLive: false,
    cursor: null,
    walk: { kind: 'poll', advanced: false },
    suspect: null,
    cursorsDiscarded: 0,
    highestId: lease.highestId,
    sessions: place.plan.lists.includes('sessions') ? new Set(place.schedule.sessions.keys()) : null,
    acceptsNewItems: false,
    nextPollInMs: null,
  };
  if (!reading.isQuiet) await leaveQuiet(reading);
  if (limits.whole !== undefined) reading.lease = { ...reading.lease, isForOthers: true };
  // A sweep in progress does not show what its first pages are like now.
  if (limits.whole === true && lease.sweep !== null) reading.lease = { ...reading.lease, sweep: null, differs: true };
  for (let restarts = 0; ; restarts += 1) {
    try {
      const ending = await pollAndSweep(reading, restarts > 0 || limits.whole === true);
      if (ending !== 'distrusted') {
        if (isEndWorthLogging(lease.failures, deps.gate.outages.wasDownLately(place.workspace)))
          deps.log.info({ ...streamLogFields(reading), failures: lease.failures }, 'stream can be read again');
        if (reading.isQuiet) stream.keep(reading.lease, reading.requests);
        return { ...cycle, isQuiet: reading.isQuiet };
      }
    } catch (error) {
      if (!isRequestFailure(error)) throw error;
      if (reading.isQuiet) await leaveQuiet(reading);
      const verdict = await settleFailure(reading, error);
      cycle.workspaceWaits = verdict.affects === 'workspace';
      if (verdict.affects !== 'cursor') return { ...cycle, isQuiet: false };
      reading.suspect = reading.walk.kind;
    }
    deps.log.info(streamLogFields(reading), 'walk starts again at the first page');
    // The next sweep is compared with the stored pages, some of which the abandoned sweep has replaced. Without
    // `differs`, it would not notice what has changed on those pages since the last complete sweep.
    reading.lease = { ...reading.lease, sweep: null, differs: true };
  }
}

async function pollAndSweep(reading: StreamReading, restarts: boolean): Promise<'done' | 'distrusted'> {
  const { deps, lease, cycle } = reading;
  const cadence = cadenceNow(reading, false);
  const live = isLive(cadence);
  reading.isLive = live;
  reading.stream.isLive = live;
  const polls = canPoll(lease) && !restarts;
  const through = isThrough(lease, polls, live) || restarts;
  const pages = through ? Number.POSITIVE_INFINITY : sliceOf(lease, cadence);
  if (polls) {
    const ending = await walkStream(reading, lease.poll ?? pollOf(lease), {
      maxPages: Number.POSITIVE_INFINITY,
      priority: cadence.priority,
      detects: live,
      planNextReads: pages > 0 ? null : () => nextReads(reading, { restMs: 0, swept: false }),
    });
    if (ending === 'distrusted') return ending;
    if (ending === 'more' || ending === 'held' || pages === 0) return 'done';
  }
  const walk = reading.lease.sweep ?? sweepOf(reading.lease, through);
  const begin = { at: performance.now(), pages: cycle.pages };
  const next = (ended: WalkEnd): NextReads =>
    nextReads(reading, { restMs: restAfter(reading, walk, { ...ended, begin }), swept: true });
  // A sweep has low priority, except if no poll can read the stream.
  const priority = polls ? 'sweep' : cadence.priority;
  // A sweep finds the new items only if no poll can read the stream.
  const detects = live && !polls && !restarts;
  try {
    const ending = await walkStream(reading, walk, { maxPages: pages, priority, detects, planNextReads: next });
    if (ending === 'finished' && !reading.isQuiet) {
      await examineMissing(reading);
      await confirmMissing(deps.ledger, reading.lease, { walksAgain: isReadWhole(lease, cadence) });
    } else if (ending === 'more' && !through) {
      const continued = nextReads(reading, { restMs: 0, swept: false });
      if (reading.isQuiet) reading.lease = reading.stream.endRead(reading.lease, continued, deps.ledger.clock.now());
      else await scheduleStream(deps.ledger.db, reading.lease, continued, foundNews(cycle));
    }
  } catch (error) {
    if (reading.isQuiet) await leaveQuiet(reading);
    if (!polls) throw error;
    // Only the sweep has to wait: the failure does not delay the next poll.
    const waiting = nextReads(reading, { restMs: 0, swept: true });
    const { dueInMs } = foundNews(cycle) ? waiting.afterNews : waiting.afterNothing;
    reading.nextPollInMs = Math.min(dueInMs, sweepAgainMs);
    if (!(error instanceof PermitRefusal) || error.scope === 'key') throw error;
    await scheduleStream(deps.ledger.db, reading.lease, waiting, foundNews(cycle));
    await postponeStream(deps.ledger, reading.lease, reading.nextPollInMs);
  }
  return 'done';
}

/**
 * Returns the cadence of the stream now.
 * @param afterNews true: as if a change had been found now
 * @param swept true: as if a sweep had just completed
 */
function cadenceNow({ deps, place, lease, stretch }: StreamReading, afterNews: boolean, swept = false): Cadence {
  const stream = {
    list: lease.list,
    sessionId: lease.sessionId,
    changedAt: afterNews ? deps.ledger.clock.now() : lease.changedAt,
    quietReads: afterNews ? 0 : lease.quietReads,
    pages: lease.pageCount,
    order: lease.order,
    sweptAt: swept ? deps.ledger.clock.now() : lease.sweptAt,
  };
  return cadenceOf(factsOf(stream, place.schedule, stretch), place.plan.everyMs, deps.ledger.clock.nowMs());
}

/** Returns the number of pages that this cycle sweeps in addition to its poll. */
function sliceOf(lease: StreamLease, cadence: Cadence): number {
  if (isReadWhole(lease, cadence)) return cadence.slicePages + 1; // one more page, in case the list has grown
  return slicePagesOf(cadence, { isUnordered: lease.order === 'unordered', pages: lease.pageCount });
}

/** Whether each read of a live stream includes all its pages. */
function isReadWhole({ pageCount }: StreamLease, cadence: Cadence): boolean {
  return isLive(cadence) && pageCount !== null && cadence.slicePages >= pageCount;
}

/** Whether a poll can find new items. A stream of one page is swept by every read instead, at the same cost. */
function canPoll({ order, checkpoint, headId, pageCount }: StreamLease): boolean {
  if (order === 'ascending') return checkpoint !== null;
  return order === 'descending' && headId !== null && (pageCount ?? 0) > 1;
}

/**
 * Whether the sweep reads all the pages that the cycle allows: it is due, an earlier cycle started it that way, or no
 * poll can find new items (except in an unordered live list).
 */
function isThrough(lease: StreamLease, polls: boolean, live: boolean): boolean {
  if (lease.sweeps === 0 || lease.sweepDue || lease.sweep?.through === true) return true;
  return !polls && !(live && lease.order === 'unordered');
}

function pollOf(lease: StreamLease): OpenWalk {
  const from = lease.order === 'ascending' ? lease.checkpoint : null;
  return {
    ...walkStart,
    kind: 'poll',
    number: 0,
    startedAt: lease.takenAt,
    firstAt: null,
    cursor: from,
    checkpoint: from,
    through: true,
    untilId: lease.order === 'descending' ? lease.headId : null,
    differs: false,
  };
}

function sweepOf(lease: StreamLease, through: boolean): OpenWalk {
  return {
    ...walkStart,
    kind: 'sweep',
    number: lease.sweeps + 1,
    startedAt: lease.takenAt,
    firstAt: null,
    through,
    untilId: null,
    differs: lease.differs,
  };
}

/**
 * Returns the ms for which a stream rests after a walk. If every read has to walk the whole list, the stream rests four
 * times as long as the walk takes, but at most for the sweep interval. A rolling sweep (a few pages with each poll)
 * needs no rest, and neither does a list whose walk has shown an order, because its next read is a poll.
 *
 * The time of the walk is estimated from this cycle's time per page. Waits for the quota or for a stopped process do
 * not count, or else the first poll after a backfill on a small quota would be postponed for half an hour.
 */
function restAfter(
  { place, cycle, lease }: StreamReading,
  walk: OpenWalk,
  { order, checkpoint, pages, begin }: WalkEnd & { readonly begin: { readonly at: number; readonly pages: number } },
): number {
  const willPoll = order === 'ascending' ? checkpoint !== null : order === 'descending';
  if (canPoll(lease) || willPoll || walk.pages === 0 || !walk.through) return 0;
  const pageMs = (performance.now() - begin.at) / (cycle.pages - begin.pages);
  return Math.min(4 * pageMs * pages, place.plan.everyMs.sweep);
}

/**
 * Returns the next due times.
 * @param restMs minimum time until the next read
 * @param swept whether a sweep has completed
 */
function nextReads(reading: StreamReading, { restMs, swept }: { restMs: number; swept: boolean }): NextReads {
  const next = (cadence: Cadence): NextRead => {
    const pollMs = cadence.pollInMs ?? dormantMs;
    return {
      dueInMs: Math.max(
        untilNextRead(pollMs, reading.place.pigeonholeNumber, reading.deps.ledger.clock.nowMs()),
        restMs,
      ),
      everyMs: Math.round(Math.max(pollMs, restMs)),
      wantedMs: Math.round(cadence.wantedMs ?? dormantMs),
      reason: restMs > pollMs ? 'whole-walk' : cadence.reason,
      sweepInMs: cadence.sweepInMs ?? dormantMs,
    };
  };
  return { afterNews: next(cadenceNow(reading, true, swept)), afterNothing: next(cadenceNow(reading, false, swept)) };
}

/** Interval at which a pigeonhole or session is tried that counts as deleted in the service. */
export const retryGoneInMs = 24 * 60 * 60_000;

/** Stores the consequence of a failed request: when the stream, or the whole workspace, is read again. */
async function settleFailure(reading: StreamReading, error: ApiError | PermitRefusal): Promise<Verdict> {
  const { deps, place, lease, cycle } = reading;
  const isRefusal = error instanceof PermitRefusal;
  const wait = isRefusal ? 'quota' : error.kind;
  const workspaceWaits = place.workspaceWait?.reason === wait ? place.workspaceWait.count : 0;
  const streamFailures = cycle.pages > 0 ? 0 : lease.failures; // consecutive failures: a stored page resets them
  const verdict = judgeFailure(
    error,
    { streamFailures, workspaceWaits, cursor: cursorHistory(reading) },
    { now: deps.ledger.clock.nowMs(), random: Math.random() },
  );
  const line = {
    ...streamLogFields(reading),
    ...(isRefusal ? { kind: error.reason } : { kind: error.kind, code: error.code, requestId: error.requestId }),
  };
  if (verdict.affects === 'workspace') {
    const { reason, waitMs } = verdict;
    await waitWorkspace(deps.ledger, place.workspace, { reason, waitMs, count: workspaceWaits + 1 });
    if (verdict.reason === 'credential') await pauseForKey(deps, place.workspace, error.message);
    if (workspaceWaits === 0) deps.log.warn({ ...line, waitMs: verdict.waitMs }, `workspace waits: ${verdict.reason}`);
  } else if (verdict.affects === 'request') {
    await postponeForQuota(deps.ledger, lease, verdict.waitMs);
  } else if (verdict.affects === 'stream' && !isRefusal && isOfEndedOutage(reading, error)) {
    await postponeStream(deps.ledger, lease, 0); // the outage caused it, so it is no failure of the stream
  } else if (verdict.affects === 'stream' && !isRefusal) {
    const mayBeOutage = error.kind === 'transient' && deps.gate.outages.mayBegin(place.workspace, streamFailures + 1);
    const { neverEnds = false } = verdict;
    await failOrGone(reading, error, { waitMs: reading.nextPollInMs ?? verdict.waitMs, mayBeOutage, neverEnds });
    if (isWorthLogging(error.kind, streamFailures, deps.gate.outages.isDown(place.workspace))) {
      deps.log.warn({ ...line, error: error.message }, 'stream cannot be read');
    }
  }
  return verdict;
}

/** Returns the history of the cursor of the current request; null if it has none, or the service is down. */
function cursorHistory({ deps, place, lease, cursor, walk, cursorsDiscarded }: StreamReading): CursorHistory | null {
  if (cursor === null || deps.gate.outages.isDown(place.workspace)) return null;
  const failures = walk.kind === 'poll' ? lease.failures : lease.sweepFailures;
  return {
    failures: walk.advanced ? 0 : failures,
    discarded: lease.cursorsDiscarded,
    discardedNow: cursorsDiscarded,
  };
}

/**
 * Whether the request had no response because of an outage that has ended since. Only a request to the service as it is
 * now can show whether the stream fails.
 */
function isOfEndedOutage({ deps, place, outagesBefore }: StreamReading, { kind }: ApiError): boolean {
  return kind === 'transient' && deps.gate.outages.endedOf(place.workspace) > outagesBefore;
}

/**
 * @param options.mayBeOutage true: the stream is tried again, but does not count as failing yet
 * @param options.neverEnds the service refuses each cursor before a walk over the list ends
 */
async function failOrGone(
  reading: StreamReading,
  error: ApiError,
  {
    waitMs,
    mayBeOutage,
    neverEnds,
  }: { readonly waitMs: number; readonly mayBeOutage: boolean; readonly neverEnds: boolean },
): Promise<void> {
  const { deps, lease } = reading;
  // A walk that continued from a repeated cursor, for example, would fail every time.
  if (error.kind === 'protocol' || neverEnds) await abandonWalks(deps.ledger, lease);
  if (error.kind !== 'pigeonholeNotFound' && error.kind !== 'sessionNotFound') {
    const detail = mayBeOutage ? null : neverEnds ? walkNeverEnds(reading, error) : error.message;
    const failedSweep = reading.cursor !== null && reading.walk.kind === 'sweep';
    await failStream(deps.ledger, lease, { detail, retryInMs: waitMs, failedSweep });
    return;
  }
  const what = error.kind === 'pigeonholeNotFound' ? 'pigeonhole' : 'session';
  const gone = await markGone(deps.ledger, lease, { detail: error.message, what, retryInMs: waitMs, retryGoneInMs });
  if (gone)
    deps.log.warn(
      { ...streamLogFields(reading), code: error.code },
      `the service no longer has the ${what}; its stored data is kept`,
    );
}

/** Returns the sentence about a list whose walks never reach its end, because the service refuses each new cursor. */
function walkNeverEnds({ lease }: StreamReading, error: ApiError): string {
  const times = lease.cursorsDiscarded === 1 ? 'once' : `${lease.cursorsDiscarded} times in a row`;
  return `pigeonpost cannot read this list to its end: the service refused a cursor that it had just issued (${times}). ${error.message}`;
}
