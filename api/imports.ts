import type { ApiSources, ApiApp, ApiContext } from './api-app.js';
import { createRoute, z } from '@hono/zod-openapi';
import { audited } from './audit-log.js';
import { importActionSchema, pigeonholeNamePattern } from '../importing/desk/import-request.js';
import {
  type ImportReportRow,
  importTargetSchema,
  type ImportView,
  importViewSchema,
  savedMappingSchema,
} from '../importing/desk/import-views.js';
import { answers, jsonBody, needs, streamOf, pageOf, pageQuery, positionOf, problems, pagesBy } from './route-parts.js';
import { printable } from '../base/printable.js';
import { Refused } from './problem.js';
import { rolesWith } from './authenticate.js';
import { actorOf, pigeonholeWithin, workspaceOf } from './scope.js';
import type { AllPlaces } from './places.js';
import { eventTitles } from '../operations/name-items.js';
import { asRefusal, csv, serveUploads } from './uploads.js';

/** An import with the title of its event. */
const namedImportSchema = importViewSchema
  .extend({ event: z.string().nullable().describe('Title of the event.') })
  .openapi('NamedImport');
export type NamedImport = z.infer<typeof namedImportSchema>;

const idParams = z.object({ id: printable(100) });

export const targetRoute = createRoute({
  method: 'get',
  path: '/api/imports/target',
  operationId: 'showImportTarget',
  tags: ['Imports'],
  summary: 'Show the pigeonhole that a file would be imported into, as the service describes it',
  ...needs({ right: 'import', looksLike: 'give "pigeonhole": WORKSPACE/ID, or the ID' }),
  request: { query: z.strictObject({ pigeonhole: z.string().regex(pigeonholeNamePattern) }) },
  responses: answers('The pigeonhole and whether it accepts registrants.', importTargetSchema, 404, 409, 422),
});

export const listRoute = createRoute({
  method: 'get',
  path: '/api/imports',
  operationId: 'listImports',
  tags: ['Imports'],
  summary: 'List imports',
  ...needs({ right: 'read' }),
  request: { query: z.strictObject(pageQuery) },
  responses: answers('One page of imports, newest first.', pageOf(namedImportSchema)),
});

export const showRoute = createRoute({
  method: 'get',
  path: '/api/imports/{id}',
  operationId: 'showImport',
  tags: ['Imports'],
  summary: 'Show the progress of an import',
  ...needs({ right: 'read' }),
  request: { params: idParams },
  responses: answers('The state of the import.', namedImportSchema, 404),
});

export const reportRoute = createRoute({
  method: 'get',
  path: '/api/imports/{id}/report',
  operationId: 'reportImport',
  tags: ['Imports'],
  summary:
    'Download the result of each row; as CSV, the report contains the rows, so that you can correct them and import them again',
  description:
    'Rows and the messages of the service are shown only to the token that started the import, and to a token that may import and also has the role privacy or admin. The audit log records each such report. Others see only outcomes.',
  ...needs({ right: 'import', looksLike: 'a report may have "format" (csv) and "only" (problems)' }),
  request: {
    params: idParams,
    query: z.strictObject({
      format: z.enum(['csv', 'ndjson']).optional(),
      only: z.enum(['problems', 'all']).optional(),
    }),
  },
  responses: {
    200: {
      description: 'Rows in the order of the file.',
      content: { 'application/x-ndjson': { schema: z.string() }, 'text/csv': { schema: z.string() } },
    },
    ...problems(404),
  },
});

export const actRoute = createRoute({
  method: 'post',
  path: '/api/imports/{id}/actions',
  operationId: 'actOnImport',
  tags: ['Imports'],
  summary: 'Pause, resume or cancel an import',
  ...needs({
    right: 'import',
    looksLike: 'an action has "do" (pause, resume, cancel), and may have "by" and "reason"',
  }),
  request: { params: idParams, body: jsonBody(importActionSchema) },
  responses: answers('The state of the import after the action.', importViewSchema, 404, 409, 413, 415, 422),
});

export const mappingsRoute = createRoute({
  method: 'get',
  path: '/api/import-mappings',
  operationId: 'listImportMappings',
  tags: ['Imports'],
  summary: 'List saved mappings from columns to fields',
  ...needs({ right: 'import' }),
  responses: answers('The saved mappings, sorted by name.', z.object({ mappings: z.array(savedMappingSchema) })),
});

