import { causeOf } from '../sinks/all-reasons.js';
import type { ShownChange } from './candidates.js';
import { type Settled, toDelivery } from '../ledger/deliveries.js';
import { storedDetail } from '../ledger/kept-answer.js';
import type { LaneOutcome } from '../ledger/lanes.js';
import type { Outcome } from '../sinks/sink.js';
import { keepInFlight } from './recover-batch.js';
import type { Settlement } from './send-batch.js';

/**
 * A record that fails while others pass becomes a dead letter after this number of attempts (about a day and a half).
 */
const maxAttempts = 20;
/**
 * A record that is rejected while no other record passes becomes a dead letter after this number of attempts (about an
 * hour).
 */
const maxRejections = 16;
/** If more records than this fail together and none passes, the sink is blamed and not the records. */
export const fewRecords = 10;
const minuteMs = 60_000;
/** Maximum wait between two attempts to deliver one record. */
const longestWaitMs = 4 * 60 * minuteMs;
/** Maximum wait of a rejected record: shorter than `longestWaitMs`, because it is often corrected soon. */
const longestRejectionWaitMs = 5 * minuteMs;

export interface LaneStatus {
  /** Time since the lane started to fail; 0 if it works. */
  readonly failingForMs: number;
  /**
   * True if failures in this lane are the records' fault: either the lane has few open deliveries while other lanes
   * deliver, or it has failed for days and the whole sink has few open deliveries.
   */
  readonly recordsAtFault: boolean;
  /**
   * True if the sink has accepted changes before and has few open deliveries. A rejection then counts against the
   * record that was rejected.
   */
  readonly fewLeft: boolean;
  /** True if the lane delivers all its records in order, so that a record that waits blocks all later ones. */
  readonly holdsAll: boolean;
  /** True if an operation with an unknown outcome stays `sending` until the sink has looked it up. */
  readonly needsLookUp: boolean;
  /** True if these outcomes come from a look-up. If the look-up itself failed, it is repeated. */
  readonly fromLookUp: boolean;
}

export interface BatchVerdict extends Pick<LaneOutcome, 'failing' | 'delivered'> {
  readonly settled: readonly Settled[];
  readonly pause: Extract<Outcome, { kind: 'pause' }> | null;
}

/**
 * Decides the next state of each delivery in a batch from the outcomes. Pure.
 * @param random 0 to 1, for jitter
 */
export function settleOutcomes(sent: readonly Tried[], status: LaneStatus, random: number): BatchVerdict {
  const { failingForMs, recordsAtFault, holdsAll, needsLookUp, fromLookUp } = status;
  const { atFault, waits, passed, isDoubted } = blameOf(sent, status);
  const maxAttemptsNow = failingForMs > 0 && !recordsAtFault ? Infinity : maxAttempts; // an outage creates no dead letters
  const laneWaitMs = atFault === 'sink' ? laneWait(waits, failingForMs, random) : 0;
  const usesAttempts = atFault === 'records';
  const settled = sent.map((each) => {
    const { change, outcome } = each;
    const staysInFlight =
      (needsLookUp && outcome.kind === 'unknown') ||
      (fromLookUp && (outcome.kind === 'retry' || outcome.kind === 'pause'));
    const rules = { usesAttempts, laneWaitMs, random, maxAttemptsNow, isDoubted: isDoubted(each) };
    const next = staysInFlight
      ? keepInFlight(change, outcome, holdsAll, maxAttemptsNow)
      : settle(change, outcome, rules);
    return withObjects(next, outcome);
  });
  // Every record that failed is now a dead letter, so nothing is left that keeps the lane failing.
  const areDead = usesAttempts && settled.every(({ state }) => !['retry', 'sending', 'waiting'].includes(state));
  const works = passed || areDead || (failingForMs > 0 && isOnlyHeldBack(sent));
  const stuck = atFault === 'sink' ? { detail: failureOf(waits), retryInMs: laneWaitMs } : null;
  return {
    settled,
    failing: stuck ?? (works ? null : undefined),
    pause: sent.map(({ outcome }) => outcome).find((outcome) => outcome.kind === 'pause') ?? null,
    delivered: sent.filter(({ outcome }) => outcome.kind === 'delivered').length,
  };
}

