import { scheduleStream, type NextRead, type StreamLease, takeStream } from '../ledger/queries/streams.js';
import type { OpenWalk } from '../ledger/queries/walk.js';
import { ApiError } from '../pigeonhole/api-error.js';
import type { ListName } from '../pigeonhole/lists.js';
import { isLive, intervalOf, untilNextRead } from './cadence.js';
import type { Collaborators } from './collaborators.js';
import { examineMissing } from './examine-missing.js';
import { settleFailure } from './settle-failure.js';
import { facts, type StreamPlace, type StreamReading, type StreamTurn, type TurnLimits } from './stream-reading.js';
import { slicePages } from './sweep-slice.js';
import { distrust, walkStream } from './walk-stream.js';
import { walkStart } from './walk-progress.js';

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
  limits: TurnLimits,
): Promise<StreamTurn> {
  const lease = await takeStream(to.ledger, streamId, to.owner);
  const turn: StreamTurn = { pages: 0, created: 0, updated: 0, deleted: 0, reviewsLeft: false, workspaceWaits: false };
  const reading: StreamReading = { to, place, limits, turn, lease, cursor: null, highestId: lease.highestId };
  for (let restarts = 0; ; restarts += 1) {
    try {
      const ending = await pollAndSweep(reading, restarts > 0);
      if (ending !== 'distrusted') return turn;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const verdict = await settleFailure(reading, error, { mayRestart: restarts === 0 });
      turn.workspaceWaits = verdict.who === 'workspace';
      if (verdict.who !== 'walk') return turn;
      await distrust(reading, reading.lease);
    }
    to.log.info(facts(reading), 'walk starts again at the first page');
    reading.lease = { ...reading.lease, sweep: null };
  }
}

async function pollAndSweep(reading: StreamReading, anew: boolean): Promise<'done' | 'distrusted'> {
  const { to, lease } = reading;
  const live = isLive(reading.place.status);
  const polls = canPoll(lease) && !anew;
  const priority = live ? 'live' : 'idle';
  const through = isThrough(lease, polls, live) || anew;
  const slice = live ? slicePages(lease.list as ListName, lease.order, lease.pageCount ?? 1) : 0;
  const pages = through ? Number.POSITIVE_INFINITY : slice;
  if (polls) {
    const next = pages > 0 ? null : nextRead(reading, 'poll');
    const ending = await walkStream(reading, lease.poll ?? pollOf(lease), {
      mostPages: Number.POSITIVE_INFINITY,
      priority,
      next,
    });
    if (ending === 'distrusted') return ending;
    if (ending === 'more' || pages === 0) return 'done';
  }
  const walk = reading.lease.sweep ?? sweepOf(reading.lease, through);
  const next = nextRead(reading, 'sweep', walk);
  const ending = await walkStream(reading, walk, { mostPages: pages, priority: through ? 'sweep' : priority, next });
  if (ending === 'finished') await examineMissing(reading);
  else if (!through) await scheduleStream(to.ledger, reading.lease, next);
  return 'done';
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

function nextRead({ place, lease }: StreamReading, kind: OpenWalk['kind'], walk?: OpenWalk): NextRead {
  const interval = intervalOf(
    { list: lease.list as ListName, sessionType: place.sessionTypes.get(lease.sessionId), status: place.status },
    place.plan.everyMs,
  );
  const pollInMs = untilNextRead(interval, place.ref, Date.now());
  const { sweep } = place.plan.everyMs;
  // A list that has to be walked whole takes at most a fifth of the time, however long it is; but what a walk spent
  // waiting (a quota, a stopped process) counts as well, and must not put the next one off for days.
  const tookMs = walk === undefined || walk.pages === 0 ? 0 : Date.now() - walk.startedAt.getTime();
  const restMs = kind === 'sweep' && !canPoll(lease) ? Math.min(4 * tookMs, sweep) : 0;
  return { dueInMs: Math.max(pollInMs, restMs), sweepInMs: sweep };
}
