import type { Candidate } from './candidates.js';
import { outcomeUnknown } from '../ledger/dead-letters.js';
import type { Settled } from './finish-batch.js';
import type { Outcome } from '../sinks/sink.js';
import type { Settlement } from './plan-and-send.js';

/** A record that fails while others pass is tried this often (about two days), then parked. */
const mostAttempts = 20;
/** A record that is refused while there are no others that could pass is tried this often (about an hour), then parked. */
const maxRefusals = 16;
/** More records than this that fail together, with none that passes, are rather the sink's fault than theirs. */
export const fewRecords = 10;
/** When so little is left at a sink that fails for so long, it is taken for the fault of what is left (decision 0078). */
export const loneAfterMs = 3 * 24 * 60 * 60_000;
const minuteMs = 60_000;
/** An operation may show at its destination only some time after it was sent. */
export const lookUpAfterMs = minuteMs;
const longestWaitMs = 4 * 60 * minuteMs;
/** Shorter than for other failures: a refused record is often corrected, and its correction must not wait long. */
const longestRefusalWaitMs = 5 * minuteMs;

export interface LaneStanding {
  readonly failingForMs: number;
  /** Others pass on the sink's other lanes, or (`loneAfterMs`) there has been nothing else that could. */
  readonly failsAlone: boolean;
  /** The sink has accepted changes before, and almost nothing is left there that could pass. */
  readonly fewLeft: boolean;
  readonly holdsAll: boolean;
  readonly lookUp: boolean;
  readonly lookedUp: boolean;
}

export interface BatchVerdict {
  readonly settled: readonly Settled[];
  /** Nothing passes: a sentence, and when the lane may try again. Null: it does. Undefined: nothing says either. */
  readonly failing: { readonly detail: string; readonly retryInMs: number } | null | undefined;
  readonly pause: Extract<Outcome, { kind: 'pause' }> | null;
  /** Replays included. */
  readonly delivered: number;
}

/**
 * What the outcomes of a batch mean for its deliveries. Pure. A failure counts against a record only when others
 * passed beside it, or have before, or pass on other lanes: when nothing passes it is the sink that fails, and no record
 * uses up its attempts.
 * A few that failed while others passed go on failing on their own account, and hold nobody back, also when nothing
 * else is left (promises: nothing stops for one, and no backlog is lost to an outage).
 *
 * A refusal is judged in the same way (decision 0078). It parks its record if another record passed beside it or has
 * passed since it was first refused. Otherwise the destination may refuse everything: the record is tried again.
 * @param failingForMs since when nothing has passed on this lane; 0 when something had
 * @param failsAlone the sink takes what comes from elsewhere, so that a few records here fail on their own account
 * @param fewLeft so that a refusal counts against its record although nothing passes
 * @param holdsAll the lane is one line: a record that has to wait makes all behind it wait
 * @param lookUp what may or may not have been sent stays in flight, until the sink has said what became of it
 * @param lookedUp these are answers to that question: one that the destination did not let the sink find is asked again
 * @param random 0 to 1, for jitter
 */
