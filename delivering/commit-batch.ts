import type { AttemptRow } from '../ledger/attempts.js';
import type { Queryable } from '../ledger/drivers/database.js';
import { engagementList } from '../base/lists.js';
import type { Ledger } from '../ledger/ledger.js';
import { useIndexOrder } from '../ledger/sql-expressions.js';
import { type Candidate, type FoundChanges, newChanges, type ShownChange, toCandidates } from './candidates.js';
import {
  type DeliveryRow,
  settleReplayed,
  type Settled,
  supersedeDead,
  supersedeErasedMeanwhile,
  supersedeWithheld,
  toDelivery,
  writeDeliveries,
} from '../ledger/deliveries.js';
import { keepObjects } from '../ledger/sink-objects.js';
import { endIntent, type Intent, keepIntent } from '../ledger/intents.js';
import { type LaneLease, type LockedLane, lockLane } from '../ledger/lanes-leased.js';
import { type LaneOutcome, moveWatermark, noteOnLane } from '../ledger/lanes.js';
import { peopleAmong, refreshInteractions, releaseEngagement } from './consent-changes.js';
import { anyOpen, dueDeliveries } from './due-deliveries.js';
import { nextReplayed, noteEmitted, noteReplayed } from './replays.js';
import { decideDelivery, type DecidingSink, type Decision, isWithdrawn, shownChanges } from './decide-delivery.js';

interface BatchRequest {
  readonly order: 'item' | 'pigeonhole';
  readonly size: number;
  readonly configuration: number;
  /**
   * True if the lane or the sink is failing: deliveries that have not been tried go first, so that failed ones cannot
   * block them.
   */
  readonly untriedFirst: boolean;
  /** The rules by which the lane decides on each change. */
  readonly terms: DecidingSink;
  /** Counts the removals that `terms.mayForget` allows. Called if a person withdrew consent. */
  readonly countRemovals: (tx: Queryable) => Promise<void>;
}

export interface Batch {
  /** Changes to send, by sequence. The lane's intent names them. */
  readonly sending: readonly ShownChange[];
  /** The number of them that have no delivery yet. */
  readonly added: number;
  readonly withheld: number;
  /** The lane's watermark once the batch is settled. */
  readonly reached: number;
  /** True if the lane has nothing left to do now. */
  readonly empty: boolean;
}

/**
 * Takes the next changes of a lane, decides on each, and commits the decisions: the intent to send the changes that the
 * sink receives, and deliveries for the others, which are `withheld`, `superseded`, `dead`, or `waiting` for an earlier
 * change of their item. The watermark moves when the batch is settled. Replayed changes are taken only after all new
 * changes. They wait for unsettled deliveries of the same item, also those of this batch.
 */
export async function startBatch(ledger: Ledger, lease: LaneLease, request: BatchRequest): Promise<Batch> {
  const { configuration, terms } = request;
  const { lists, accepts } = terms;
  // If an identity becomes visible or hidden, such a sink receives the person's items again.
  const onlyLatest = terms.revisions === 'latest';
  return await ledger.db.transaction(
    async (tx) => {
      const [lane] = await Promise.all([lockLane(tx, lease), useIndexOrder(tx)]);
      const { open, fresh, replayed, isEmpty } = await takeChanges(tx, lease, lane, request);
      const added = [...fresh.rows, ...replayed.rows];
      const blocked = added.filter((row) => row.blocked);
      const judged = await toCandidates(tx, lease.pigeonholeNumber, [...open, ...added.filter((row) => !row.blocked)]);
      if (judged.some((candidate) => isWithdrawn(candidate, terms))) await request.countRemovals(tx);
      const decisions = judged.map((candidate) => decideDelivery(candidate, terms));
      const sending = shownChanges(judged, decisions).toSorted(compareDeliveries);
      const others = [
        ...blocked.map((row) => toDelivery(row, { state: 'waiting' })),
        ...judged.flatMap((candidate, index) => toUnsent(candidate, decisions[index]!)),
      ];
      const isWithheld = (decision: Decision): boolean => decision.kind === 'withhold';
      const addedDecisions = decisions.slice(open.length);
      const emittedInVain = addedDecisions.filter(
        (decision, index) => isWithheld(decision) && judged[open.length + index]!.replay > 0,
      );
      await noteEmitted(tx, lease, replayed, emittedInVain.length);
      const checked = () => ({
        people: peopleAmong(blocked, judged),
        between: lists.includes('attendees') ? null : { after: lane.watermark, until: fresh.reached },
      });
      const releases = !onlyLatest && lists.includes(engagementList);
      if (releases) await releaseEngagement(tx, lease, accepts, checked());
      const { reached } = fresh;
      await Promise.all([
        writeDeliveries(tx, lease, configuration, others),
        onlyLatest && supersedeWithheld(tx, lease, added),
        sending.length > 0
          ? keepIntent(tx, lease, toIntent(configuration, reached, sending))
          : reached > lane.watermark && moveWatermark(tx, lease, reached),
      ]);
      if (onlyLatest) await refreshInteractions(tx, lease, accepts, checked());
      return {
        sending,
        added: addedDecisions.filter(({ kind }) => kind === 'send').length,
        withheld: decisions.filter(isWithheld).length,
        reached,
        empty: isEmpty,
      };
    },
    { beginsByLocking: true },
  );
}

