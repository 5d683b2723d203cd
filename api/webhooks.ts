import { z } from '@hono/zod-openapi';
import type { OpenAPIHono } from '@hono/zod-openapi';
import { listNames } from '../base/lists.js';
import { problemCodes } from '../operations/problems.js';
import type { ApiEnvironment } from './api-app.js';

/**
 * The requests that pigeonpost sends, described for the programs that receive them: changes, by a sink of type `webhook`,
 * and alerts. The descriptions of a change's fields are those of docs/change-envelope.md; a test compares them.
 */

const kinds = ['created', 'updated', 'deleted'] as const;

/** The envelope of `sinks/change.ts`. It stays open: new versions may add fields. */
export const changeSchema = z
  .looseObject({
    id: z.uuid().describe('Identifies the change. It stays the same when the change is sent again.'),
    type: z
      .string()
      .regex(new RegExp(`^[a-z_-]+\\.(?:${kinds.join('|')})$`))
      .describe('`<list>.created`, `<list>.updated` or `<list>.deleted`.'),
    timestamp: z.iso
      .datetime({ precision: 3 })
      .describe(
        'When pigeonpost found the change: ISO 8601, UTC, milliseconds. The service does not report the time of an edit.',
      ),
    workspace: z.string().describe('The name of the workspace in `pigeonpost.yaml`.'),
    pigeonholeId: z
      .int()
      .min(0)
      .describe('The pigeonhole (event); 0 for lists of a workspace (`pigeonholes`, `subscriptions`).'),
    sessionId: z.int().nullable().describe("The item's session."),
    list: z
      .string()
      .describe('`questions`, `votes`, `answers`, `attendees`, …')
      .meta({ examples: [...listNames] }),
    key: z
      .string()
      .describe(
        'Identifies the item within its list and pigeonhole: its id, or a fingerprint if the list has no ids (`votes`).',
      ),
    revision: z.int().min(1).describe("The item's version: 1, 2, 3…, including deletions."),
    sequence: z
      .int()
      .min(1)
      .describe('Rises with every change of a pigeonhole. A receiver of only some lists sees gaps.'),
    data: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('The item after the change, as the service sent it; null if deleted.'),
    replay: z.string().optional().describe('Only in a replayed change, which has a new id: identifies the replay.'),
  })
  .openapi('Change');

const testSchema = z
  .object({
    id: z.string(),
    type: z.literal('pigeonpost.test'),
    timestamp: z.iso.datetime({ precision: 3 }),
    data: z.object({ message: z.string() }),
  })
  .describe('What `pigeonpost sink test` sends. It has no list and no key: answer 2xx and ignore it.')
  .openapi('TestMessage');

export const alertSchema = z
  .looseObject({
    id: z.uuid().describe('Identifies the alert. It stays the same when the alert is sent again.'),
    type: z
      .enum(['alert.raised', 'alert.recovered', 'alert.happened', 'alert.test'])
      .describe('`alert.happened` reports something that has no end, such as a finished import.'),
    timestamp: z.iso.datetime({ precision: 3 }).describe('When pigeonpost found the condition.'),
    data: z.looseObject({
      occasion: z.string().describe('The key in `alerts.when` of pigeonpost.yaml, or `test`.'),
      problem: z
        .string()
        .nullable()
        .describe(
          'The code of the problem in `/api/status` and `pigeonpost_problems`; null if the alert is about none.',
        )
        .meta({ examples: [...problemCodes] }),
      subject: z.string().describe('The name of the subject; empty if the alert has several, or none.'),
      subjects: z.array(z.string()).describe('The names of all subjects.'),
      title: z.string(),
      says: z.string().describe('What happened, in sentences.'),
      todo: z.string().nullable().describe('The action that helps; null: none is needed.'),
      link: z.string().nullable().describe('Link to the page; null if `server.publicUrl` is not set.'),
    }),
  })
  .openapi('Alert');

const headers = z.object({
  'webhook-id': z.string().describe('The `id` of the body.'),
  'webhook-timestamp': z.string().describe('Time of this attempt, Unix time in seconds.'),
  'webhook-signature': z
    .string()
    .describe('One or two signatures `v1,<base64>` of Standard Webhooks (standardwebhooks.com).'),
});

/** Adds the section `webhooks` to the description of the API. */
export function describeWebhooks(registry: OpenAPIHono<ApiEnvironment>['openAPIRegistry']): void {
  const answers = {
    '2XX': { description: 'Stored. Any other answer, or none within 30 seconds, is retried or becomes a dead letter.' },
  };
  const json = (schema: z.ZodType) => ({ headers, body: { content: { 'application/json': { schema } } } });
  registry.registerWebhook({
    method: 'post',
    path: 'change',
    operationId: 'receiveChange',
    summary: 'One change, sent by a sink of type webhook; files and objects of the sinks file and s3 have one a line',
    request: json(z.union([changeSchema, testSchema])),
    responses: answers,
  });
  registry.registerWebhook({
    method: 'post',
    path: 'alert',
    operationId: 'receiveAlert',
    summary: 'One alert for operators, sent to a receiver of type webhook',
    request: json(alertSchema),
    responses: answers,
  });
}
