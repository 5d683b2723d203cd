import type { DoubleAnswer, DoubleRequest } from './double-request.js';

/**
 * The effect of a fault on a request.
 * - `answer` the vendor refuses with this answer and changes nothing
 * - `answerAfter` the effect happens, but this answer replaces the real one (a gateway's 502)
 * - `dropBefore` the connection closes before the effect
 * - `dropAfter` the connection closes after the effect, before the answer
 * - `slow` the effect happens immediately, and the usual answer follows `delayMs` later
 */
export type FaultEffect =
  | { readonly kind: 'answer'; readonly answer: DoubleAnswer }
  | { readonly kind: 'answerAfter'; readonly answer: DoubleAnswer }
  | { readonly kind: 'dropBefore' }
  | { readonly kind: 'dropAfter' }
  | { readonly kind: 'slow'; readonly delayMs: number };

/** A fault and the requests that it affects. Deterministic: it counts matching requests and uses no randomness. */
export interface Fault {
  /**
   * A function chooses the effect for each request. If it returns undefined, the request is unaffected and not counted.
   */
  readonly effect: FaultEffect | ((request: FaultyRequest) => FaultEffect | undefined);
  /** Any method by default. */
  readonly method?: string;
  /** Substring of the path; any path by default. */
  readonly path?: string;
  /** Substring of the body; any body by default. */
  readonly bodyHas?: string;
  /** Number of matching requests that pass before the fault takes effect; 0 by default. */
  readonly skip?: number;
  /** Number of matching requests affected after those; by default 1, or all if `effect` is a function. */
  readonly times?: number;
}

type FaultyRequest = Pick<DoubleRequest, 'method' | 'path' | 'body'>;

/**
 * Faults of one double, in the order in which they were added. The first fault that still applies to a request is used.
 */
export class FaultPlan {
  private planned: { readonly fault: Fault; seen: number }[] = [];

  add(...faults: readonly Fault[]): void {
    this.planned.push(...faults.map((fault) => ({ fault, seen: 0 })));
  }

  clear(): void {
    this.planned = [];
  }

  /** Returns the faults that can still affect requests. */
  get waiting(): number {
    return this.planned.filter(({ fault, seen }) => seen < lastOf(fault)).length;
  }

  /** Returns the effect on this request and counts it as used; `undefined` if no fault applies. */
  take(request: FaultyRequest): FaultEffect | undefined {
    for (const planned of this.planned) {
      const { fault, seen } = planned;
      if (!matches(fault, request) || seen >= lastOf(fault)) continue;
      const effect = typeof fault.effect === 'function' ? fault.effect(request) : fault.effect;
      if (effect === undefined) continue;
      planned.seen += 1;
      if (planned.seen > (fault.skip ?? 0)) return effect;
    }
    return undefined;
  }
}

/** Returns the number of the last matching request that the fault affects. */
function lastOf({ effect, skip = 0, times }: Fault): number {
  return skip + (times ?? (typeof effect === 'function' ? Number.POSITIVE_INFINITY : 1));
}

function matches(fault: Fault, request: FaultyRequest): boolean {
  return (
    (fault.method === undefined || fault.method === request.method) &&
    (fault.path === undefined || request.path.includes(fault.path)) &&
    (fault.bodyHas === undefined || request.body.includes(fault.bodyHas))
  );
}

/** Builds the effect of a vendor's named fault (`locked`, `dailyLimit`…); `undefined` for a name it does not know. */
export type NamedFaults = (name: string) => FaultEffect | undefined;

/**
 * A fault from the JSON of `POST /_double/faults`: `{"fault": "locked", "path": "/batch/", "times": 2}` with a name of
 * the vendor's README, or `{"effect": {"kind": "slow", "delayMs": 500}}` with an effect of its own.
 * @throws {TypeError} naming the invalid field
 */
export function readFault(json: unknown, named: NamedFaults): Fault {
  if (typeof json !== 'object' || json === null) throw new TypeError('a fault is a JSON object');
  const { fault, effect, method, path, bodyHas, skip, times } = json as Record<string, unknown>;
  return {
    effect: typeof fault === 'string' ? namedEffect(fault, named) : ownEffect(effect),
    ...(method !== undefined && { method: text('method', method) }),
    ...(path !== undefined && { path: text('path', path) }),
    ...(bodyHas !== undefined && { bodyHas: text('bodyHas', bodyHas) }),
    ...(skip !== undefined && { skip: count('skip', skip) }),
    ...(times !== undefined && { times: count('times', times) }),
  };
}

function namedEffect(name: string, named: NamedFaults): FaultEffect {
  if (name === 'dropBefore' || name === 'dropAfter') return { kind: name };
  const effect = named(name);
  if (effect === undefined) throw new TypeError(`no fault is called "${name}"; the double's README lists them`);
  return effect;
}

function ownEffect(effect: unknown): FaultEffect {
  const kind = (effect as { kind?: unknown } | undefined)?.kind;
  if (kind === 'dropBefore' || kind === 'dropAfter') return { kind };
  if (kind === 'slow') return { kind, delayMs: count('effect.delayMs', (effect as { delayMs?: unknown }).delayMs) };
  if (kind === 'answer' || kind === 'answerAfter') {
    const { answer } = effect as { answer?: { status?: unknown; json?: unknown; text?: unknown } };
    return {
      kind,
      answer: {
        status: count('effect.answer.status', answer?.status),
        ...(answer?.json !== undefined && { json: answer.json }),
        ...(answer?.text !== undefined && { text: text('effect.answer.text', answer.text) }),
      },
    };
  }
  throw new TypeError('a fault has a name in "fault", or an "effect" with a known "kind"');
}

function text(field: string, value: unknown): string {
  if (typeof value !== 'string') throw new TypeError(`"${field}" of a fault is a string`);
  return value;
}

function count(field: string, value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new TypeError(`"${field}" of a fault is a whole number of 0 or more`);
  }
  return value;
}
