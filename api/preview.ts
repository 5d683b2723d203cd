import type { ApiSources, ApiApp } from './api-app.js';
import { createRoute, z } from '@hono/zod-openapi';
import { audited } from './audit-log.js';
import { largestFileBytes, requireOwnFile, usable } from './configuration.js';
import { Refused } from './problem.js';
import { jsonAnswer, jsonBody, needs, personalSchema, problems } from './route-parts.js';
import { requireSink, requireWorkspace, sinkTarget, wantsPersonal } from './scope.js';
import {
  type PreviewedOperation,
  type Preview,
  previewRequestSchema,
  previewSchema,
} from '../operations/preview-sink.js';

export const previewRoute = createRoute({
  method: 'post',
  path: '/api/preview',
  operationId: 'preview',
  tags: ['Sinks'],
  summary: 'Preview what a sink would receive of stored items; sends nothing',
  ...needs({
    right: 'read',
    largestBytes: 2 * largestFileBytes,
    looksLike:
      'a preview has "sink", "list", "pigeonhole" and "key" (each null for all), "limit" (1 to 1000), "configuration" and "changedFrom" (null, or with "file" and "text")',
  }),
  request: { query: z.strictObject({ personal: personalSchema }), body: jsonBody(previewRequestSchema) },
  responses: {
    200: jsonAnswer('The preview of what the sink would receive.', previewSchema),
    ...problems(404, 409, 413, 415, 422),
  },
});

export function servePreview(app: ApiApp, sources: ApiSources): void {
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
      if ('unknown' in shown) throw new Refused(404, `${shown.unknown}: run "pigeonpost status" to see what exists`);
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

/**
 * Removes the content of data and keeps its shape: members and their types stay, texts and numbers do not. Booleans and
 * empty values stay, because they say little about a person. Pure.
 */
export function withoutValues(data: unknown): unknown {
  if (Array.isArray(data)) return data.map(withoutValues);
  if (typeof data === 'object' && data !== null) {
    return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, withoutValues(value)]));
  }
  if (data === '' || data === null || typeof data === 'boolean') return data;
  return typeof data === 'number' ? '(number)' : '(text)';
}