interface Blame {
  /** `sink`: the whole lane waits. `records`: each failure uses up an attempt of its record. Null: nothing has to wait. */
  readonly atFault: 'sink' | 'records' | null;
  /** The outcomes whose changes have to be sent again. */
  readonly waits: readonly (Waiting | Rejected)[];
  /** True if an outcome shows that the destination works. */
  readonly passed: boolean;
  /** Returns true if a record was rejected and the destination may be at fault. */
  readonly isDoubted: (each: Tried) => boolean;
}

/**
 * Decides whether the sink or the records are at fault for what failed in a batch. Pure. A failure counts against a
 * record only if other records passed (in the same batch, earlier, or on other lanes), or if the lane has failed for
 * days and the sink has few open deliveries. If nothing in the batch passed, but it has at most `fewRecords` records
 * and all are at fault, the lane continues with other records.
 *
 * A rejection is judged in the same way (decision 0078). If another record passed in the same batch, or has passed
 * since the first rejection, the rejected record becomes a dead letter. Otherwise the destination may reject
 * everything, so the record is tried again. A redriven record was already a dead letter and becomes one again, which says
 * nothing about the destination.
 */
function blameOf(sent: readonly Tried[], { recordsAtFault, fewLeft, holdsAll, fromLookUp }: LaneStatus): Blame {
  const tried = sent.filter(({ outcome }) => showsSinkState(outcome));
  const isAnyDelivered = tried.some(({ outcome }) => outcome.kind === 'delivered');
  const rejectionBlamesRecord = recordsAtFault || holdsAll || fromLookUp;
  const isDoubted = (each: Tried): boolean =>
    each.outcome.kind === 'rejected' &&
    !isAboutTheRecord(each.outcome) &&
    !(isAnyDelivered || rejectionBlamesRecord || each.change.othersPassedSince) &&
    !isRefusedAgain(each);
  const passed = isAnyDelivered || (rejectionBlamesRecord && tried.some(({ outcome }) => outcome.kind === 'rejected'));
  const waits = tried.flatMap((each) =>
    isWaiting(each.outcome) || (each.outcome.kind === 'rejected' && isDoubted(each)) ? [each.outcome] : [],
  );
  if (waits.length === 0) return { atFault: null, waits, passed, isDoubted };
  const isRecordsFault = (each: Tried): boolean =>
    each.change.othersPassedSince || isRefusedAgain(each) || (isDoubted(each) ? fewLeft : each.change.attempts > 0);
  const failureBlamesRecords = tried.length <= fewRecords && (recordsAtFault || tried.every(isRecordsFault));
  const isPaused = sent.some(({ outcome }) => outcome.kind === 'pause');
  const isSinksFault = holdsAll || (!passed && (!failureBlamesRecords || isPaused));
  return { atFault: isSinksFault ? 'sink' : 'records', waits, passed, isDoubted };
}

/**
 * Returns true if the sink held back records because the destination refuses their kind but accepts others (`unsent`
 * with a detail), and no outcome of the batch shows the sink's state. The sink then counts as working although nothing
 * was delivered. Otherwise, after an earlier failure, the lane would stay marked as failing and its batches would stay
 * small.
 */
export function isOnlyHeldBack(sent: readonly { readonly outcome: Settlement }[]): boolean {
  return (
    sent.some(({ outcome }) => outcome.kind === 'unsent' && outcome.detail !== undefined) &&
    !sent.some(({ outcome }) => showsSinkState(outcome))
  );
}

/** A change and the outcome of sending it. */
export interface Tried {
  readonly change: ShownChange;
  readonly outcome: Settlement;
}

type Rejected = Extract<Outcome, { kind: 'rejected' }>;
type Waiting = Extract<Outcome, { kind: 'retry' | 'unknown' | 'pause' }>;

/** Returns false if nothing was sent or only the record is at fault: such outcomes do not show the sink's state. */
function showsSinkState(outcome: Settlement): boolean {
  if (outcome.kind === 'rejected') return !isAboutTheRecord(outcome);
  return !['unsent', 'nothing', 'unplannable'].includes(outcome.kind);
}

/**
 * Returns true if only the record is at fault, or if its operation may have reached the destination. Such an operation
 * is never sent again without an operator's decision.
 */
function isAboutTheRecord({ about, cause }: Rejected): boolean {
  return about === 'record' || causeOf(cause)?.outcomeUnknown === true;
}

