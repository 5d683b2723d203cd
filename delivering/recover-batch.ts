import { storedDetail } from '../ledger/kept-answer.js';
import { byOrder } from '../ledger/sql-expressions.js';
import type { LaneLease } from '../ledger/lanes-leased.js';
import type { Queryable } from '../ledger/drivers/database.js';
import type { Ledger } from '../ledger/ledger.js';
import { ownRecords } from '../ledger/visibility.js';
import { whileHeld } from '../base/lease.js';
import type { Outcome, Planned, SendResult, Sink, Subject } from '../sinks/sink.js';
import { candidateColumns, type CandidateRow, type ShownChange, toCandidates } from './candidates.js';
import { outcomeUnknown } from './dead-letters.js';
import { postponeLookUps, type Settled, toDelivery } from '../ledger/deliveries.js';
import { decideDelivery, type DecidingSink } from './decide-delivery.js';
import { openJoins } from './due-deliveries.js';
import { readSubjects, withHiddenReason } from './plan-changes.js';
import type { SubjectsLane } from './related-items.js';
import { type LeasedLane, operationsOf, type Settlement, type Settlements, toSettlements } from './send-batch.js';

/** Finds out what happened to changes that an earlier attempt may have sent, and what it means for each of them. */
export async function recoverBatch(
  tx: Queryable,
  sink: Sink,
  changes: readonly ShownChange[],
  lane: { readonly subjects: SubjectsLane; readonly held: LeasedLane; readonly terms: DecidingSink },
): Promise<Settlements> {
  const { settlements, memory } = await recoverSent(sink, await readSubjects(tx, lane.subjects, changes), lane.held);
  const settled = settlements.map((each, index) => {
    const change = changes[index]!;
    return unlessHidden(withHiddenReason(each, change, lane.subjects.mapping), change, lane.terms);
  });
  return { settlements: settled, memory };
}

/**
 * Finds out what happened to changes that an earlier attempt may have sent. The mapping or related items may have
 * changed since then, so that the plan now drops a change, although the earlier attempt may have created an object for
 * it. Therefore, the sink first looks for the object with its `planLookUp` plan. If it finds one, the change is planned
 * again with that object.
 */
export async function recoverSent(sink: Sink, subjects: readonly Subject[], held: LeasedLane): Promise<Settlements> {
  const planned = await sink.plan(subjects);
  const isDropped = planned.map(({ kind }) => kind !== 'send');
  const lookUps = await tracesOf(
    sink,
    subjects.filter((_, index) => isDropped[index]),
  );
  const plans = planned.map((plan, index) => (isDropped[index] ? (lookUps.shift() ?? plan) : plan));
  const operations = operationsOf(plans);
  const result = await whileHeld(held.confirm, async (): Promise<SendResult> => {
    if (sink.recover !== undefined) return await sink.recover(operations, held.lane, held.signal);
    return { outcomes: operations.map(() => ({ kind: 'unsent' })) };
  });
  const found = toSettlements(plans, result);
  return {
    ...found,
    settlements: found.settlements.map((each, index) => (isDropped[index] ? settleTrace(each, planned[index]!) : each)),
  };
}

/**
 * Plans look-ups for changes that the plan now drops. Returns none if the sink has no `planLookUp`: it finds its objects
 * by other means.
 */
async function tracesOf(sink: Sink, subjects: readonly Subject[]): Promise<Planned[]> {
  if (sink.planLookUp === undefined || subjects.length === 0) return [];
  return [...(await sink.planLookUp(subjects))];
}

/**
 * Returns the settlement of a change that the plan now drops: the plan's own reason if the look-up found nothing at the
 * destination. Pure.
 */
function settleTrace(found: Settlement, planned: Planned): Settlement {
  if (planned.kind === 'send') return found;
  switch (found.kind) {
    case 'nothing':
      return planned;
    case 'unplannable':
      return found === planned ? planned : { kind: 'rejected', cause: outcomeUnknown, detail: found.detail };
    case 'unsent':
      return found.object === undefined ? planned : found;
    case 'delivered':
      return { kind: 'unsent', ...('object' in found && { object: found.object }) };
    default:
      return found;
  }
}

