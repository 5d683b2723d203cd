import type { ProblemFacts } from '../problem-traits.js';
import type { AlertRow, NewAlertMessage } from './alert-store.js';

/** State of one alert, as the ledger stores it. */
export type AlertState = Pick<AlertRow, 'holds' | 'since' | 'announced' | 'raises'>;

/** Result of a check. `unknown`: because of another problem, the check cannot tell whether the condition holds. */
export type Found = 'holds' | 'over' | 'unknown';

interface Judgement {
  /** State to store; null: none. */
  readonly state: AlertState | null;
  readonly tell: 'raised' | 'recovered' | null;
}

/** In milliseconds. */
export interface RecoveryDelays {
  /** Time for which the condition must be over before the first recovery message. */
  readonly firstMs: number;
  /** Each time it returns, the quiet time doubles, up to this. */
  readonly longestMs: number;
  /** After this quiet time the alert is forgotten. */
  readonly forgetMs: number;
}

export const defaultRecoveryDelays: RecoveryDelays = {
  firstMs: 15_000,
  longestMs: 60 * 60_000,
  forgetMs: 2 * 60 * 60_000,
};

/**
 * Decides which message an alert needs and which state is stored. Pure.
 *
 * An alert is raised immediately. Its recovery is reported after a quiet time: 15 s the first time, twice as long each
 * time that it returns, 1 h at most. A condition that changes all day is reported about ten times.
 *
 * States:
 * - *none* → *raised*: the condition holds; a message is sent.
 * - *raised* ⇄ *quiet*: the condition no longer holds, or holds again; no message is sent.
 * - *quiet* → *recovered*: the quiet time has passed; a recovery message is sent.
 * - *recovered* → *raised*: the condition holds again; a message is sent, and the quiet time doubles.
 * - *recovered* → *none*: the condition has not held for two hours.
 */
export function judgeAlert(
  stored: AlertState | null,
  found: Found,
  now: Date,
  delays: RecoveryDelays = defaultRecoveryDelays,
): Judgement {
  // If the clock was set back, the quiet time counts from now.
  const before = stored !== null && stored.since > now ? { ...stored, since: now } : stored;
  if (found === 'unknown') return { state: before, tell: null };
  if (found === 'holds') {
    if (before === null) return { state: { holds: true, since: now, announced: true, raises: 1 }, tell: 'raised' };
    const state = { ...before, holds: true, since: before.holds ? before.since : now };
    if (before.announced) return { state, tell: null };
    return { state: { ...state, announced: true, raises: before.raises + 1 }, tell: 'raised' };
  }
  if (before === null) return { state: null, tell: null };
  if (before.holds) return { state: { ...before, holds: false, since: now }, tell: null };
  const quietMs = now.getTime() - before.since.getTime();
  if (before.announced) {
    const isOver = quietMs >= recoveryDelayMs(before.raises, delays);
    return isOver ? { state: { ...before, announced: false }, tell: 'recovered' } : { state: before, tell: null };
  }
  return { state: quietMs >= delays.forgetMs ? null : before, tell: null };
}

/**
 * Returns the state to store if a message is postponed. With this state, the next check finds the same message again,
 * unless the condition is over by then. Pure.
 * @returns null: nothing was stored before, and nothing is stored now
 */
export function postponedState(before: AlertState | null, { state, tell }: Judgement): AlertState | null {
  if (tell !== 'raised' || state === null) return before;
  return { ...state, announced: false, raises: state.raises - 1 };
}

/** @param raises from 1 */
function recoveryDelayMs(raises: number, { firstMs, longestMs }: RecoveryDelays): number {
  return Math.min(longestMs, firstMs * 2 ** Math.min(raises - 1, 30));
}

/** Rate limit for messages of one code and kind: burst size and refill interval. */
export interface RateLimit {
  readonly burst: number;
  readonly everyMs: number;
}

