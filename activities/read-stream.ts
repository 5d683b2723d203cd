import { readingRules } from '../ledger/reading-rules.js';
import { recordPage } from '../ledger/queries/record-page.js';
import { pause } from '../ledger/queries/pauses.js';
import { type WaitReason, waitWorkspace } from '../ledger/queries/workspaces.js';
import {
  beginWalk,
  demoteStream,
  failStream,
  finishWalk,
  type OpenWalk,
  type StreamLease,
  takeStream,
} from '../ledger/queries/streams.js';
import { putOffStream } from '../ledger/queries/put-off-stream.js';
import type { ApiError } from '../pigeonhole/api-error.js';
import { walkPages } from '../pigeonhole/client.js';
import type { ListName, ListRef } from '../pigeonhole/lists.js';
import type { Page } from '../pigeonhole/page.js';
import { askPage, type Priority } from './ask-page.js';
import { cadenceOf, untilNextRead } from './cadence.js';
import type { Collaborators } from './collaborators.js';
import { isToBeJudged, isWorthALine, judgeFailure, type Verdict, wasWorthALine } from './failures.js';
import { PermitRefusal } from './permit-refusal.js';
import { unstretched } from './quota-rules.js';
import type { ReadingPlan } from './reading-plan.js';
import { factsOf, type Schedule } from './stream-facts.js';
import { toItems } from './to-items.js';
import { advanceWalk, checkpointHolds, type WalkedPage } from './walk-progress.js';

export interface StreamPlace {
  readonly ref: number;
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly plan: ReadingPlan;
  readonly schedule: Schedule;
  /** The wait of the workspace that ended just before; null: there was none. */
  readonly after: { readonly reason: WaitReason; readonly count: number } | null;
}

export interface StreamTurn {
  pages: number;
  created: number;
  updated: number;
  reviewsLeft: boolean;
  /** The workspace has to wait: no stream of it is to be asked. */
  workspaceWaits: boolean;
}

export interface TurnLimits {
  /** Epoch ms after which no further page is asked for, once `leastPages` were read. */
  readonly until: number;
  readonly leastPages: number;
  readonly signal: AbortSignal;
  /** Another stream was told that the workspace has to wait: this one asks for nothing more either. */
  readonly halted: () => boolean;
}

/**
 * Reads a stream from where it stands: the rest of an unfinished walk, a poll from the checkpoint, or a sweep. The
 * next page is asked for while this one is written. Safe to run twice, also at once: a page commits with the place
 * where the walk goes on, and only under the newest lease. What the service refuses is stored as the stream's, or the
 * workspace's, next time; it throws only when the store fails.
 */
export async function readStream(
  to: Collaborators,
  place: StreamPlace,
  streamId: number,
  limits: TurnLimits,
): Promise<StreamTurn> {
  const lease = await takeStream(to.ledger, streamId, to.owner);
  const turn: StreamTurn = { pages: 0, created: 0, updated: 0, reviewsLeft: false, workspaceWaits: false };
  let walk = lease.walk ?? (await beginWalk(to.ledger, lease, kindOf(lease)));
  const position: WalkPosition = { cursor: walk.cursor, highestId: lease.highestId };
  for (let restarts = 0; ; restarts += 1) {
    try {
      const end = await walkOn(to, place, lease, walk, position, limits, turn);
      if (end !== 'restart' || restarts > 0) return turn;
    } catch (error) {
      if (!isToBeJudged(error)) throw error;
      const verdict = await settleFailure(to, place, lease, error, {
        atCursor: position.cursor !== null && restarts === 0,
        storedPages: turn.pages,
      });
      turn.workspaceWaits = verdict.who === 'workspace';
      if (verdict.who !== 'walk') return turn;
    }
    to.log.info({ ...logFacts(place, lease) }, 'walk starts again at the first page');
    walk = await beginWalk(to.ledger, lease, 'sweep');
  }
}

function kindOf(lease: StreamLease): 'poll' | 'sweep' {
  return lease.order === 'ascending' && !lease.sweepDue ? 'poll' : 'sweep';
}

interface WalkPosition {
  /** What a walk asks for next, and so what a refusal is about. */
  cursor: string | null;
  /** The highest id that the stream has stored. */
  highestId: number | null;
}

type WalkEnd = 'finished' | 'more' | 'restart';