const pages = pagesBy(z.tuple([positionOf.int4]), ({ id }: ImportView) => [Number(id)]);

/** Routes for imports of registrants: the uploads, and requests about one import. */
export function serveImports(app: ApiApp, sources: Pick<ApiSources, 'ledger' | 'imports'>, places: AllPlaces): void {
  const { ledger, imports } = sources;
  const find = async (c: ApiContext, id: string): Promise<ImportView> => {
    const view = await imports.find(id);
    const workspace = workspaceOf(c);
    if (view !== undefined && (workspace === null || view.workspace === workspace)) return view;
    throw new Refused(404, `no import ${id} is known: run "pigeonpost import list" to see what exists`);
  };
  /**
   * The token that started an import may see its rows, because its holder has the file. Another importer may not see
   * the people in it.
   */
  const mayReadRows = async (c: ApiContext, id: string): Promise<boolean> => {
    const { rights, token } = c.get('caller');
    return rights.has('personal') || (token !== null && token === (await imports.tokenOf(id)));
  };
  const withEvents = async (views: readonly ImportView[]): Promise<NamedImport[]> => {
    const events = await eventTitles(ledger, views);
    return views.map((view, at) => ({ ...view, event: events[at]! }));
  };
  serveUploads(app, sources, places);
  app.openapi(targetRoute, async (c) => {
    const pigeonhole = pigeonholeWithin(c, c.req.valid('query').pigeonhole);
    return c.json(await asRefusal(() => imports.target(pigeonhole)), 200);
  });
  app.openapi(listRoute, async (c) => {
    const { limit, after } = c.req.valid('query');
    const before = pages.endOf(after)?.[0] ?? null;
    const found = await imports.list({ workspace: workspaceOf(c), before, limit: limit + 1 });
    const { items, next } = pages.page(found, limit, (each) => each);
    return c.json({ items: await withEvents(items), next }, 200);
  });
  app.openapi(showRoute, async (c) => {
    const [view] = await withEvents([await find(c, c.req.valid('param').id)]);
    return c.json(view!, 200);
  });
  app.openapi(reportRoute, async (c) => {
    const { id, workspace, pigeonholeId } = await find(c, c.req.valid('param').id);
    const { format, only = 'all' } = c.req.valid('query');
    const mayRead = await mayReadRows(c, id);
    const ndjson = (shows: 'everything' | 'outcomes'): Response =>
      new Response(streamOf(lines(imports.report(id, only, shows))), {
        headers: { 'content-type': 'application/x-ndjson' },
      });
    if (!mayRead && format !== 'csv') return ndjson('outcomes') as never;
    if (!mayRead) {
      const needed = rolesWith('personal').join(' or ');
      throw new Refused(
        403,
        `the rows of an import are only for the token that started it, and for a token that may import and also has the role ${needed}; without "format", the report has the outcomes`,
      );
    }
    // The rows contain the names of people, and a message of the service may quote a row.
    const entry = {
      action: 'download-report',
      target: `pigeonhole:${workspace}/${pigeonholeId}`,
      detail: { import: id, format: format ?? 'ndjson' },
    };
    return (await audited(c, ledger, entry, async () =>
      format === 'csv' ? csv(streamOf(imports.reportCsv(id))) : ndjson('everything'),
    )) as never;
  });
  app.openapi(actRoute, async (c) => {
    const action = c.req.valid('json');
    const { id, workspace, pigeonholeId } = await find(c, c.req.valid('param').id);
    const by = actorOf(c, action.by);
    const entry = {
      action: `${action.do}-import`,
      target: `pigeonhole:${workspace}/${pigeonholeId}`,
      detail: { import: id },
    };
    const done = await audited(c, ledger, entry, () =>
      asRefusal(() => imports.act(id, by === undefined ? action : { ...action, by })),
    );
    return c.json(done, 200);
  });
  app.openapi(mappingsRoute, async (c) => c.json({ mappings: await imports.mappings(workspaceOf(c)) }, 200));
}

async function* lines(portions: AsyncIterable<readonly ImportReportRow[]>): AsyncGenerator<string, void, undefined> {
  for await (const rows of portions) yield rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}
