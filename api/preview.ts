import { createRoute, z } from '@hono/zod-openapi';
import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import type { ApiApp } from './api-app.js';
import { audited } from './audited.js';
import { candidateSchema } from './configuration-plan.js';
import { largestFileBytes, requireOwnFile, usable } from './configuration.js';
import { configuredName, itemKey, listName, pigeonholeName } from '../base/printable.js';
import { Refused } from './problem.js';
import { jsonAnswer, jsonBody, needs, personalSchema, problems } from './route-parts.js';
import { requireSink, requireWorkspace, sinkTarget, wantsPersonal } from './scope.js';
import { withoutValues } from './without-values.js';

/** What a sink would be sent of stored items, under a file that need not be the current configuration. */
export const previewRequestSchema = z
  .strictObject({
    sink: configuredName(),
    list: listName().nullable(),
    pigeonhole: pigeonholeName().nullable().describe("WORKSPACE/ID; null: all that the sink's syncs read."),
    key: itemKey().nullable(),
    limit: z.int().min(1).max(1000),
    configuration: candidateSchema,
    changedFrom: candidateSchema
      .nullable()
      .describe('The file to compare with: only items for which the two differ are shown.'),
  })
  .openapi('PreviewRequest');
export type PreviewRequest = z.infer<typeof previewRequestSchema>;

const previewedOperationSchema = z
  .discriminatedUnion('kind', [
    z.object({
      kind: z.literal('send'),
      operation: z
        .unknown()
        .describe('The call that would be made; without `personal`, its texts and numbers are left out.'),
    }),
    z.object({
      kind: z.literal('withhold'),
      reason: z.string().describe('A short stable code, such as `consent-refused` or `condition`.'),
    }),
    z.object({ kind: z.literal('fail'), cause: z.string(), detail: z.string() }),
  ])
  .openapi('PreviewedOperation');
export type PreviewedOperation = z.infer<typeof previewedOperationSchema>;

/** What becomes of one item. Holds what would be sent, personal data included: for the person who asked. */
const previewedItemSchema = z.object({
  workspace: z.string(),
  pigeonholeId: z.int(),
  list: z.string(),
  key: z.string(),
  revision: z.int(),
  now: previewedOperationSchema,
  before: previewedOperationSchema.optional().describe('Under the file to compare with; absent when none was given.'),
});
export type PreviewedItem = z.infer<typeof previewedItemSchema>;

const previewCountSchema = z.object({
  list: z.string(),
  items: z.int().describe('Sent.'),
  withheld: z.record(z.string(), z.int()).readonly().describe('By reason: consent, and what the mapping leaves out.'),
  failed: z.int().describe('Dead letters, since the mapping fails on them.'),
  estimated: z
    .boolean()
    .describe('Only the newest of a large number were planned; the counts of the others are an estimate.'),
});
export type PreviewCount = z.infer<typeof previewCountSchema>;

export const previewSchema = z
  .object({
    items: z.array(previewedItemSchema).readonly(),
    more: z.boolean().describe('There are more items than were asked for.'),
    counts: z
      .array(previewCountSchema)
      .readonly()
      .describe('Of all stored items: how many would be sent, and how many withheld, by reason.'),
    problems: z
      .array(z.string())
      .readonly()
      .describe('A sentence for each list of which the mapping would withhold everything.'),
    notes: z.array(z.string()).readonly().describe('Fields that the mapping reads and no stored item has.'),
  })
  .openapi('Preview');
export type Preview = z.infer<typeof previewSchema>;

export interface PreviewSources {
  readonly config: Config;
  readonly ledger: Ledger;
  /** What a sink would be sent; throws as planning a configuration does. */
  readonly preview: (asked: PreviewRequest) => Promise<Preview | { readonly unknown: string }>;
}

const previewRoute = createRoute({
  method: 'post',
  path: '/api/preview',
  operationId: 'preview',
  tags: ['Sinks'],
  summary: 'What a sink would be sent of stored items; sends nothing',
  ...needs({
    right: 'read',
    largestBytes: 2 * largestFileBytes,
    looksLike:
      'a preview has "sink", "list", "pigeonhole" and "key" (each null for all), "limit" (1 to 1000), "configuration" and "changedFrom" (null, or with "file" and "text")',
  }),
  request: { query: z.strictObject({ personal: personalSchema }), body: jsonBody(previewRequestSchema) },
  responses: { 200: jsonAnswer('What would be sent.', previewSchema), ...problems(404, 409, 413, 415, 422) },
});

/** `POST /api/preview`. */
export function servePreview(app: ApiApp, sources: PreviewSources): void {
  app.openapi(previewRoute, async (c) => {
    const asked = c.req.valid('json');
    const { sink, pigeonhole, list, key } = asked;
    if (pigeonhole === null) requireSink(c, sources, sink);
    else requireWorkspace(c, pigeonhole.split('/')[0]!);
    for (const file of [asked.configuration, asked.changedFrom]) {
      if (file !== null) requireOwnFile(c, sources.config, file);
    }
    const look = async (): Promise<Preview> => {
      const shown = await usable(async () => await sources.preview(asked));
      if ('unknown' in shown) throw new Refused(404, `${shown.unknown}; "pigeonpost status" shows what is`);
      return shown;
    };
    if (!wantsPersonal(c, c.req.valid('query').personal)) return c.json(withoutWhatIsSent(await look()), 200);
    const entry = {
      action: 'preview-personal',
      target: sinkTarget(sources, sink),
      detail: { pigeonhole, list, oneItem: key !== null },
    };
    return c.json(await audited(c, sources.ledger, entry, look), 200);
  });
}

function withoutWhatIsSent(preview: Preview): Preview {
  const hide = (operation: PreviewedOperation): PreviewedOperation =>
    operation.kind === 'send' ? { kind: 'send', operation: withoutValues(operation.operation) } : operation;
  return {
    ...preview,
    items: preview.items.map(({ now, before, ...item }) => ({
      ...item,
      now: hide(now),
      ...(before === undefined ? {} : { before: hide(before) }),
    })),
  };
}
