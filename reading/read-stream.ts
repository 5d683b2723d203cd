import { performance } from 'node:perf_hooks';
import { confirmMissing } from './missing.js';
import { postponeStream, settleFailure } from './settle-failure.js';
import { type NextRead, type NextReads, scheduleStream, type StreamLease, acquireStream } from '../ledger/streams.js';
import type { OpenWalk } from '../ledger/walk.js';
import { type Cadence, cadenceOf, isLive, slicePagesOf, untilNextRead } from './cadence.js';
import type { Collaborators } from '../work/collaborators.js';
import { examineMissing } from './examine-missing.js';
import { isEndWorthALine, isToBeJudged } from '../work/failures.js';
import { PermitRefusal } from '../work/asking/permit-refusal.js';
import { factsOf } from './stream-facts.js';
import {
  streamLogFields,
  foundNews,
  type StreamPlace,
  type StreamReading,
  type StreamCycle,
  type CycleLimits,
} from './stream-reading.js';
import { distrust, walkStream } from './walk-stream.js';
import type { WalkEnd } from './page-requests.js';
import { walkStart } from './walk-progress.js';

/** What is not read any more is looked at again after a while: its pigeonhole may not have ended after all. */
const dormantMs = 30 * 24 * 3_600_000;
/** What cannot be swept beside its polls is tried again at the latest then, also where no poll is to come. */
const sweepAgainMs = 3_600_000;

/**
 * Reads a stream from where it stands. What is new comes from a poll, where the order of the list allows one: on from
 * the checkpoint, or from the head down to what is known. What was edited, came late or is gone comes from the sweep:
 * a few pages of it beside each poll, or as far as the turn reaches when a whole one is due. Safe to run twice, also
 * at once: a page commits with the place where its walk goes on, and only under the newest lease. What the service
 * refuses is stored as the stream's, or the workspace's, next time; it throws only when the store fails.
 */
export async function readStream(
  to: Collaborators,
  place: StreamPlace,
  streamId: number,
  limits: CycleLimits,
): Promise<StreamCycle> {
  const lease = await acquireStream(to.ledger, streamId, to.owner);
  const turn: StreamCycle = { pages: 0, created: 0, updated: 0, deleted: 0, reviewsLeft: false, workspaceWaits: false };
  const stretch = await to.gate.stretchOf(to, place.workspace);
  const reading: StreamReading = {
    to,
    place,
    limits,
    turn,
    lease,
    stretch,
    isLive: false,
    cursor: null,
    highestId: lease.highestId,
    nextPollInMs: null,
  };
  for (let restarts = 0; ; restarts += 1) {
    try {
      const ending = await pollAndSweep(reading, restarts > 0);
      if (ending !== 'distrusted') {
        if (isEndWorthALine(lease.failures, to.gate.outages.wasDownLately(place.workspace)))
          to.log.info({ ...streamLogFields(reading), failures: lease.failures }, 'stream is read again');
        return turn;
      }
    } catch (error) {
      if (!isToBeJudged(error)) throw error;
      const verdict = await settleFailure(reading, error, { mayRestart: restarts === 0 });
      turn.workspaceWaits = verdict.who === 'workspace';
      if (verdict.who !== 'walk') return turn;
      await distrust(reading, reading.lease);
    }
    to.log.info(streamLogFields(reading), 'walk starts again at the first page');
    // The pages that the given-up sweep has stored are known to the next one, which would see no difference in them.
    reading.lease = { ...reading.lease, sweep: null, differs: true };
  }
}

async function pollAndSweep(reading: StreamReading, anew: boolean): Promise<'done' | 'distrusted'> {
  const { to, lease, turn } = reading;
  const cadence = cadenceNow(reading, false);
  const live = isLive(cadence);
  reading.isLive = live;
  const polls = canPoll(lease) && !anew;
  const through = isThrough(lease, polls, live) || anew;
  const pages = through ? Number.POSITIVE_INFINITY : sliceOf(lease, cadence);
  if (polls) {
    const ending = await walkStream(reading, lease.poll ?? pollOf(lease), {
      maxPages: Number.POSITIVE_INFINITY,
      priority: cadence.priority,
      next: pages > 0 ? null : () => nextReads(reading, { restMs: 0, swept: false }),
    });
    if (ending === 'distrusted') return ending;
    if (ending === 'more' || pages === 0) return 'done';
    // What the poll has stored may be gone before the sweep comes by, which then sees nothing new.
    if (foundNews(turn)) reading.lease = { ...reading.lease, differs: true };
  }
  const walk = reading.lease.sweep ?? sweepOf(reading.lease, through);
  const begin = { at: performance.now(), pages: turn.pages };
  const next = (ended: WalkEnd): NextReads =>
    nextReads(reading, { restMs: restAfter(reading, walk, { ...ended, begin }), swept: true });
  // A sweep can wait; not so the first one, or those of a stream that can be read in no other way.
  const priority = polls ? 'sweep' : cadence.priority;
  try {
    const ending = await walkStream(reading, walk, { maxPages: pages, priority, next });
    if (ending === 'finished') {
      await examineMissing(reading);
      await confirmMissing(to.ledger, reading.lease, { walksAgain: isReadWhole(lease, cadence) });
    } else if (!through) {
      const goesOn = nextReads(reading, { restMs: 0, swept: false });
      await scheduleStream(to.ledger, reading.lease, goesOn, foundNews(turn));
    }
  } catch (error) {
    if (!polls) throw error;
    // The sweep waits: no poll waits for it, and none comes sooner because a sweep is due.
    const waiting = nextReads(reading, { restMs: 0, swept: true });
    const { dueInMs } = foundNews(turn) ? waiting.afterNews : waiting.afterNothing;
    reading.nextPollInMs = Math.min(dueInMs, sweepAgainMs);
    if (!(error instanceof PermitRefusal) || error.scope === 'key') throw error;
    await scheduleStream(to.ledger, reading.lease, waiting, foundNews(turn));
    await postponeStream(to.ledger, reading.lease, reading.nextPollInMs);
  }
  return 'done';
}