async function walkOn(
  to: Collaborators,
  place: StreamPlace,
  lease: StreamLease,
  from: OpenWalk,
  position: WalkPosition,
  limits: TurnLimits,
  turn: StreamTurn,
): Promise<WalkEnd> {
  const stop = new AbortController(); // ends the request under way when storing fails
  const signal = AbortSignal.any([limits.signal, stop.signal]);
  const permit = { workspace: place.workspace, priority: priorityOf(place, lease, from) };
  const pages = walkPages((list, options = {}) => askPage(to, permit, list, options), listRef(place, lease), {
    from: from.cursor,
    signal,
  });
  let walk = from;
  position.cursor = from.cursor;
  const read = async (hasTime: Promise<void>): Promise<{ page: Page; walked: Walked['walked'] }> => {
    const { value: page, done } = await pages.next();
    if (done === true) throw new Error('the pages of a walk ended without a last page');
    await hasTime;
    return { page, walked: walkedPage(lease, page, to.ledger, place) };
  };
  let next = read(Promise.resolve());
  try {
    for (;;) {
      const { page, walked } = await next;
      to.onPage();
      if (walk.kind === 'poll' && walk.pages === 0 && !checkpointHolds(lease, walked)) return 'restart';
      const progress = advanceWalk(walk, walked);
      if (walk.kind === 'poll' && !progress.ascending) {
        await demoteStream(to.ledger, lease);
        return 'restart';
      }
      turn.pages += 1;
      const ends = !page.hasMore;
      const enough = turn.pages >= limits.leastPages && (Date.now() > limits.until || to.stopping.aborted);
      const stops = enough || limits.halted() || limits.signal.aborted;
      // Asked for at once, but looked at while the store writes this page: before, the store would wait for us.
      const writing = createGate();
      const ids = placeIds(lease, walked, position);
      if (!ends && !stops) {
        next = read(writing.opened);
        next.catch(() => undefined); // awaited above; until then a refusal must not count as unhandled
      }
      await storePage(to, place, lease, page, { walked, progress, ...ids, onWriting: writing.open }, turn);
      walk = { ...walk, ...progress };
      position.cursor = walk.cursor;
      position.highestId = highest(position.highestId, ids.highestId);
      if (ends) {
        await endWalk(to, place, lease, walk);
        return 'finished';
      }
      if (stops) return 'more';
    }
  } finally {
    stop.abort();
    await pages.return().catch(() => undefined);
  }
}

interface Walked {
  readonly walked: WalkedPage & { readonly seen: ReturnType<typeof toItems> };
  readonly progress: ReturnType<typeof advanceWalk>;
  readonly highestId: number | null;
  readonly isNew: boolean;
  readonly onWriting: () => void;
}

/**
 * How a page's ids stand to what the stream has stored. A list that is read per session may have got an item from
 * another stream (it moved), so there nothing is new for certain.
 */
function placeIds(
  lease: StreamLease,
  { items }: WalkedPage,
  { highestId }: WalkPosition,
): Pick<Walked, 'highestId' | 'isNew'> {
  let top: number | null = null;
  let isNew = lease.sessionId === 0;
  for (const { id } of items) {
    if (id === undefined) isNew = false;
    else {
      if (highestId !== null && id <= highestId) isNew = false;
      top = highest(top, id);
    }
  }
  return { highestId: top, isNew };
}

function highest(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.max(a, b);
}

function createGate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

async function storePage(
  to: Collaborators,
  place: StreamPlace,
  lease: StreamLease,
  page: Page,
  { walked, progress, highestId, isNew, onWriting }: Walked,
  turn: StreamTurn,
): Promise<void> {
  // What says who is anonymous may change items of any list.
  const speaksForOthers = lease.list === 'sessions' || lease.list === 'qna-questions';
  const lists = speaksForOthers ? [...place.plan.sinks.keys()] : [lease.list as ListName];
  const names = new Set(lists.flatMap((list) => place.plan.sinks.get(list) ?? []));
  const result = await recordPage(to.ledger, lease, {
    items: walked.seen.items,
    requestedAt: new Date(page.requestedAt),
    rules: readingRules(place.plan.drop[lease.list as ListName] ?? []),
    walk: progress,
    highestId,
    isNew,
    onWriting,
    sinkIds: [...names].flatMap((name) => to.sinks.get(name)?.id ?? []),
  });
  turn.created += result.created;
  turn.updated += result.updated;
  turn.reviewsLeft ||= result.reviewsLeft;
  if (result.woken.length > 0) await to.orchestration.wakeSinks(result.woken);
  const noteworthy = result.created + result.updated + walked.seen.unidentified + page.irregular.length > 0;
  if (noteworthy) {
    to.log.info(
      {
        ...logFacts(place, lease),
        requestId: page.requestId,
        items: page.items.length,
        created: result.created,
        updated: result.updated,
        unidentified: walked.seen.unidentified,
        irregular: page.irregular.length,
      },
      'page stored',
    );
  }
}

async function endWalk(to: Collaborators, place: StreamPlace, lease: StreamLease, walk: OpenWalk): Promise<void> {
  const stretch = await to.gate.stretchOf(to, place.workspace);
  const pages = Math.max(1, walk.pages);
  const facts = { ...lease, changedAt: null, quietReads: 0, pages, sweptAt: new Date() };
  const cadence = cadenceOf(factsOf(facts, place.schedule, stretch), place.plan.everyMs, Date.now());
  const pollInMs = untilNextRead(cadence.pollInMs ?? dormantMs, place.ref, Date.now());
  // A list that has to be walked whole takes at most a fifth of the time, however long it is; but what a walk spent
  // waiting (a quota, a stopped process) counts as well, and must not put the next one off for days.
  const sweep = cadence.sweepInMs ?? dormantMs;
  const tookMs = Date.now() - walk.startedAt.getTime();
  const dueInMs = walk.kind === 'sweep' ? Math.max(pollInMs, Math.min(4 * tookMs, sweep)) : pollInMs;
  await finishWalk(to.ledger, lease, walk, { dueInMs, sweepInMs: sweep });
  if (wasWorthALine(lease.failures)) {
    to.log.info({ ...logFacts(place, lease), failures: lease.failures }, 'stream is read again');
  }
}

