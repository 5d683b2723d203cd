import type { Queryable } from '../ledger/drivers/database.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Consent } from '../ledger/seen-item.js';
import { useIndexOrder } from '../ledger/addressed-indexes.js';
import { type Candidate, type CandidateRow, type FoundChanges, newChanges, toCandidates } from './candidates.js';
import { type BatchInFlight, moveWatermark, saveBatchInFlight } from '../ledger/batches-in-flight.js';
import { type LaneLease, lockLane } from '../ledger/lanes.js';
import { refreshInteractions } from './refresh-interactions.js';
import { anyOpen, dueDeliveries } from './due-deliveries.js';
import { nextReplayed, noteEmitted } from './replays.js';
import {
  type Decision,
  type Decided,
  toDecidedRow,
  insertDecided,
  updateDecided,
  supersedeWithheld,
} from './delivery-states.js';

export interface BatchRequest {
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
  /** Changes to send, by sequence, already committed as `sending`; `identity`: the person's identity is visible. */
  readonly sending: readonly { readonly candidate: Candidate; readonly identity: boolean }[];
  readonly withheld: number;
  /** The batch, if its deliveries are not written yet: `finishBatch` writes them. */
  readonly unwritten?: BatchInFlight;
  /** True if the lane has nothing left to do now. */
  readonly empty: boolean;
}

/**
 * Takes the next changes of a lane, decides on each, and commits the decisions with the new watermark. Each delivery is
 * then `sending`, `withheld`, `superseded`, `dead`, or `waiting` for an earlier change of its item. Replayed changes
 * are taken only after all new changes and after every unsettled delivery of the same item.
 */
export async function startBatch(ledger: Ledger, lease: LaneLease, request: BatchRequest): Promise<Batch> {
  return await ledger.db.transaction(
    async (tx) => {
      const [lane] = await Promise.all([lockLane(tx, lease), useIndexOrder(tx)]);
      const untriedFirst = request.untriedFirst && request.order === 'item';
      // The query for new changes does not wait for the due deliveries, because usually none is due and the new changes
      // are needed.
      const [open, hasOpen, next] = await Promise.all([
        dueDeliveries(tx, lease, { ...request, which: untriedFirst ? 'untried' : 'all', limit: request.size }),
        request.order === 'pigeonhole' && anyOpen(tx, lease),
        newChanges(
          tx,
          { ...lane, ref: lease.ref, sinkId: lease.sinkId, lists: request.lists, after: lane.watermark },
          request.size,
        ),
      ]);
      const room = hasOpen ? 0 : request.size - open.length;
      const fresh = room > 0 ? firstOf(next, room) : { rows: [], reached: lane.watermark };
      const left = room - fresh.rows.length;
      const replayed =
        left > 0 && lane.replaying && fresh.reached === lane.newest
          ? await nextReplayed(tx, lease, request.lists, left)
          : { rows: [], done: true };
      const added = [...fresh.rows, ...replayed.rows];
      if (untriedFirst) {
        const limit = left - replayed.rows.length;
        open.push(...(await dueDeliveries(tx, lease, { ...request, which: 'failed', limit })));
      }
      const judged = await toCandidates(tx, lease.ref, [...open, ...added.filter((row) => !row.blocked)]);
      const decisions = await request.decide(tx, judged);
      const decided = judged.map((candidate, index) => ({ candidate, decision: decisions[index]! }));
      const sending = decided
        .flatMap(({ candidate, decision }) =>
          decision.kind === 'send' ? [{ candidate, identity: decision.identity }] : [],
        )
        .toSorted((a, b) => compareDeliveries(a.candidate, b.candidate));
      const withheld = decided.filter(({ decision }) => decision.kind === 'withhold');
      const emitted = new Set(replayed.rows.map(keyText));
      await noteEmitted(
        tx,
        lease,
        replayed,
        withheld.filter(({ candidate }) => emitted.has(keyText(candidate))).length,
      );
      if (open.length === 0 && replayed.rows.length === 0 && isWrittenLater(request, fresh, decided)) {
        const unwritten = toBatchInFlight(request.configuration, fresh, decided);
        await saveBatchInFlight(tx, lease, unwritten);
        return { sending, withheld: withheld.length, unwritten, empty: false };
      }
      const opened = new Set(open.map(keyText));
      const inserting = insertDecided(tx, lease, request.configuration, [
        ...added
          .filter((row) => row.blocked)
          .map((row) => ({ candidate: row, state: 'waiting' as const, reason: null, identity: null })),
        ...decided.filter(({ candidate }) => !opened.has(keyText(candidate))).map(toDecidedRow),
      ]);
      const updating = updateDecided(
        tx,
        lease,
        request.configuration,
        decided.filter(({ candidate }) => opened.has(keyText(candidate))).map(toDecidedRow),
      );
      const watermark = fresh.reached;
      if (request.onlyLatest) {
        await Promise.all([inserting, updating, supersedeWithheld(tx, lease, added)]);
        const between = request.lists.includes('attendees') ? null : { after: lane.watermark, until: watermark };
        const people = peopleAmong(added, decided);
        await refreshInteractions(tx, lease, request.accepts, { people, between });
      }
      await Promise.all([inserting, updating, watermark > lane.watermark && moveWatermark(tx, lease, watermark)]);
      return {
        sending,
        withheld: withheld.length,
        empty:
          open.length === 0 && added.length === 0 && (room === 0 || fresh.reached === lane.newest) && replayed.done,
      };
    },
    { beginsByLocking: true },
  );
}

