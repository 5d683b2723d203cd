import type { Queryable } from '../ledger/drivers/database.js';
import { engagementList } from '../ledger/engagement.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Consent } from '../ledger/seen-item.js';
import { useIndexOrder } from '../ledger/sql-expressions.js';
import { type Candidate, type FoundChanges, newChanges, type ShownChange, toCandidates } from './candidates.js';
import {
  settleReplayed,
  type Settled,
  supersedeDead,
  supersedeWithheld,
  writeDecided,
  writeFirstDeliveries,
  writeOutcomes,
} from '../ledger/deliveries.js';
import { keepObjects } from '../ledger/sink-objects.js';
import {
  type BatchInFlight,
  endBatchInFlight,
  saveBatchInFlight,
  type LaneLease,
  type LaneOutcome,
  type LockedLane,
  lockLane,
  moveWatermark,
  noteOnLane,
} from '../ledger/lanes.js';
import { peopleAmong, refreshInteractions, releaseEngagement } from './consent-changes.js';
import { anyOpen, dueDeliveries } from './due-deliveries.js';
import { nextReplayed, noteEmitted, noteReplayed } from './replays.js';
import { type Decision, type Decided, toDecidedRow, toWaitingRow } from './delivery-states.js';
import { firstDeliveries, isWrittenLater, toBatchInFlight } from './unwritten-batch.js';

interface BatchRequest {
  readonly lists: readonly string[];
  readonly order: 'item' | 'pigeonhole';
  readonly size: number;
  readonly configuration: number;
  /**
   * True if the sink receives only the latest revision of an item. If an identity becomes visible or hidden, such a
   * sink receives the person's items again.
   */
  readonly onlyLatest: boolean;
  /**
   * True if the lane or the sink is failing: deliveries that have not been tried go first, so that failed ones cannot
   * block them.
   */
  readonly untriedFirst: boolean;
  /** Consent states that make an identity visible. */
  readonly accepts: ReadonlySet<Consent>;
  /** Returns one decision per candidate, in the same order, based on the rows that the transaction sees. */
  readonly decide: (tx: Queryable, candidates: readonly Candidate[]) => Promise<readonly Decision[]>;
}

export interface Batch {
  /** Changes to send, by sequence, already committed as `sending` or as the batch in flight. */
  readonly sending: readonly ShownChange[];
  readonly withheld: number;
  /** The batch, if its deliveries are not written yet: `finishBatch` writes them. */
  readonly unwritten?: BatchInFlight;
  /** True if the lane has nothing left to do now. */
  readonly empty: boolean;
}

/**
 * Takes the next changes of a lane, decides on each, and commits the decisions with the new watermark. Each delivery is
 * then `sending`, `withheld`, `superseded`, `dead`, or `waiting` for an earlier change of its item. Replayed changes
 * are taken only after all new changes. They wait for unsettled deliveries of the same item, also those of this batch.
 */
export async function startBatch(ledger: Ledger, lease: LaneLease, request: BatchRequest): Promise<Batch> {
  return await ledger.db.transaction(
    async (tx) => {
      const [lane] = await Promise.all([lockLane(tx, lease), useIndexOrder(tx)]);
      const { open, fresh, replayed, isEmpty } = await takeChanges(tx, lease, lane, request);
      const added = [...fresh.rows, ...replayed.rows];
      const blocked = added.filter((row) => row.blocked);
      const judged = await toCandidates(tx, lease.ref, [...open, ...added.filter((row) => !row.blocked)]);
      const decisions = await request.decide(tx, judged);
      const decided = judged.map((candidate, index) => ({ candidate, decision: decisions[index]! }));
      const sending = decided
        .flatMap(({ candidate, decision }) =>
          decision.kind === 'send' ? [{ candidate, identity: decision.identity }] : [],
        )
        .toSorted((a, b) => compareDeliveries(a.candidate, b.candidate));
      const withheld = decided.filter(({ decision }) => decision.kind === 'withhold').length;
      const isWithheldReplay = ({ candidate, decision }: Decided): boolean =>
        candidate.replay > 0 && decision.kind === 'withhold';
      await noteEmitted(tx, lease, replayed, decided.slice(open.length).filter(isWithheldReplay).length);
      const checked = () => ({
        people: peopleAmong(blocked, judged),
        between: request.lists.includes('attendees') ? null : { after: lane.watermark, until: fresh.reached },
      });
      const releases = !request.onlyLatest && request.lists.includes(engagementList);
      if (releases) await releaseEngagement(tx, lease, request.accepts, checked());
      if (open.length === 0 && replayed.rows.length === 0 && isWrittenLater(request, fresh, decided)) {
        const unwritten = toBatchInFlight(request.configuration, fresh, decided);
        await saveBatchInFlight(tx, lease, unwritten);
        return { sending, withheld, unwritten, empty: false };
      }
      await Promise.all([
        writeDecided(tx, lease, request.configuration, [...blocked.map(toWaitingRow), ...decided.map(toDecidedRow)]),
        request.onlyLatest && supersedeWithheld(tx, lease, added),
        fresh.reached > lane.watermark && moveWatermark(tx, lease, fresh.reached),
      ]);
      if (request.onlyLatest) await refreshInteractions(tx, lease, request.accepts, checked());
      return { sending, withheld, empty: isEmpty };
    },
    { beginsByLocking: true },
  );
}

