import { z } from 'zod';
import { LIST_NAMES, RESPONSE_LISTS } from '../list-name.js';
import { EVENT_KINDS } from '../world/traffic.js';

/** A control request that cannot be carried out; the message says what to do instead. */
export class ControlError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'ControlError';
    this.status = status;
  }
}

const list = z.enum(LIST_NAMES);
const item = z.record(z.string(), z.json());

/** Bodies of the control API. */
const mutationSchema = z.strictObject({
  op: z.enum(['insert', 'patch', 'delete', 'restore']),
  list,
  pigeonhole: z.int().optional(),
  id: z.int().optional(),
  item: item.optional(),
  exact: z.boolean().optional(),
  mirror: z.boolean().optional(),
});

export const mutationsSchema = z.union([mutationSchema.transform((one) => [one]), z.array(mutationSchema)]);

export const touchSchema = z.strictObject({
  list,
  pigeonhole: z.int(),
  share: z.number().positive().max(1),
});

export const clearSchema = z.strictObject({
  pigeonhole: z.int(),
  lists: z.array(list).default([...RESPONSE_LISTS]),
});

export const eventsSchema = z.strictObject({
  count: z.int().min(1).max(1_000_000).default(1),
  kind: z.enum(EVENT_KINDS).optional(),
});

export const thawSchema = z.strictObject({ rate: z.number().positive().optional() });

export const signInSchema = z.strictObject({
  pigeonhole: z.int(),
  attendeeCode: z.string(),
});

export const keysSchema = z.strictObject({ accepted: z.array(z.string().min(1)) });

/**
 * Checks a control body.
 * @throws {ControlError} 400, naming the field
 */
export function check<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? 'the body' : `"${issue.path.join('.')}"`;
  throw new ControlError(
    400,
    `${where}: ${issue?.message ?? 'is not understood'}; see sandbox/README.md for an example`,
  );
}
