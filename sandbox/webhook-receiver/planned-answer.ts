import { z } from 'zod';

/**
 * How the receiver treats the next requests that match, instead of taking them with 204. Only requests with a good
 * signature and body are counted.
 */
export const plannedAnswerSchema = z.strictObject({
  /** For how many requests. */
  count: z.int().min(1).default(1),
  /** The status to answer with. */
  status: z.int().min(200).max(599).default(204),
  /** Cuts the connection instead of answering. */
  drop: z.boolean().default(false),
  /** Whether the change counts as received; by default only where the answer says so. */
  store: z.boolean().optional(),
  /** Waits between storing and answering. */
  delayMs: z.int().min(0).max(600_000).default(0),
  /** The answer's Retry-After, as it stands here. */
  retryAfter: z.string().optional(),
  /** The answer's body, for instance one that is too long or no JSON. */
  body: z.string().default(''),
  /** Only changes of this list, and of this key. */
  list: z.string().optional(),
  key: z.string().optional(),
});

export type PlannedAnswer = z.output<typeof plannedAnswerSchema>;

/** The answers planned by tests; the first that matches a change is used, as often as its count says. */
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

  /** The plan for a change, which is thereby used once; undefined when it is taken as usual. */
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

/** Whether a change that is answered by this plan counts as received. */
export function isStored(plan: PlannedAnswer): boolean {
  return plan.store ?? (!plan.drop && plan.status < 300);
}