/** @param swept as it will be when the sweep that is under way has ended */
function cadenceNow({ to, place, lease, stretch }: StreamReading, afterNews: boolean, swept = false): Cadence {
  const stream = {
    list: lease.list,
    sessionId: lease.sessionId,
    changedAt: afterNews ? to.ledger.clock.now() : lease.changedAt,
    quietReads: afterNews ? 0 : lease.quietReads,
    pages: lease.pageCount,
    order: lease.order,
    sweptAt: swept ? to.ledger.clock.now() : lease.sweptAt,
  };
  return cadenceOf(factsOf(stream, place.schedule, stretch), place.plan.everyMs, to.ledger.clock.nowMs());
}

/** Pages of the rolling sweep beside a poll. */
function sliceOf(lease: StreamLease, cadence: Cadence): number {
  if (isReadWhole(lease, cadence)) return cadence.slicePages + 1; // to its end, should it have grown by a page
  return slicePagesOf(cadence, { isUnordered: lease.order === 'unordered', pages: lease.pageCount });
}

/** A live stream of which each read takes all pages along. */
function isReadWhole({ pageCount }: StreamLease, cadence: Cadence): boolean {
  return isLive(cadence) && pageCount !== null && cadence.slicePages >= pageCount;
}

/** Whether what is new can be told without a sweep. A stream of one page is swept by every read, at the same cost. */
function canPoll({ order, checkpoint, headId, pageCount }: StreamLease): boolean {
  if (order === 'ascending') return checkpoint !== null;
  return order === 'descending' && headId !== null && (pageCount ?? 0) > 1;
}

/** Whether the sweep is read on as far as the turn reaches: it is due, or there is no other way to what is new. */
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
 * A list that has to be walked whole takes at most a fifth of the time, however long it is: its pages at the pace of this
 * turn. What the walk spent waiting (a quota, a stopped process) does not count, and a list whose walk has shown an order
 * needs no rest: its next read is a poll. After a cold load on a small quota both together put that poll off for half an
 * hour. A rolling sweep spreads its pages over the polls by itself.
 */
function restAfter(
  { place, turn, lease }: StreamReading,
  walk: OpenWalk,
  { order, checkpoint, pages, begin }: WalkEnd & { readonly begin: { readonly at: number; readonly pages: number } },
): number {
  const willPoll = order === 'ascending' ? checkpoint !== null : order === 'descending';
  if (canPoll(lease) || willPoll || walk.pages === 0 || !walk.through) return 0;
  const pageMs = (performance.now() - begin.at) / (turn.pages - begin.pages);
  return Math.min(4 * pageMs * pages, place.plan.everyMs.sweep);
}

/** @param restMs at least so long; @param swept behind a sweep */
function nextReads(reading: StreamReading, { restMs, swept }: { restMs: number; swept: boolean }): NextReads {
  const next = (cadence: Cadence): NextRead => {
    const pollMs = cadence.pollInMs ?? dormantMs;
    return {
      dueInMs: Math.max(untilNextRead(pollMs, reading.place.ref, reading.to.ledger.clock.nowMs()), restMs),
      everyMs: Math.round(Math.max(pollMs, restMs)),
      wantedMs: Math.round(cadence.wantedMs ?? dormantMs),
      reason: restMs > pollMs ? 'whole-walk' : cadence.reason,
      sweepInMs: cadence.sweepInMs ?? dormantMs,
    };
  };
  return { afterNews: next(cadenceNow(reading, true, swept)), afterNothing: next(cadenceNow(reading, false, swept)) };
}