/** Returns true if a dead letter was sent again and rejected again. */
function isRefusedAgain({ change, outcome }: Tried): boolean {
  return change.redriven && outcome.kind === 'rejected';
}

function isWaiting(outcome: Settlement): outcome is Waiting {
  return outcome.kind === 'retry' || outcome.kind === 'unknown' || outcome.kind === 'pause';
}

/**
 * Returns the reason for the lane's failure. Prefers failures other than rejections, because they are certainly the
 * sink's fault.
 */
function failureOf(waits: readonly (Waiting | Rejected)[]): string {
  const first = waits.find(({ kind }) => kind !== 'rejected') ?? waits[0]!;
  return first.kind === 'rejected' ? `${first.detail}; every change is refused` : first.detail;
}

/**
 * Returns the longer of two waits: the one that the destination requested, and half the time for which the lane has
 * failed (from 1 s to 5 min, with jitter).
 */
function laneWait(waits: readonly Settlement[], failingForMs: number, random: number): number {
  const requestedMs = Math.max(0, ...waits.map((outcome) => (outcome.kind === 'retry' ? (outcome.afterMs ?? 0) : 0)));
  const ownMs = Math.min(Math.max(1000, failingForMs / 2), 5 * minuteMs) * (0.75 + random / 2);
  return Math.ceil(Math.max(requestedMs, ownMs));
}

interface SettleRules {
  /** True if failures count against their records. */
  readonly usesAttempts: boolean;
  /** The wait of the whole lane. */
  readonly laneWaitMs: number;
  readonly random: number;
  /** Attempts after which a record becomes a dead letter. */
  readonly maxAttemptsNow: number;
  /** True if the record was rejected and the destination may be at fault. */
  readonly isDoubted: boolean;
}

/** Adds the objects that the outcome contains for the item and its siblings, if any. */
function withObjects(settled: Settled, outcome: Settlement): Settled {
  if (!('object' in outcome) || outcome.object === undefined) return settled;
  const { list, key } = settled;
  const siblings = Object.entries(outcome.siblings ?? {}).map(([sibling, value]) => ({ list, key: sibling, value }));
  return { ...settled, objects: [...siblings, { list, key, value: outcome.object }] };
}

function settle(
  change: ShownChange,
  outcome: Settlement,
  { usesAttempts, laneWaitMs, random, maxAttemptsNow, isDoubted }: SettleRules,
): Settled {
  const { identity, attempts } = change;
  switch (outcome.kind) {
    case 'delivered':
      return toDelivery(change, {
        state: 'delivered',
        identity,
        detail: outcome.detail ?? null,
        attempts: attempts + 1,
      });
    case 'nothing':
      return toDelivery(change, { state: 'withheld', identity, reason: outcome.reason });
    case 'unplannable': {
      const { cause: reason, detail } = outcome;
      return toDelivery(change, { state: 'dead', identity, reason, detail, attempts: attempts + 1 });
    }
    case 'rejected':
    case 'retry':
    case 'unknown': {
      const detail = storedDetail(outcome);
      const isRejected = outcome.kind === 'rejected';
      const used = usesAttempts ? attempts + 1 : attempts;
      if (isRejected && (!isDoubted || (usesAttempts && used >= maxRejections))) {
        return toDelivery(change, { state: 'dead', identity, reason: outcome.cause, detail, attempts: attempts + 1 });
      }
      if (!isRejected && used >= maxAttemptsNow) {
        return toDelivery(change, { state: 'dead', identity, reason: 'attempts-exhausted', detail, attempts: used });
      }
      const requestedMs = outcome.kind === 'retry' ? (outcome.afterMs ?? 0) : 0;
      const longestMs = isRejected ? longestRejectionWaitMs : longestWaitMs;
      const ownMs = usesAttempts ? Math.min(5000 * 2 ** used, longestMs) * (0.75 + random / 2) : laneWaitMs;
      const retryInMs = Math.ceil(Math.max(requestedMs, ownMs));
      return toDelivery(change, { state: 'retry', identity, detail, attempts: used, retryInMs });
    }
    case 'unsent':
      return toDelivery(change, {
        state: 'waiting',
        identity,
        detail: outcome.detail ?? null,
        retryInMs: outcome.afterMs ?? null,
      });
    case 'pause':
      return toDelivery(change, { state: 'waiting', identity });
  }
}
