import { z } from '@hono/zod-openapi';
import { printable } from '../base/printable.js';
import { serviceLists } from '../base/lists.js';

/**
 * Longest rehearsal. A rehearsal reads every list of one pigeonhole at the live interval, whatever the event's status
 * and the session times. The ledger stores its end, so a rehearsal survives restarts, and the reader and all views of
 * freshness use the same end. The quota lengthens the interval as it does for live lists.
 */
const longestRehearsalSeconds = 24 * 3600;

/** An operator's action on running work. */
export const actionSchema = z
  .strictObject({
    do: z
      .enum(['pause', 'resume', 'try-now', 'poll-now', 'sweep', 'approve'])
      .describe(
        '`try-now` ends every wait of a sink or a workspace: backoff, Retry-After, a used-up quota, a refused key.',
      ),
    kind: z.enum(['workspace', 'pigeonhole', 'sink']),
    name: printable(200).describe("A workspace's or a sink's name; for a pigeonhole `<workspace>/<id>`."),
    list: z.enum(serviceLists).optional().describe('For a sweep: only this list.'),
    forSeconds: z
      .int()
      .min(0)
      .max(longestRehearsalSeconds)
      .optional()
      .describe('With poll-now of a pigeonhole: read every list at the live interval for this long. 0 ends it.'),
    by: printable(200)
      .optional()
      .describe('Name of the person who acts. With a named token, the name of the token is used instead.'),
    reason: printable(500).optional().describe('Reason, which the status shows.'),
  })
  .refine((action) => action.do !== 'approve' || action.kind === 'sink', {
    error: 'only a sink can be approved',
    path: ['kind'],
  })
  .refine((action) => action.do !== 'try-now' || action.kind !== 'pigeonhole', {
    error: 'try-now ends the wait of a workspace, not of a pigeonhole: give workspace:NAME, or use poll-now',
    path: ['kind'],
  })
  .refine(
    ({ forSeconds, ...action }) =>
      forSeconds === undefined || (action.do === 'poll-now' && action.kind === 'pigeonhole'),
    {
      error: 'only poll-now of a pigeonhole accepts "forSeconds"',
      path: ['forSeconds'],
    },
  )
  // The refinements above, and a refusal of the route, as JSON Schema: the description refuses what the code refuses.
  .openapi('Action', {
    not: {
      anyOf: [
        { properties: { do: { enum: ['approve'] }, kind: { enum: ['workspace', 'pigeonhole'] } } },
        { properties: { do: { enum: ['try-now'] }, kind: { enum: ['pigeonhole'] } } },
        { properties: { do: { enum: ['poll-now', 'sweep'] }, kind: { enum: ['sink'] } } },
        {
          required: ['forSeconds'],
          properties: { do: { enum: ['pause', 'resume', 'try-now', 'sweep', 'approve'] } },
        },
        { required: ['forSeconds'], properties: { kind: { enum: ['workspace', 'sink'] } } },
      ],
    },
  });
export type Action = z.infer<typeof actionSchema>;

/** `unknown`: nothing has that name. `note`: a sentence that says why there was nothing to do. */
export type ActionResult = 'done' | 'unknown' | { readonly note: string } | { readonly refused: string };

/** The result of a test message. */
export const sinkTestSchema = z
  .object({
    delivered: z.boolean(),
    detail: z.string().nullable().describe('The response of the destination, or why there is none.'),
  })
  .openapi('SinkTest');
export type SinkTest = z.infer<typeof sinkTestSchema>;
