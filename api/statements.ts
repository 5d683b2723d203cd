import { createRoute, z } from '@hono/zod-openapi';
import { configuredName, idText, instant } from '../base/printable.js';
import { placeName } from '../ledger/pauses.js';
import { selectedPigeonhole } from '../ledger/pigeonholes.js';
import { signPage, statementFile } from '../operations/statement/sign-statement.js';
import { type SignedStatement, signedStatementSchema } from '../operations/statement/statement.js';
import { statementProgress } from '../operations/statement/statement-desk.js';
import { pagePolicy } from '../operations/statement/statement-page-style.js';
import { statementPage } from '../operations/statement/statement-page.js';
import { coverageText, summaryOf, verdictOf } from '../operations/statement/statement-sentences.js';
import { differencesCsv } from '../operations/statement/statement-rows.js';
import {
  findStatement,
  latestStatements,
  requestStatement,
  type StoredStatement,
} from '../operations/statement/statement-store.js';
import type { ApiApp, ApiContext, ApiSources } from './api-app.js';
import { audited } from './audit-log.js';
import { Refused } from './problem.js';
import { answers, jsonBody, needs, problems, withIsoInstants } from './route-parts.js';
import { requireWorkspace, workspaceOf } from './scope.js';

const entrySchema = z
  .object({
    number: z.int(),
    workspace: z.string(),
    pigeonholeId: z.int(),
    occasion: z
      .enum(['request', 'closing'])
      .describe('`closing`: made by pigeonpost after the end of the event (`alerts.when.closing-statement`).'),
    requestedAt: instant(),
    completedAt: instant().nullable().describe('Null: it is being made.'),
    agrees: z.boolean().nullable(),
    openPoints: z.int().nullable().describe('Number of open points.'),
  })
  .openapi('StatementEntry');

const progressSchema = z.object({
  lists: z.int().describe('Lists to read again; a list that is read by session counts once for each session.'),
  read: z.int().describe('Lists that were read completely since the request.'),
  blocked: z.string().nullable().describe('Why nothing can be read now; null: it can.'),
  audits: z
    .object({
      destinations: z.int(),
      done: z.int(),
      checked: z.int().describe('Items that were compared so far.'),
      total: z.int().describe('Items that will probably be compared.'),
    })
    .nullable()
    .describe('Audits of the destinations; null: none was requested, or they start when everything is delivered.'),
});

const statementViewSchema = entrySchema
  .omit({ agrees: true, openPoints: true })
  .extend({
    progress: progressSchema.nullable().describe('Null: the statement is complete.'),
    says: z
      .object({ verdict: z.string(), summary: z.string(), coverage: z.string() })
      .nullable()
      .describe('The result in sentences; null: the statement is being made.'),
    signed: signedStatementSchema.nullable().describe('Null: the statement is being made.'),
  })
  .openapi('StatementState');
export type StatementView = z.infer<typeof statementViewSchema>;

const place = z.object({ workspace: configuredName(), id: idText() });
const numbered = z.object({ number: idText() });

export const requestRoute = createRoute({
  method: 'post',
  path: '/api/pigeonholes/{workspace}/{id}/statements',
  operationId: 'requestStatement',
  tags: ['Statements'],
  summary: 'Request a statement of an event: what the service has, what pigeonpost has, what each sink received',
  description:
    'Makes every list of the event due for a complete read, which uses requests of the quota. With `audit`, the destinations that can be read are audited then, and the statement says what they hold now. Poll `GET /api/statements/{number}` until it has `completedAt`. If a requested statement of the event is being made, its number is returned.',
  ...needs({ right: 'operate', looksLike: 'a request for a statement has "audit", or nothing' }),
  request: {
    params: place,
    body: jsonBody(z.strictObject({ audit: z.boolean().default(false).describe('Audit the destinations first.') })),
  },
  responses: answers('The number of the statement.', z.object({ number: z.int() }), 404, 413, 415),
});

export const listRoute = createRoute({
  method: 'get',
  path: '/api/pigeonholes/{workspace}/{id}/statements',
  operationId: 'listStatements',
  tags: ['Statements'],
  summary: 'List the latest statements of an event',
  ...needs({ right: 'read' }),
  request: { params: place },
  responses: answers('At most 50 statements, newest first.', z.object({ statements: z.array(entrySchema) })),
});

export const showRoute = createRoute({
  method: 'get',
  path: '/api/statements/{number}',
  operationId: 'showStatement',
  tags: ['Statements'],
  summary: 'Show a statement, or how far it is',
  ...needs({ right: 'read' }),
  request: { params: numbered },
  responses: answers('The statement.', statementViewSchema, 404),
});