async function settleFailure(
  to: Collaborators,
  place: StreamPlace,
  lease: StreamLease,
  error: ApiError | PermitRefusal,
  where: { atCursor: boolean; storedPages: number },
): Promise<Verdict> {
  const isRefusal = error instanceof PermitRefusal;
  const reason = isRefusal ? 'quota' : error.kind;
  const workspaceWaits = place.after?.reason === reason ? place.after.count : 0;
  const streamFailures = where.storedPages > 0 ? 0 : lease.failures; // in a row: a stored page ends them
  const verdict = judgeFailure(
    error,
    { streamFailures, workspaceWaits, atCursor: where.atCursor },
    { now: Date.now(), random: Math.random() },
  );
  const line = {
    ...logFacts(place, lease),
    ...(isRefusal ? { kind: error.reason } : { kind: error.kind, code: error.code, requestId: error.requestId }),
  };
  if (verdict.who === 'workspace') {
    const { waitMs } = verdict;
    await waitWorkspace(to.ledger, place.workspace, { reason: verdict.reason, waitMs, count: workspaceWaits + 1 });
    if (verdict.reason === 'credential') await pauseForKey(to, place.workspace, error.message);
    if (workspaceWaits === 0) to.log.warn({ ...line, waitMs: verdict.waitMs }, `workspace waits: ${verdict.reason}`);
  } else if (verdict.who === 'stream') {
    await failStream(to.ledger, lease, { detail: error.message, retryInMs: verdict.waitMs });
    if (!isRefusal && isWorthALine(error.kind, streamFailures, to.gate.outages.isDown(place.workspace))) {
      to.log.warn({ ...line, error: error.message }, 'stream cannot be read');
    }
  } else if (verdict.who === 'request') {
    await putOffStream(to.ledger, lease, verdict.waitMs);
  }
  return verdict;
}

/** Says so where a person looks. Lifted by another key, or when the service takes this one again. */
async function pauseForKey(to: Collaborators, workspace: string, detail: string): Promise<void> {
  const key = to.config.workspaces[workspace]!.apiKey.reveal();
  await pause(to.ledger, {
    scope: 'workspace',
    name: workspace,
    pausedBy: 'cause',
    cause: 'credential',
    detail,
    fingerprint: to.ledger.hash.fingerprint(key),
  });
}

function walkedPage(
  lease: StreamLease,
  page: Page,
  ledger: Collaborators['ledger'],
  place: StreamPlace,
): Walked['walked'] {
  const list = lease.list as ListName;
  const drop = place.plan.drop[list] ?? [];
  const seen = toItems(page.items, { list, sessionId: lease.sessionId, drop, hash: ledger.hash });
  return {
    cursor: page.cursor,
    nextCursor: page.nextCursor,
    hasMore: page.hasMore,
    perPage: page.perPage,
    requestedAt: page.requestedAt,
    items: seen.items.map(({ key, at }) => ({
      key,
      id: list === 'votes' ? undefined : Number(key),
      at,
    })),
    seen,
  };
}

function listRef(place: StreamPlace, lease: StreamLease): ListRef {
  const list = lease.list as ListName;
  const { pigeonholeId } = place;
  switch (list) {
    case 'pigeonholes':
    case 'subscriptions':
      return { list };
    case 'votes':
    case 'answer_ratings':
    case 'answers':
      return { list, pigeonholeId, sessionId: lease.sessionId };
    default:
      return { list, pigeonholeId };
  }
}

/** A sweep can wait; not so the first walk over a stream, or those of a stream that can be read in no other way. */
function priorityOf({ plan, schedule }: StreamPlace, lease: StreamLease, walk: OpenWalk): Priority {
  if (walk.kind === 'sweep' && lease.order === 'ascending') return 'sweep';
  const facts = { ...lease, changedAt: null, quietReads: 0, pages: null, sweptAt: null };
  return cadenceOf(factsOf(facts, schedule, unstretched), plan.everyMs, Date.now()).priority;
}

/** What is not read any more is looked at again after a while: its pigeonhole may not have ended after all. */
const dormantMs = 30 * 24 * 3_600_000;

function logFacts(place: StreamPlace, lease: StreamLease): Record<string, unknown> {
  return {
    workspace: place.workspace,
    pigeonhole: place.pigeonholeId,
    list: lease.list,
    ...(lease.sessionId === 0 ? {} : { session: lease.sessionId }),
    walk: lease.walk?.kind,
  };
}