/** Single sinks are reported immediately, by name. A storm of an hour produces a dozen messages. */
export const defaultRateLimit: RateLimit = { burst: 3, everyMs: 5 * 60_000 };

/** A message that is due, with the state to store once it is written. */
export interface PendingMessage {
  readonly row: AlertRow;
  readonly message: NewAlertMessage;
  /** State to store if the message is postponed; undefined: the state does not change. */
  readonly rowIfLater: AlertRow | undefined;
}

/**
 * The instant at which a full burst is available again, by `rateLimitKey`; absent: now. The rate limit needs no other
 * state (generic cell rate algorithm, GCRA).
 */
export type RateLimitStates = ReadonlyMap<string, Date>;

interface LimitedMessages {
  readonly rows: readonly AlertRow[];
  readonly messages: readonly NewAlertMessage[];
  /** Rate limits that have changed. */
  readonly paces: RateLimitStates;
}

/** Returns the key under which a rate limit is stored. */
function rateLimitKey({ code, kind }: Pick<NewAlertMessage, 'code' | 'kind'>): string {
  return `${code} ${kind}`;
}

/**
 * Limits the messages of one code and kind. Messages above the limit become one message with counts; if the limit
 * allows none, they wait for a later check, which merges them with newer ones. Pure.
 */
export function limitMessages(
  pending: readonly PendingMessage[],
  paces: RateLimitStates,
  at: Date,
  pace: RateLimit,
): LimitedMessages {
  const rows: AlertRow[] = [];
  const messages: NewAlertMessage[] = [];
  const spent = new Map<string, Date>();
  for (const key of new Set(pending.map(({ message }) => rateLimitKey(message)))) {
    const group = pending.filter(({ message }) => rateLimitKey(message) === key);
    // No limit lasts longer than the refill of a full burst, except after the clock was set back.
    const latestMs = at.getTime() + pace.burst * pace.everyMs;
    const fullAtMs = Math.min(Math.max(paces.get(key)?.getTime() ?? 0, at.getTime()), latestMs);
    const allowed = pace.burst - Math.ceil((fullAtMs - at.getTime()) / pace.everyMs);
    if (allowed <= 0) {
      rows.push(...group.flatMap(({ rowIfLater }) => rowIfLater ?? []));
      continue;
    }
    const own = group.map(({ message }) => message);
    const announced = own.length <= allowed ? own : [gatherMessages(own)];
    rows.push(...group.map(({ row }) => row));
    messages.push(...announced);
    spent.set(key, new Date(fullAtMs + announced.length * pace.everyMs));
  }
  return { rows, messages, paces: spent };
}

/**
 * Merges messages of one code and kind. Counts are added up, the earliest instant is kept, and any other fact is
 * kept if all messages agree on it. Pure.
 */
export function gatherMessages(messages: readonly NewAlertMessage[]): NewAlertMessage {
  const [first] = messages;
  if (first === undefined) throw new Error('no messages to merge');
  return {
    code: first.code,
    subjects: messages.flatMap(({ subjects }) => subjects),
    kind: first.kind,
    since: new Date(Math.min(...messages.map(({ since }) => since.getTime()))),
    facts: gatherFacts(messages.map(({ facts }) => facts)),
  };
}

function gatherFacts(all: readonly ProblemFacts[]): ProblemFacts {
  const names = new Set(all.flatMap((facts) => Object.keys(facts)));
  return Object.fromEntries([...names].map((name) => [name, gatherFact(name, all)]));
}

function gatherFact(name: string, all: readonly ProblemFacts[]): string | number | null {
  const values = all.map((facts) => facts[name] ?? null);
  const known = values.filter((value) => value !== null);
  const numbers = known.filter((value) => typeof value === 'number');
  if (numbers.length > 0) return numbers.reduce((sum, n) => sum + n, 0);
  // ISO 8601 in UTC sorts as text
  if (name.endsWith('At')) return known.map(String).toSorted()[0] ?? null;
  return values.every((value) => value === values[0]) ? values[0]! : null;
}