export const fileRoute = createRoute({
  method: 'get',
  path: '/api/statements/{number}/file',
  operationId: 'downloadStatement',
  tags: ['Statements'],
  summary: 'Download a statement as a signed page, as signed JSON, or its differences as CSV',
  ...needs({ right: 'read', looksLike: 'a file of a statement has "format" (html, json, csv)' }),
  request: { params: numbered, query: z.strictObject({ format: z.enum(['html', 'json', 'csv']) }) },
  responses: {
    200: {
      description: 'The file. The CSV is not signed.',
      content: {
        'text/html': { schema: z.string() },
        'application/json': { schema: signedStatementSchema },
        'text/csv': { schema: z.string() },
      },
    },
    ...problems(404, 409),
  },
});

export const keyRoute = createRoute({
  method: 'get',
  path: '/api/statement-key',
  operationId: 'showStatementKey',
  tags: ['Statements'],
  summary: 'Show the public key with which statements can be checked',
  ...needs({ right: 'read' }),
  responses: answers(
    'The key, which does not change as long as the ledger exists.',
    z.object({
      instance: z.string(),
      key: z.string().describe('`ed25519:` and the 32 bytes in base64url.'),
      fingerprint: z.string(),
      pem: z.string(),
    }),
  ),
});

export function serveStatements(app: ApiApp, sources: ApiSources): void {
  const { ledger, starter } = sources;
  app.openapi(requestRoute, async (c) => {
    const { workspace, id } = c.req.valid('param');
    requireWorkspace(c, workspace);
    const name = { workspace, pigeonholeId: Number(id) };
    const selected =
      name.pigeonholeId === 0 ? undefined : await selectedPigeonhole(ledger, Object.keys(sources.config.syncs), name);
    if (selected === undefined) {
      throw new Refused(
        404,
        `no sync reads pigeonhole ${workspace}/${id}: run "pigeonpost status" to see what is read`,
      );
    }
    const target = `pigeonhole:${placeName(name)}`;
    const { audit } = c.req.valid('json');
    const number = await audited(c, ledger, { action: 'request-statement', target, detail: { audit } }, () =>
      requestStatement(ledger, selected.pigeonholeNumber, { audits: audit }),
    );
    starter.wakeReaders();
    return c.json({ number }, 200);
  });
  app.openapi(listRoute, async (c) => {
    const { workspace, id } = c.req.valid('param');
    requireWorkspace(c, workspace);
    const statements = await latestStatements(ledger, { workspace, pigeonholeId: Number(id), limit: 50 });
    return c.json({ statements: statements.map(withIsoInstants) }, 200);
  });
  app.openapi(showRoute, async (c) => {
    const stored = await find(c, sources, c.req.valid('param').number);
    const { document, pigeonholeNumber: _, audits: __, auditsRequestedAt: ___, auditedSinks: ____, ...entry } = stored;
    const progress = document === null ? await statementProgress(sources, stored) : null;
    const signed = document === null ? null : (JSON.parse(document) as SignedStatement);
    return c.json(
      { ...withIsoInstants(entry), progress, says: signed === null ? null : sentencesOf(signed), signed },
      200,
    );
  });
  app.openapi(fileRoute, async (c) => {
    const { document, number, workspace, pigeonholeId } = await find(c, sources, c.req.valid('param').number);
    if (document === null) throw new Refused(409, `statement ${number} is not complete yet`);
    const signed = JSON.parse(document) as SignedStatement;
    const { format } = c.req.valid('query');
    const name = `statement-${workspace}-${pigeonholeId}-${number}`;
    switch (format) {
      case 'html':
        c.header('content-security-policy', pagePolicy);
        c.header('content-disposition', `inline; filename="${name}.html"`);
        return c.body(signPage(statementPage(signed), ledger.signing), 200, {
          'content-type': 'text/html; charset=utf-8',
        }) as never;
      case 'json':
        c.header('content-disposition', `attachment; filename="${name}.json"`);
        return c.body(statementFile(signed), 200, { 'content-type': 'application/json; charset=utf-8' }) as never;
      case 'csv':
        c.header('content-disposition', `attachment; filename="${name}-differences.csv"`);
        return c.body(differencesCsv(signed.statement), 200, { 'content-type': 'text/csv; charset=utf-8' }) as never;
    }
  });
  app.openapi(keyRoute, (c) => {
    const { publicKey } = ledger.signing;
    const { fingerprint, pem } = publicKey;
    return c.json({ instance: ledger.id, key: publicKey.toString(), fingerprint, pem }, 200);
  });
}

function sentencesOf({ statement }: SignedStatement): NonNullable<StatementView['says']> {
  return { verdict: verdictOf(statement), summary: summaryOf(statement), coverage: coverageText(statement) };
}

/** @throws {Refused} 404 if there is no such statement, or if the caller may not see its workspace */
async function find(c: ApiContext, { ledger }: Pick<ApiSources, 'ledger'>, number: string): Promise<StoredStatement> {
  const workspace = workspaceOf(c);
  const found = Number(number) < 2 ** 31 ? await findStatement(ledger, Number(number)) : undefined;
  if (found !== undefined && (workspace === null || found.workspace === workspace)) return found;
  throw new Refused(404, `there is no statement ${number}`);
}
