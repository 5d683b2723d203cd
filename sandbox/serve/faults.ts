import { z } from 'zod';
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

  /** Returns the number of faults that can still affect requests. */
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

/** The effects of a vendor's named faults (`locked`, `dailyLimit`…). */
export type NamedFaults = Readonly<Record<string, FaultEffect>>;

const count = z.int().min(0);

/** The JSON of `POST /_double/faults`. */
const faultSchema = z.strictObject({
  /** A name of the vendor's README. */
  fault: z.string().optional(),
  effect: z
    .discriminatedUnion('kind', [
      z.strictObject({ kind: z.enum(['dropBefore', 'dropAfter']) }),
      z.strictObject({ kind: z.literal('slow'), delayMs: count }),
      z.strictObject({
        kind: z.enum(['answer', 'answerAfter']),
        answer: z.strictObject({
          status: count,
          json: z.unknown().exactOptional(),
          text: z.string().exactOptional(),
        }),
      }),
    ])
    .optional(),
  method: z.string().exactOptional(),
  path: z.string().exactOptional(),
  bodyHas: z.string().exactOptional(),
  skip: count.exactOptional(),
  times: count.exactOptional(),
});

/**
 * Reads a fault: `{"fault": "locked", "path": "/batch/", "times": 2}` with a name of the vendor's README, or
 * `{"effect": {"kind": "slow", "delayMs": 500}}` with an effect of its own.
 * @throws {TypeError} naming the invalid fields
 */
export function readFault(json: unknown, named: NamedFaults = {}): Fault {
  const parsed = faultSchema.safeParse(json);
  if (!parsed.success) throw new TypeError(z.prettifyError(parsed.error));
  const { fault, effect, ...matching } = parsed.data;
  if (fault !== undefined) return { effect: namedEffect(fault, named), ...matching };
  if (effect !== undefined) return { effect, ...matching };
  throw new TypeError('the fault is missing; give a name in "fault", or an "effect"');
}

function namedEffect(name: string, named: NamedFaults): FaultEffect {
  if (name === 'dropBefore' || name === 'dropAfter') return { kind: name };
  const effect = Object.hasOwn(named, name) ? named[name] : undefined;
  if (effect === undefined) throw new TypeError(`no fault is called "${name}"; the double's README lists them`);
  return effect;
}
