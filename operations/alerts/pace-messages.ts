import type { AlertRow, NewAlertMessage, AlertFacts } from './alert-store.js';

/** Rate limit for messages of one occasion and kind: burst size and refill interval. */
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

export interface LimitedMessages {
  readonly rows: readonly AlertRow[];
  readonly messages: readonly NewAlertMessage[];
  /** Rate limits that have changed. */
  readonly paces: RateLimitStates;
}

/** Returns the key under which a rate limit is stored. */
export function rateLimitKey({ occasion, kind }: Pick<NewAlertMessage, 'occasion' | 'kind'>): string {
  return `${occasion} ${kind}`;
}

/**
 * Limits the messages of one occasion and kind. Messages above the limit become one message with counts; if the limit
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
    const fullAtMs = Math.max(paces.get(key)?.getTime() ?? 0, at.getTime());
    const allowed = pace.burst - Math.ceil((fullAtMs - at.getTime()) / pace.everyMs);
    if (allowed <= 0) {
      rows.push(...group.flatMap(({ rowIfLater }) => rowIfLater ?? []));
      continue;
    }
    const own = group.map(({ message }) => message);
    const told = own.length <= allowed ? own : [gatherMessages(own)];
    rows.push(...group.map(({ row }) => row));
    messages.push(...told);
    spent.set(key, new Date(fullAtMs + told.length * pace.everyMs));
  }
  return { rows, messages, paces: spent };
}

/**
 * Merges messages of one occasion and kind. Counts are added up, the earliest instant is kept, and any other fact is kept
 * if all messages agree on it. Pure.
 */
export function gatherMessages(messages: readonly NewAlertMessage[]): NewAlertMessage {
  const [first] = messages;
  if (first === undefined) throw new Error('no messages to merge');
  return {
    occasion: first.occasion,
    subjects: messages.flatMap(({ subjects }) => subjects),
    kind: first.kind,
    since: new Date(Math.min(...messages.map(({ since }) => since.getTime()))),
    facts: gatherFacts(messages.map(({ facts }) => facts)),
  };
}

function gatherFacts(all: readonly AlertFacts[]): AlertFacts {
  const names = new Set(all.flatMap((facts) => Object.keys(facts)));
  return Object.fromEntries([...names].map((name) => [name, gatherFact(name, all)]));
}

function gatherFact(name: string, all: readonly AlertFacts[]): string | number | null {
  const values = all.map((facts) => facts[name] ?? null);
  const known = values.filter((value) => value !== null);
  const numbers = known.filter((value) => typeof value === 'number');
  if (numbers.length > 0) return numbers.reduce((sum, n) => sum + n, 0);
  // ISO 8601 in UTC sorts as text
  if (name.endsWith('At')) return known.map(String).toSorted()[0] ?? null;
  return values.every((value) => value === values[0]) ? values[0]! : null;
}