/**
 * Reads the changes of the next batch: open deliveries that are due, then new changes, then those of replays.
 * @returns `isEmpty`: the lane has nothing left to do now
 */
async function takeChanges(tx: Queryable, lease: LaneLease, lane: LockedLane, request: BatchRequest) {
  const { order, size } = request;
  const { lists, revisions } = request.terms;
  const onlyLatest = revisions === 'latest';
  const untriedFirst = request.untriedFirst && order === 'item';
  // The query for new changes does not wait for the due deliveries, because usually none is due and the new changes are
  // needed.
  const [open, hasOpen, next] = await Promise.all([
    dueDeliveries(tx, lease, { order, onlyLatest, which: untriedFirst ? 'untried' : 'all', limit: size }),
    order === 'pigeonhole' && anyOpen(tx, lease),
    newChanges(
      tx,
      { ...lane, pigeonholeNumber: lease.pigeonholeNumber, sinkId: lease.sinkId, lists, after: lane.watermark },
      size,
    ),
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
    open.push(...(await dueDeliveries(tx, lease, { order, onlyLatest, which: 'failed', limit })));
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

function toIntent(configuration: number, reached: number, sending: readonly ShownChange[]): Intent {
  const changes = sending.map(({ sequence, replay, identity }) => ({ sequence, replay, identity }));
  return { configuration, reached, changes };
}

/** Returns the delivery of a change that is not sent; none for one that is. */
function toUnsent(candidate: Candidate, decision: Decision): DeliveryRow[] {
  switch (decision.kind) {
    case 'send':
      return [];
    case 'withhold':
      return [toDelivery(candidate, { state: 'withheld', reason: decision.reason })];
    case 'supersede':
      return [toDelivery(candidate, { state: 'superseded' })];
    case 'park':
      return [toDelivery(candidate, { state: 'dead', reason: decision.cause, detail: decision.detail })];
  }
}

interface BatchOutcome extends Omit<LaneOutcome, 'reached'> {
  readonly settled: readonly Settled[];
  /**
   * True if the sink receives only the latest revision: a delivered revision then supersedes dead letters of older
   * ones.
   */
  readonly onlyLatest: boolean;
  /** The batch whose intent is settled; null if changes were looked up that an earlier batch sent. */
  readonly batch: {
    readonly configuration: number;
    readonly reached: number;
    readonly attempts: readonly AttemptRow[];
  } | null;
}

/**
 * Commits the outcomes of a batch, or of look-ups.
 * @throws {LedgerError} kind `stale` if another process took over the lane
 */
export async function finishBatch(
  ledger: Ledger,
  lease: LaneLease,
  { settled, batch, ...lane }: BatchOutcome,
): Promise<void> {
  const objects = settled.flatMap((each) => each.objects ?? []);
  await ledger.db.transaction(
    async (tx) => {
      await lockLane(tx, lease); // before the row of the intent: an erasure locks them in this order too
      const wasIntent = batch !== null && (await endIntent(tx, lease));
      // The statements are sent together and run in this order. None needs the result of another.
      await Promise.all([
        writeDeliveries(tx, lease, batch?.configuration ?? null, settled, batch?.attempts),
        !wasIntent && supersedeErasedMeanwhile(tx, lease, settled),
        settleReplayed(tx, lease, settled),
        noteReplayed(tx, lease, settled),
        lane.onlyLatest && supersedeDead(tx, lease, settled),
        keepObjects(tx, lease, objects),
        noteOnLane(tx, lease, { ...lane, reached: batch?.reached }),
      ]);
    },
    { beginsByLocking: true },
  );
}
