import { createRoute, z } from '@hono/zod-openapi';
import { listNames } from '../base/lists.js';
import type { Ledger } from '../ledger/ledger.js';
import { type ShownItem, shownItem, shownItems } from '../ledger/shown-items.js';
import type { ApiApp } from './api-app.js';
import { audited } from './audit-log.js';
import {
  answers,
  needs,
  personalSchema,
  withIsoInstants,
  pageOf,
  pageQuery,
  positionOf,
  pagesBy,
} from './route-parts.js';
import { placeParams, requirePigeonholeNumber } from './pigeonholes.js';
import { itemNameSchema, withNames } from './item-names.js';
import { idText, itemKey, instant } from '../base/printable.js';
import { Refused } from './problem.js';
import { wantsPersonal, workspaceOf } from './scope.js';
import { explain, whySchema } from './why.js';
import { seenFields } from '../ledger/seen-fields.js';

const dataSchema = z
  .record(z.string(), z.unknown())
  .nullable()
  .optional()
  .describe('Content of the item; null if it is deleted, absent unless personal data was requested.');

const itemSchema = z
  .object({
    key: z.string(),
    name: itemNameSchema,
    sessionId: z.int().nullable(),
    revision: z.int(),
    deleted: z.boolean(),
    visibility: z
      .string()
      .nullable()
      .describe('For interactions: whether the person may be shown. Null for other lists.'),
    consent: z.string().nullable().describe('For attendees. Null for other lists.'),
    lastChangedAt: instant(),
    data: dataSchema,
  })
  .openapi('Item');
export type ItemView = z.infer<typeof itemSchema>;

const itemParams = placeParams.extend({ list: z.enum(listNames), key: itemKey() });

export const listRoute = createRoute({
  method: 'get',
  path: '/api/items/{workspace}/{id}/{list}',
  operationId: 'listItems',
  tags: ['Items'],
  summary: 'List the stored items of a list of a pigeonhole',
  ...needs({ right: 'read' }),
  request: {
    params: itemParams.omit({ key: true }),
    query: z.strictObject({
      ...pageQuery,
      session: idText().optional(),
      personal: personalSchema,
    }),
  },
  responses: answers('One page of items, sorted by key.', pageOf(itemSchema), 404),
});

export const showRoute = createRoute({
  method: 'get',
  path: '/api/items/{workspace}/{id}/{list}/{key}',
  operationId: 'showItem',
  tags: ['Items'],
  summary:
    'Show the timeline of an item: where it was read, what each sink received and answered, or why nothing was sent',
  ...needs({ right: 'read' }),
  request: { params: itemParams, query: z.strictObject({ personal: personalSchema }) },
  responses: answers('The timeline of the item from its first revision.', whySchema.extend({ data: dataSchema }), 404),
});

const pages = pagesBy(z.tuple([positionOf.text]), ({ key }: ShownItem) => [key]);

export function serveItems(app: ApiApp, sources: { readonly ledger: Ledger }): void {
  const { ledger } = sources;
  app.openapi(listRoute, async (c) => {
    const { list, ...place } = c.req.valid('param');
    const { limit, after, session, personal } = c.req.valid('query');
    const shows = wantsPersonal(c, personal);
    const pigeonholeNumber = await requirePigeonholeNumber(c, sources, place);
    const last = pages.endOf(after);
    const read = async (): Promise<ShownItem[]> =>
      await shownItems(ledger, {
        pigeonholeNumber,
        list,
        sessionId: session === undefined ? null : Number(session),
        after: last?.[0] ?? null,
        limit: limit + 1,
      });
    const target = `pigeonhole:${place.workspace}/${place.id}`;
    const rows = shows
      ? await audited(c, ledger, { action: 'list-personal', target, detail: { list, limit } }, read)
      : await read();
    const { items, next } = pages.page(rows, limit, (row) => viewItem(row, shows));
    const own = items.map((item) => ({ ...item, workspace: place.workspace, pigeonholeId: Number(place.id), list }));
    const named = await withNames(ledger, own, { personal: shows });
    return c.json({ items: named.map(({ workspace: _, pigeonholeId: __, list: ___, ...item }) => item), next }, 200);
  });
  app.openapi(showRoute, async (c) => {
    const { list, key, ...place } = c.req.valid('param');
    const shows = wantsPersonal(c, c.req.valid('query').personal);
    const pigeonholeNumber = await requirePigeonholeNumber(c, sources, place);
    const asked = { list, key, pigeonhole: `${place.workspace}/${Number(place.id)}` };
    const [why] = await explain(ledger, asked, { personal: shows });
    const item = await shownItem(ledger, { pigeonholeNumber, list, key });
    if (why === undefined || item === undefined) {
      throw new Refused(404, `no such item of ${list} is in the ledger; "pigeonpost status" shows what has been read`);
    }
    if (!shows) return c.json(why, 200);
    // The audit log records the person as the HMAC that erasures use, since the key may be an attendee's id.
    const entry = {
      action: 'show-personal',
      target: `pigeonhole:${place.workspace}/${place.id}`,
      detail: { list },
      subject: item.subject,
    };
    return c.json(await audited(c, ledger, entry, async () => ({ ...why, data: item.data })), 200);
  });
}

function viewItem({ data, subject: _, ...item }: ShownItem, shows: boolean): Omit<z.infer<typeof itemSchema>, 'name'> {
  return { ...withIsoInstants(item), ...(shows ? { data } : {}) };
}

/** Selects fields by list and pigeonhole: `<workspace>/<id>`, or an id for the pigeonholes with that id in all workspaces. */
const fieldsQuerySchema = z.strictObject({
  list: z.enum(listNames),
  pigeonhole: z
    .string()
    .regex(/^(?:[a-z0-9-]{1,63}\/)?\d{1,15}$/)
    .optional(),
});

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
  responses: answers(
    'The fields of the list, by pigeonhole.',
    z.object({ list: z.string(), pigeonholes: z.array(seenFieldsSchema) }),
  ),
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