/** If a look-up found a change with an identity that is no longer visible, sends it again without the identity. */
function unlessHidden(settlement: Settlement, change: ShownChange, terms: DecidingSink): Settlement {
  if (settlement.kind !== 'delivered' || !change.identity || ownRecords.has(change.list)) return settlement;
  if (terms.revisions !== 'latest' || !change.latest) return settlement;
  const decision = decideDelivery(change, terms);
  if (decision.kind !== 'send' || decision.identity) return settlement;
  return { kind: 'unsent', ...('object' in settlement && { object: settlement.object }) };
}

/** Delay before a look-up, because an operation may become visible at its destination only after some time. */
export const lookUpAfterMs = 60_000;
/**
 * Maximum number of deliveries settled together after a takeover if the lane delivers all its changes in order. It is
 * large enough for everything in flight.
 */
const wholeLane = 100_000;

/**
 * Returns the changes that have to be settled before the lane sends anything else: after a takeover, what the previous
 * holder left in flight; otherwise, what has to be looked up now. Look-ups after a takeover wait `lookUpAfterMs` where
 * the lane can continue with other items.
 */
export async function changesToRecover(
  ledger: Ledger,
  lease: LaneLease,
  { order, repeats, batchSize }: Sink['traits'],
  isTakenOver: boolean,
): Promise<ShownChange[]> {
  if (order === 'pigeonhole') return isTakenOver ? await inFlight(ledger, lease, wholeLane) : [];
  if (isTakenOver && repeats === 'lookUp') await postponeLookUps(ledger.db, lease, lookUpAfterMs);
  return await inFlight(ledger, lease, batchSize);
}

/**
 * Returns the changes in flight that this holder of the lane has to settle: those that an earlier holder left
 * unsettled, and those whose look-up is due.
 */
async function inFlight(ledger: Ledger, lease: LaneLease, limit: number): Promise<ShownChange[]> {
  const rows = await ledger.db.query<CandidateRow>(
    `select ${candidateColumns}, d.identity as "sentWithIdentity", d.attempts, false as "othersPassedSince",
       coalesce(d.redriven, false) as redriven, false as blocked, d.replay, r.id as "replayId",
       coalesce(r.repair, false) as repair
     from deliveries d ${openJoins}
     where ${byOrder('d', '$1', '$2')} and d.state = 'sending' and (d.due_at is null or d.due_at <= now())
     order by d.sequence, d.replay limit $3`,
    [lease.sinkId, lease.pigeonholeNumber, limit],
  );
  const judged = await toCandidates(ledger.db, lease.pigeonholeNumber, rows);
  return judged.map((candidate) => ({ ...candidate, identity: candidate.sentWithIdentity === true }));
}

/**
 * Keeps a delivery `sending` until the sink looks it up. If the lane delivers all its records in order, the lane's next
 * holder does this. Otherwise it happens after a delay, while other items continue. After the last attempt, an unknown
 * outcome becomes a dead letter. A look-up that failed does not count as an attempt.
 */
export function keepInFlight(
  change: ShownChange,
  outcome: Extract<Outcome, { kind: 'unknown' | 'retry' | 'pause' }>,
  holdsAll: boolean,
  maxAttemptsNow: number,
): Settled {
  const { identity, attempts } = change;
  const detail = storedDetail(outcome);
  if (holdsAll) return toDelivery(change, { state: 'sending', identity, detail });
  if (outcome.kind !== 'unknown') {
    const requestedMs = outcome.kind === 'retry' ? (outcome.afterMs ?? 0) : 0;
    return toDelivery(change, {
      state: 'sending',
      identity,
      detail,
      retryInMs: Math.max(requestedMs, lookUpAfterMs),
    });
  }
  const tried = { identity, detail, attempts: attempts + 1 };
  if (tried.attempts >= maxAttemptsNow) return toDelivery(change, { state: 'dead', reason: outcomeUnknown, ...tried });
  return toDelivery(change, { state: 'sending', retryInMs: lookUpAfterMs, ...tried });
}
