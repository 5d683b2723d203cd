import { createRoute, z } from '@hono/zod-openapi';
import type { Ledger } from '../ledger/ledger.js';
import { type ErasureList, readErasureList } from '../people/forget/erasure-list.js';
import type { ApiApp } from './api-app.js';
import { audited } from './audited.js';
import { instant, jsonAnswer, needs, problems } from './route-parts.js';
import { requireEveryWorkspace } from './scope.js';

const hash = z.string().regex(/^(?:[0-9a-f]{2}){16,64}$/);

/** As `pigeonpost restore --erasures` takes it, too. */
export const erasureListSchema = z
  .object({
    ledger: z.uuid().describe('The ledger whose keys made the hashes.'),
    erasures: z
      .array(
        z.object({
          id: z.uuid(),
          asked: hash,
          requestedAt: instant(),
          people: z.array(z.object({ workspace: z.string(), subject: hash })).readonly(),
          codes: z.array(z.object({ workspace: z.string(), pigeonholeId: z.int(), code: hash })).readonly(),
        }),
      )
      .readonly(),
  })
  .openapi('ErasureList') satisfies z.ZodType<ErasureList>;

export type ErasureListView = z.infer<typeof erasureListSchema>;

const forgottenRoute = createRoute({
  method: 'get',
  path: '/api/forgotten',
  operationId: 'listForgotten',
  tags: ['Privacy'],
  summary: 'Who stays away, by keyed hashes alone: what a ledger that is restored from a backup has to be told',
  ...needs({ right: 'erase' }),
  responses: { 200: jsonAnswer('By erasure, oldest first.', erasureListSchema), ...problems() },
});

/** `GET /api/forgotten`. */
export function serveForgotten(app: ApiApp, { ledger }: { readonly ledger: Ledger }): void {
  app.openapi(forgottenRoute, async (c) => {
    requireEveryWorkspace(c);
    const list = await audited(c, ledger, { action: 'list-forgotten', target: null }, () => readErasureList(ledger.db));
    return c.json(list, 200);
  });
}
