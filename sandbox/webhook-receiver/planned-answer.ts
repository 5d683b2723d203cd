import { z } from 'zod';

/**
 * An answer to the next matching requests, instead of accepting them with 204. Applies only to requests with a valid
 * signature and body.
 */
export const plannedAnswerSchema = z.strictObject({
  /** The number of requests to answer this way. */
  count: z.int().min(1).default(1),
  /** The status to answer with. */
  status: z.int().min(200).max(599).default(204),
  /** Closes the connection instead of answering. */
  drop: z.boolean().default(false),
  /** Whether the change counts as received. By default, it does if the answer reports success. */
  store: z.boolean().optional(),
  /** Waits between storing and answering. */
  delayMs: z.int().min(0).max(600_000).default(0),
  /** The answer's Retry-After header, verbatim. */
  retryAfter: z.string().optional(),
  /** The answer's body, for example one that is too long or not JSON. */
  body: z.string().default(''),
  /** Restricts the answer to changes of this list, and of this key. */
  list: z.string().optional(),
  key: z.string().optional(),
});

export type PlannedAnswer = z.output<typeof plannedAnswerSchema>;

/** The answers planned by tests. The first one that matches a change is used, at most `count` times. */
export class PlannedAnswers {
  #plans: PlannedAnswer[] = [];

  add(plan: PlannedAnswer): void {
    this.#plans.push(plan);
  }

  clear(): void {
    this.#plans = [];
  }

  all(): readonly PlannedAnswer[] {
    return this.#plans;
  }

  /** Uses the plan for a change once and returns it, or undefined if there is none. */
  take(change: { readonly list: string; readonly key: string }): PlannedAnswer | undefined {
    const position = this.#plans.findIndex(
      ({ list, key }) => (list ?? change.list) === change.list && (key ?? change.key) === change.key,
    );
    const plan = this.#plans[position];
    if (plan === undefined) return undefined;
    if (plan.count > 1) this.#plans[position] = { ...plan, count: plan.count - 1 };
    else this.#plans.splice(position, 1);
    return plan;
  }
}

/** Whether a change answered by this plan counts as received. */
export function isStored(plan: PlannedAnswer): boolean {
  return plan.store ?? (!plan.drop && plan.status < 300);
}