export function settleOutcomes(
  sent: readonly { readonly candidate: Candidate; readonly outcome: Settlement }[],
  { failingForMs, failsAlone, fewLeft, holdsAll, lookUp, lookedUp }: LaneStanding,
  random: number,
): BatchVerdict {
  const tried = sent.filter(({ outcome }) => saysSomethingOfTheSink(outcome));
  const isAnyDelivered = tried.some(({ outcome }) => outcome.kind === 'delivered');
  const isJudged = failsAlone || holdsAll || lookedUp; // a refusal here is certainly the record's
  const isDoubted = ({ candidate, outcome }: Tried): boolean =>
    outcome.kind === 'rejected' && !isAboutTheRecord(outcome) && !(isAnyDelivered || isJudged || candidate.failedAlone);
  const passed = isAnyDelivered || (isJudged && tried.some(({ outcome }) => outcome.kind === 'rejected'));
  const pause = sent.map(({ outcome }) => outcome).find((outcome) => outcome.kind === 'pause') ?? null;
  const waits = tried.flatMap((each) =>
    isWaiting(each.outcome) || (each.outcome.kind === 'rejected' && isDoubted(each)) ? [each.outcome] : [],
  );
  const onTheirOwn =
    tried.length <= fewRecords &&
    (failsAlone ||
      tried.every((each) => {
        const { attempts, failedAlone } = each.candidate;
        return failedAlone || (isDoubted(each) ? fewLeft : attempts > 0);
      }));
  const stuck = waits.length > 0 && (holdsAll || (!passed && (!onTheirOwn || pause !== null)));
  const counts = waits.length > 0 && !stuck;
  const most = failingForMs > 0 && !failsAlone ? Infinity : mostAttempts; // while nothing else passes nothing is parked
  const laneWaitMs = stuck ? laneWait(waits, failingForMs, random) : 0;
  const settled = sent.map((each) => {
    const { candidate, outcome } = each;
    if (
      (lookUp && outcome.kind === 'unknown') ||
      (lookedUp && (outcome.kind === 'retry' || outcome.kind === 'pause'))
    ) {
      return withObject(inFlight(candidate, outcome, holdsAll, most), candidate, outcome);
    }
    const rules = { counts, laneWaitMs, random, most, isDoubted: isDoubted(each) };
    return withObject(settle(candidate, outcome, rules), candidate, outcome);
  });
  // What kept the lane failing is parked: nothing is left that fails.
  const areParked = counts && settled.every(({ state }) => !['retry', 'sending', 'waiting'].includes(state));
  const isBack = failingForMs > 0 && isOnlyHeldBack(sent);
  return {
    settled,
    failing: stuck
      ? { detail: failureOf(waits), retryInMs: laneWaitMs }
      : passed || areParked || isBack
        ? null
        : undefined,
    pause,
    delivered: sent.filter(({ outcome }) => outcome.kind === 'delivered').length,
  };
}

/**
 * Says whether the destination answered only that it refuses this kind of record. Then the sink does not fail, although
 * nothing was delivered: a failure that ended with these answers must not keep its reason and its small batches.
 */
export function isOnlyHeldBack(sent: readonly { readonly outcome: Settlement }[]): boolean {
  return (
    sent.some(({ outcome }) => outcome.kind === 'unsent' && outcome.detail !== undefined) &&
    !sent.some(({ outcome }) => saysSomethingOfTheSink(outcome))
  );
}

interface Tried {
  readonly candidate: Candidate;
  readonly outcome: Settlement;
}

type Refused = Extract<Outcome, { kind: 'rejected' }>;
type Waiting = Extract<Outcome, { kind: 'retry' | 'unknown' | 'pause' }>;

/** Nothing was sent, or the sink knows that the record alone is at fault: says nothing of the destination. */
function saysSomethingOfTheSink(outcome: Settlement): boolean {
  if (outcome.kind === 'rejected') return !isAboutTheRecord(outcome);
  return !['unsent', 'nothing', 'unplannable'].includes(outcome.kind);
}

/** What may have arrived is never sent again without a person's word, whatever becomes of others. */
function isAboutTheRecord({ about, cause }: Refused): boolean {
  return about === 'record' || cause === outcomeUnknown;
}

function isWaiting(outcome: Settlement): outcome is Waiting {
  return outcome.kind === 'retry' || outcome.kind === 'unknown' || outcome.kind === 'pause';
}

/** Returns a sentence for the problem. A failure that is no refusal comes first: it is certainly the sink's. */
function failureOf(waits: readonly (Waiting | Refused)[]): string {
  const first = waits.find(({ kind }) => kind !== 'rejected') ?? waits[0]!;
  return first.kind === 'rejected' ? `${first.detail}; every change is refused` : first.detail;
}

/** As long as the destination said, else half as long again as it has failed by now: a second, up to five minutes. */
function laneWait(waits: readonly Settlement[], failingForMs: number, random: number): number {
  const asked = Math.max(0, ...waits.map((outcome) => (outcome.kind === 'retry' ? (outcome.afterMs ?? 0) : 0)));
  const own = Math.min(Math.max(1000, failingForMs / 2), 5 * minuteMs) * (0.75 + random / 2);
  return Math.ceil(Math.max(asked, own));
}