/**
 * Returns true if the deliveries of a batch can be written together with their outcomes: the sink receives every
 * revision, neither the lane nor the sink fails, all changes are new, none waits, and at least one is sent. Removals
 * are always written as deliveries first, because an erasure ends when those rows are settled.
 */
function isWrittenLater(request: BatchRequest, fresh: FoundChanges, decided: readonly Decided[]): boolean {
  return (
    !request.onlyLatest &&
    !request.untriedFirst &&
    fresh.rows.every(({ blocked }) => !blocked) &&
    decided.every(({ candidate }) => candidate.kind !== 'deleted' && candidate.erased === null) &&
    decided.some(({ decision }) => decision.kind === 'send')
  );
}

function toBatchInFlight(configuration: number, fresh: FoundChanges, decided: readonly Decided[]): BatchInFlight {
  const rows = decided.map((each) => {
    const { candidate, state, reason, detail, identity } = toDecidedRow(each);
    const { sequence, list, key, revision, attempts } = candidate;
    return {
      sequence,
      list,
      key,
      revision,
      state,
      reason,
      detail: detail ?? null,
      identity,
      attempts,
      retryInMs: null,
    };
  });
  return {
    configuration,
    reached: fresh.reached,
    sent: rows.filter(({ state }) => state === 'sending'),
    others: rows.filter(({ state }) => state !== 'sending'),
  };
}

/**
 * Returns the people whose own record is in this batch. If their consent has changed, the sink has to correct their
 * items. `mayShow` is false while their record waits for an earlier revision: the sink may then hide their identity,
 * but not show it.
 */
function peopleAmong(
  added: readonly CandidateRow[],
  decided: readonly { readonly candidate: Candidate }[],
): Map<string, { mayShow: boolean }> {
  const waiting = added.filter((row) => row.list === 'attendees' && row.blocked).map(({ key }) => key);
  const checked = decided
    .filter(({ candidate }) => candidate.list === 'attendees')
    .map(({ candidate }) => candidate.key);
  return new Map([...checked.map((key) => entry(key, true)), ...waiting.map((key) => entry(key, false))]);
}

function entry(key: string, mayShow: boolean): [string, { mayShow: boolean }] {
  return [key, { mayShow }];
}

/** Identifies a delivery in its lane, and orders it: a replay of a change comes after the change itself. */
type DeliveryKey = Pick<Candidate, 'sequence' | 'replay'>;

function keyText({ sequence, replay }: DeliveryKey): string {
  return `${sequence} ${replay}`;
}

function compareDeliveries(a: DeliveryKey, b: DeliveryKey): number {
  return a.sequence - b.sequence || a.replay - b.replay;
}

function firstOf({ rows, reached }: FoundChanges, room: number): FoundChanges {
  return rows.length <= room ? { rows, reached } : { rows: rows.slice(0, room), reached: rows[room - 1]!.sequence };
}