/**
 * Reads the changes of the next batch: open deliveries that are due, then new changes, then those of replays.
 * @returns `isEmpty`: the lane has nothing left to do now
 */
async function takeChanges(tx: Queryable, lease: LaneLease, lane: LockedLane, request: BatchRequest) {
  const { lists, order, size } = request;
  const untriedFirst = request.untriedFirst && order === 'item';
  // The query for new changes does not wait for the due deliveries, because usually none is due and the new changes are
  // needed.
  const [open, hasOpen, next] = await Promise.all([
    dueDeliveries(tx, lease, { ...request, which: untriedFirst ? 'untried' : 'all', limit: size }),
    order === 'pigeonhole' && anyOpen(tx, lease),
    newChanges(tx, { ...lane, ref: lease.ref, sinkId: lease.sinkId, lists, after: lane.watermark }, size),
  ]);
  const room = hasOpen ? 0 : size - open.length;
  const fresh = room > 0 ? firstOf(next, room) : { rows: [], reached: lane.watermark };
  const left = room - fresh.rows.length;
  const isRead = fresh.reached === lane.newest;
  const replayed =
    left > 0 && lane.replaying && isRead
      ? await nextReplayed(tx, lease, { lists, besides: fresh.rows }, left)
      : { rows: [], done: true };
  if (untriedFirst) {
    const limit = left - replayed.rows.length;
    open.push(...(await dueDeliveries(tx, lease, { ...request, which: 'failed', limit })));
  }
  const isTaken = open.length + fresh.rows.length + replayed.rows.length > 0;
  return { open, fresh, replayed, isEmpty: !isTaken && (room === 0 || isRead) && replayed.done };
}

/** Orders deliveries of a lane: a replay of a change comes after the change itself. */
function compareDeliveries(a: Candidate, b: Candidate): number {
  return a.sequence - b.sequence || a.replay - b.replay;
}

function firstOf({ rows, reached }: FoundChanges, room: number): FoundChanges {
  return rows.length <= room ? { rows, reached } : { rows: rows.slice(0, room), reached: rows[room - 1]!.sequence };
}

interface BatchOutcome extends LaneOutcome {
  /**
   * True if the sink receives only the latest revision: a delivered revision then supersedes dead letters of older
   * ones.
   */
  readonly onlyLatest: boolean;
  /** The batch, if its deliveries are not written yet. */
  readonly unwritten?: BatchInFlight | undefined;
}

/**
 * Commits the outcomes of a batch.
 * @throws {LedgerError} kind `stale` if another process took over the lane
 */
export async function finishBatch(
  ledger: Ledger,
  lease: LaneLease,
  settled: readonly Settled[],
  lane: BatchOutcome,
): Promise<void> {
  const delivered = settled.filter(({ state }) => state === 'delivered').map(({ sequence }) => sequence);
  const objects = settled.flatMap(({ object, siblings = [] }) => (object === undefined ? [] : [...siblings, object]));
  await ledger.db.transaction(
    async (tx) => {
      const { unwritten } = lane;
      await lockLane(tx, lease); // before the row of the batch: an erasure locks them in this order too
      const wasInFlight = unwritten !== undefined && (await endBatchInFlight(tx, lease));
      // The statements are sent together, because none needs the result of another.
      await Promise.all([
        (wasInFlight
          ? Promise.all([
              writeFirstDeliveries(tx, lease, unwritten.configuration, firstDeliveries(unwritten, settled)),
              moveWatermark(tx, lease, unwritten.reached),
            ])
          : writeOutcomes(tx, lease, settled)
        ).then(() => settleReplayed(tx, lease, settled)),
        noteReplayed(tx, lease, settled),
        lane.onlyLatest && supersedeDead(tx, lease, delivered),
        keepObjects(tx, lease, objects),
        noteOnLane(tx, lease, lane),
      ]);
    },
    { beginsByLocking: true },
  );
}
