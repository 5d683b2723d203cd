import { randomUUID } from 'node:crypto';
import { createMiddleware } from 'hono/factory';
import { HTTPException } from 'hono/http-exception';
import { OpenAPIHono } from '@hono/zod-openapi';
import { StoreError } from '../ledger/drivers/store-error.js';
import { LedgerError } from '../ledger/ledger-error.js';
import { recordRequest, recordResult } from '../ledger/audit.js';
import { serveActivity } from './activity.js';
import { serveActions, serveReplays } from './actions.js';
import { serveAlerts } from './alerts.js';
import type { ApiApp, ApiContext, ApiEnvironment, AccessSources, ApiSources, ProbeSources } from './api-app.js';
import { authenticate, authenticateForMetrics, sessionTextIn } from './authenticate.js';
import { BoundedNotes, RefusedActions, serveAuditLog } from './audit-log.js';
import { addressOf } from './listen.js';
import { TokenGuard } from './token-guard.js';
import { serveBackup } from './backup.js';
import { serveConfiguration, servePreview } from './configuration.js';
import { serveConfigurations } from './configurations.js';
import { serveDeadLetters } from './dead-letters.js';
import { serveDeliveries } from './deliveries.js';
import { serveDeletions } from './deletions.js';
import { serveDrafts } from './drafts.js';
import { serveErasures, serveForgotten } from './erasures.js';
import { compressAnswers } from './compress-answers.js';
import { serveFind } from './find.js';
import { onlyFromHere, secureHeaders } from './browser-guards.js';
import { type Fault, problemResponse, Refused } from './problem.js';
import { serveCaller, serveTokens } from './tokens.js';
import { serveItems, serveFields } from './items.js';
import { serveDocuments } from './serve-documents.js';
import { servePage } from './serve-page.js';
import { servePageCodes } from './page-codes.js';
import { serveSignIn } from './sign-in.js';
import { serveSignOut } from './sign-out.js';
import { serveLiveChanges } from './live-changes.js';
import { serveEventStory } from './event-story.js';
import { serveExports } from './exports.js';
import { serveImports } from './imports.js';
import { serveIncidents } from './incidents.js';
import { serveProvisioning } from './provisioning.js';
import { serveReady } from './ready.js';
import { countAnswers, serveMetrics } from './metrics/serve-metrics.js';
import { serveHealth, serveInstance } from './health.js';
import { serveParity } from './parity.js';
import { servePersonStory } from './person-story.js';
import { servePersons } from './persons.js';
import { createPlaces } from './places.js';
import { servePigeonholes } from './pigeonholes.js';
import { serveStatements } from './statements.js';
import { serveQuotas, serveStatus } from './status.js';
import { serveSinks } from './sinks.js';
import { serveSyncs } from './syncs.js';
import { describeWebhooks } from './webhooks.js';
import { serveWhy } from './why.js';

/** Creates the app with every route. Guards check the origin, the caller and the form of a request before its route runs. */
export function createApp(sources: ApiSources, places = createPlaces()): ApiApp {
  const app: ApiApp = new OpenAPIHono<ApiEnvironment>({ defaultHook: refuseWhatIsWrong });
  const guard = new TokenGuard(sources);
  const refusals = new BoundedNotes();
  const refusedActions = new RefusedActions();
  app.use(headWithoutBody, named, secureHeaders, countAnswers(sources.meters));
  app.use(async (c, next) => {
    c.set('refusedActions', refusedActions);
    await next();
  });
  serveHealth(app, sources);
  app.use(onlyFromHere(sources));
  serveInstance(app, sources);
  documentApi(app, sources);
  serveSignIn(app, sources);
  servePage(app, sources);
  serveDocuments(app);
  app.use('/api/*', compressAnswers);
  app.use('/api/*', onlyCallers(sources, guard, authenticate), onlyItsMethods(app), forgetStatusAfterWrites(sources));
  app.use('/metrics', onlyCallers(sources, guard, authenticateForMetrics));
  serveMetrics(app, sources);
  serveStatus(app, sources);
  serveActions(app, sources);
  serveReplays(app, sources);
  serveConfiguration(app, sources, places);
  serveDrafts(app, sources, places);
  serveConfigurations(app, sources, places);
  serveFields(app, sources);
  serveFind(app, sources);
  serveDeletions(app, sources);
  servePreview(app, sources, places);
  serveWhy(app, sources);
  serveDeadLetters(app, sources);
  serveDeliveries(app, sources);
  serveSyncs(app, sources);
  serveReady(app, sources); // before the pigeonholes, whose address pattern also matches it
  servePigeonholes(app, sources);
  serveEventStory(app, sources);
  serveStatements(app, sources);
  serveSinks(app, sources);
  serveActivity(app, sources);
  serveParity(app, sources);
  serveQuotas(app, sources);
  serveItems(app, sources);
  serveLiveChanges(app, sources);
  serveImports(app, sources, places);
  serveProvisioning(app, sources, places);
  serveAlerts(app, sources);
  serveIncidents(app, sources);
  serveErasures(app, sources);
  serveForgotten(app, sources);
  servePersons(app, sources);
  servePersonStory(app, sources);
  serveTokens(app, sources);
  servePageCodes(app, sources);
  serveSignOut(app, sources);
  serveAuditLog(app, sources);
  serveBackup(app, sources);
  serveExports(app, sources, places);
  serveCaller(app);
  app.notFound((c) => answerNothingThere(app, c as ApiContext));
  app.onError(async (error, c) => {
    const refused = toRefused(error, c.get('looksLike'));
    if (refused.status === 403) await auditRefusal(sources, refusals, c as ApiContext);
    return problemResponse(refused, c.get('requestId'));
  });
  return app;
}

