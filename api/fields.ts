import { createRoute, z } from '@hono/zod-openapi';
import { listNames } from '../base/list-names.js';
import type { Ledger } from '../ledger/ledger.js';
import { seenFields } from '../ledger/seen-fields.js';
import type { ApiApp } from './api-app.js';
import { jsonAnswer, needs, problems } from './route-parts.js';
import { workspaceOf } from './scope.js';

/** Selects fields by list and pigeonhole: `<workspace>/<id>`, or an id for the pigeonholes with that id in all workspaces. */
export const fieldsQuerySchema = z.strictObject({
  list: z.enum(listNames),
  pigeonhole: z
    .string()
    .regex(/^(?:[a-z0-9-]{1,63}\/)?\d{1,15}$/)
    .optional(),
});
export type FieldsQuery = z.infer<typeof fieldsQuerySchema>;

const seenFieldSchema = z.object({
  field: z.string(),
  member: z.string().nullable().describe('A member of a field that is an object; null: the field itself.'),
  types: z
    .record(z.string(), z.int())
    .readonly()
    .describe('Number of items with the field, by JSON type: string, number, boolean, object, array, null.'),
  filled: z.int().describe('Number of items in which the field is neither null nor an empty text.'),
  values: z
    .record(z.string(), z.int())
    .readonly()
    .nullable()
    .describe('The values and the number of items with each; null if values are not shown.'),
});
export type SeenField = z.infer<typeof seenFieldSchema>;

const seenFieldsSchema = z.object({
  workspace: z.string(),
  pigeonholeId: z.int().describe("0: the workspace's own lists."),
  items: z.int(),
  fields: z.array(seenFieldSchema).readonly(),
});
export type SeenFields = z.infer<typeof seenFieldsSchema>;

export const fieldsRoute = createRoute({
  method: 'get',
  path: '/api/fields',
  operationId: 'listFields',
  tags: ['Items'],
  summary:
    'List the fields of the stored items of a list: names, types and counts; values only for fields such as statuses and types',
  ...needs({
    right: 'read',
    looksLike: 'a request for fields has "list", the name of a list, and may have "pigeonhole" (WORKSPACE/ID)',
  }),
  request: { query: fieldsQuerySchema },
  responses: {
    200: jsonAnswer(
      'The fields of the list, by pigeonhole.',
      z.object({ list: z.string(), pigeonholes: z.array(seenFieldsSchema) }),
    ),
    ...problems(),
  },
});

export function serveFields(app: ApiApp, { ledger }: { readonly ledger: Ledger }): void {
  app.openapi(fieldsRoute, async (c) => {
    const { list, pigeonhole } = c.req.valid('query');
    const [id, workspace] = pigeonhole?.split('/').toReversed() ?? [];
    const found = await seenFields(ledger, {
      list,
      workspace: workspaceOf(c, workspace),
      pigeonholeId: id === undefined ? null : Number(id),
    });
    return c.json({ list, pigeonholes: found }, 200);
  });
}