/**
 * To be looked up: by whoever takes the lane next, where the lane is one line; else when its time has come, while
 * other items go on. What no look-up finds out is a matter for a person in the end. A look-up that could not be made
 * is none.
 */
function inFlight(
  { sequence, replay, attempts }: Candidate,
  outcome: Extract<Outcome, { kind: 'unknown' | 'retry' | 'pause' }>,
  holdsAll: boolean,
  most: number,
): Settled {
  const row = { sequence, replay, reason: null, detail: outcome.detail, attempts, retryInMs: null };
  if (holdsAll) return { ...row, state: 'sending' };
  if (outcome.kind !== 'unknown') {
    const askedMs = outcome.kind === 'retry' ? (outcome.afterMs ?? 0) : 0;
    return { ...row, state: 'sending', retryInMs: Math.max(askedMs, lookUpAfterMs) };
  }
  if (attempts + 1 >= most) return { ...row, state: 'dead', reason: outcomeUnknown, attempts: attempts + 1 };
  return { ...row, state: 'sending', attempts: attempts + 1, retryInMs: lookUpAfterMs };
}

interface SettleRules {
  /** Failures count against their records. */
  readonly counts: boolean;
  /** How long the lane waits. */
  readonly laneWaitMs: number;
  readonly random: number;
  /** Attempts after which a record is parked. */
  readonly most: number;
  /** Nothing tells whether the record or the destination is at fault. */
  readonly isDoubted: boolean;
}

/** Adds what the sink has created for the item, where the outcome says. */
function withObject(settled: Settled, { list, key }: Candidate, outcome: Settlement): Settled {
  if (!('object' in outcome) || outcome.object === undefined) return settled;
  return { ...settled, object: { list, key, value: outcome.object } };
}

function settle(
  { sequence, replay, attempts }: Candidate,
  outcome: Settlement,
  { counts, laneWaitMs, random, most, isDoubted }: SettleRules,
): Settled {
  const row = { sequence, replay, reason: null, detail: null, attempts, retryInMs: null };
  switch (outcome.kind) {
    case 'delivered':
      return { ...row, state: 'delivered', detail: outcome.detail ?? null, attempts: attempts + 1 };
    case 'nothing':
      return { ...row, state: 'withheld', reason: outcome.reason };
    case 'rejected': {
      const { cause: reason, detail } = outcome;
      const used = counts ? attempts + 1 : attempts;
      if (!isDoubted || (counts && used >= maxRefusals))
        return { ...row, state: 'dead', reason, detail, attempts: attempts + 1 };
      const own = Math.min(5000 * 2 ** used, longestRefusalWaitMs) * (0.75 + random / 2);
      return { ...row, state: 'retry', detail, attempts: used, retryInMs: Math.ceil(counts ? own : laneWaitMs) };
    }
    case 'unplannable':
      return { ...row, state: 'dead', reason: outcome.cause, detail: outcome.detail, attempts: attempts + 1 };
    case 'retry':
    case 'unknown': {
      const used = counts ? attempts + 1 : attempts;
      if (used >= most) {
        return { ...row, state: 'dead', reason: 'attempts-exhausted', detail: outcome.detail, attempts: used };
      }
      const asked = outcome.kind === 'retry' ? (outcome.afterMs ?? 0) : 0;
      const own = counts ? Math.min(5000 * 2 ** used, longestWaitMs) * (0.75 + random / 2) : laneWaitMs;
      return {
        ...row,
        state: 'retry',
        detail: outcome.detail,
        attempts: used,
        retryInMs: Math.ceil(Math.max(asked, own)),
      };
    }
    case 'unsent':
      return { ...row, state: 'waiting', detail: outcome.detail ?? null, retryInMs: outcome.afterMs ?? null };
    case 'pause':
      return { ...row, state: 'waiting' };
  }
}