/** Lets callers see what they have changed: the status is shared for up to a second. */
function forgetStatusAfterWrites({ memory }: Pick<ApiSources, 'memory'>) {
  return createMiddleware<ApiEnvironment>(async (c, next) => {
    await next();
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD') memory?.forget();
  });
}

/** Creates the app with `/healthz`, `/readyz` and `/metrics` only, with the same guards as in the API. */
export function createProbeApp(sources: ProbeSources): ApiApp {
  const app: ApiApp = new OpenAPIHono<ApiEnvironment>();
  const guard = new TokenGuard(sources);
  app.use(named, secureHeaders, countAnswers(sources.meters));
  serveHealth(app, sources);
  app.use(onlyFromHere(sources));
  app.use('/metrics', onlyCallers(sources, guard, authenticateForMetrics));
  serveMetrics(app, sources);
  app.notFound((c) => answerNothingThere(app, c as ApiContext));
  app.onError((error, c) => problemResponse(toRefused(error, undefined), c.get('requestId')));
  return app;
}

/** Gives each request an ID, which its response and the audit log contain. An ID from the caller is ignored. */
const named = createMiddleware<ApiEnvironment>(async (c, next) => {
  const requestId = randomUUID();
  c.set('requestId', requestId);
  await next();
  c.header('X-Request-Id', requestId);
});

/**
 * Cancels the body of a response to `HEAD`, which the route of `GET` produces and nobody reads. Otherwise the source of
 * a streamed body would wait for a reader until the process ends. Registered before all other middleware, which may
 * replace the response.
 */
const headWithoutBody = createMiddleware<ApiEnvironment>(async (c, next) => {
  await next();
  if (c.req.method === 'HEAD') c.res.body?.cancel().catch(() => undefined);
});

function onlyCallers(sources: AccessSources, guard: TokenGuard, find: typeof authenticate) {
  return createMiddleware<ApiEnvironment>(async (c, next) => {
    const request = {
      address: addressOf(c as ApiContext),
      // Other programs of this host have cookies of their own, which browsers send here as well.
      presented: c.req.header('authorization') ?? sessionTextIn(sources, (name) => c.req.header(name)),
      requestId: c.get('requestId'),
    };
    c.set('caller', await guard.caller(request, () => find(sources, (name) => c.req.header(name))));
    await next();
  });
}

/** Keeps `GET /api/erasures/plan` from being read as a request for an erasure named "plan". */
function onlyItsMethods(app: ApiApp) {
  return createMiddleware<ApiEnvironment>(async (c, next) => {
    const methods = methodsWrittenOut(app, c.req.path);
    const asked = c.req.method === 'HEAD' ? 'GET' : c.req.method;
    if (methods.length > 0 && !methods.includes(asked)) return answerNothingThere(app, c);
    return await next();
  });
}

type Checked =
  | { readonly success: true }
  | { readonly success: false; readonly target: string; readonly error: { readonly issues: readonly Issue[] } };
interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** Rejects an invalid request with its faults and a description of a valid one. */
function refuseWhatIsWrong(result: Checked, c: ApiContext): void {
  if (result.success) return;
  const places: Readonly<Record<string, Fault['in']>> = { query: 'query', param: 'path', header: 'header' };
  const faults = result.error.issues.map(({ path, message }) => ({
    in: places[result.target] ?? 'body',
    at: path.join('.'),
    problem: message,
  }));
  const [first] = faults;
  const detail = c.get('looksLike') ?? `${first!.in} ${first!.at}: ${first!.problem}`;
  throw new Refused(400, detail, { faults });
}

function answerNothingThere(app: ApiApp, c: ApiContext): Response {
  const methods = allowedMethods(app, c.req.path);
  const refused =
    methods.length === 0
      ? new Refused(404, 'there is nothing at this address; /openapi.json describes all addresses')
      : new Refused(405, `this address accepts only ${methods.join(' and ')}`, {
          headers: { allow: methods.join(', ') },
        });
  return problemResponse(refused, c.get('requestId'));
}

function toRefused(error: unknown, looksLike: string | undefined): Refused {
  if (error instanceof Refused) return error;
  if (error instanceof HTTPException) {
    return new Refused(error.status, looksLike ?? 'the body is not JSON');
  }
  // Only the messages of these errors are written for callers; others may quote data.
  const reason =
    error instanceof LedgerError || error instanceof StoreError
      ? error.message
      : 'try again; if it fails again, "pigeonpost check" shows what cannot be reached';
  return new Refused(500, `the request failed: ${reason}`);
}

/**
 * Records in the audit log that a known caller sent a request that the token does not allow, unless the log has the
 * request already. The number of such lines is limited.
 */
async function auditRefusal(
  { ledger }: Pick<ApiSources, 'ledger'>,
  refusals: BoundedNotes,
  c: ApiContext,
): Promise<void> {
  const caller = c.get('caller') as ApiEnvironment['Variables']['caller'] | undefined;
  if (caller === undefined || c.get('audited') !== undefined) return;
  const requestId = c.get('requestId');
  const { name: who, token } = caller;
  const action = `${c.req.method} ${c.req.routePath}`;
  if (!refusals.take(`${token ?? who} ${action}`)) return;
  const asked = await recordRequest(ledger, { who, token, action, target: null, detail: {}, subject: null, requestId });
  await recordResult(ledger, asked, { outcome: 'refused', status: 403, requestId });
}

const about = `Shows the state of a pigeonpost installation and controls its work.

Send a token with every request, as \`Authorization: Bearer …\`. A browser that was signed in by a link of \`pigeonpost open\`
sends its session as a cookie instead. Send bodies as JSON, with \`Content-Type: application/json\`; uploads are files. Every
response has an \`X-Request-Id\`. Errors are \`application/problem+json\` (RFC 9457). \`x-right\` names the right that a
token needs for a route; \`pigeonpost token create --help\` shows which roles have it.`;

/**
 * `GET /openapi.json`: the description of every route, generated from the schemas that check requests. It contains
 * nothing secret.
 */
function documentApi(app: ApiApp, sources: Pick<ApiSources, 'version'>): void {
  describeWebhooks(app.openAPIRegistry);
  app.openAPIRegistry.registerComponent('securitySchemes', 'token', { type: 'http', scheme: 'bearer' });
  let document: unknown;
  app.get('/openapi.json', (c) => {
    document ??= describe(app, sources.version);
    return c.json(document as object);
  });
}

function describe(app: ApiApp, version: string): object {
  return app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: { title: 'pigeonpost', version, description: about },
    servers: [{ url: '/' }],
  });
}

/** Returns the methods of an address; empty if no route has it. */
function allowedMethods(app: ApiApp, path: string): string[] {
  const own = methodsWrittenOut(app, path);
  return own.length > 0 ? own : methodsOf(app, (pattern) => matches(pattern, path));
}

/**
 * Returns the methods of the routes whose path is exactly this address; empty if no route has it. Such a route comes
 * before one whose pattern also matches the address.
 */
function methodsWrittenOut(app: ApiApp, path: string): string[] {
  return methodsOf(app, (pattern) => pattern === path);
}

function methodsOf(app: ApiApp, isMeant: (pattern: string) => boolean): string[] {
  const methods = app.openAPIRegistry.definitions.flatMap((definition) =>
    definition.type === 'route' && isMeant(definition.route.path) ? [definition.route.method.toUpperCase()] : [],
  );
  return [...new Set(methods)].toSorted();
}

function matches(pattern: string, path: string): boolean {
  const parts = pattern.split('/');
  const given = path.split('/');
  return parts.length === given.length && parts.every((part, n) => part.startsWith('{') || part === given[n]);
}
