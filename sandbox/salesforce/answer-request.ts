import type { DoubleAnswer, DoubleRequest } from '../serve/double-request.js';
import { type Call, notFound, SalesforceRefusal } from './call.js';
import { recordRoutes } from './record-routes.js';
import { queryRoutes } from './soql.js';
import type { SalesforceOrg } from './salesforce-org.js';

const ROUTES = [...recordRoutes, ...queryRoutes];
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** The stand-in follows the rules of these versions. From 46.0 on, collections support upserts with `created`. */
const OLDEST_VERSION = 46;
const NEWEST_VERSION = 67;
/** Documented: maximum number of bytes of an address and its headers. */
const MAX_ADDRESS_BYTES = 16_384;

/**
 * Answers as Salesforce does. Issues tokens; for other requests, checks the session, then the limit, then the request.
 */
export function answerRequest(org: SalesforceOrg, request: DoubleRequest, instanceUrl: string): DoubleAnswer {
  const requestId = `TID:${String(request.number).padStart(12, '0')}`;
  const answer =
    request.path === '/services/oauth2/token' ? tokenAnswer(org, request, instanceUrl) : apiAnswer(org, request);
  return { ...answer, headers: { 'X-SFDC-Request-Id': requestId, ...answer.headers } };
}

function tokenAnswer(org: SalesforceOrg, request: DoubleRequest, instanceUrl: string): DoubleAnswer {
  const form = new URLSearchParams(request.body);
  if (
    request.method !== 'POST' ||
    !(request.headers['content-type'] ?? '').includes('application/x-www-form-urlencoded')
  ) {
    return tokenRefused('invalid_request', 'must use HTTP POST with a form');
  }
  const sent = [...form.keys()].toSorted().join(' ');
  const [clientId, clientSecret] = credentialsOf(form, request.headers.authorization);
  let opened: ReturnType<typeof org.sessions.login>;
  if (form.get('grant_type') === JWT_BEARER) {
    // An assertion needs no secret, so a secret sent with it would be exposed for no reason.
    if (sent !== 'assertion grant_type' || clientSecret !== '') return tokenRefused('invalid_request', `has ${sent}`);
    opened = org.sessions.login(form.get('assertion') ?? '', instanceUrl);
  } else if (form.get('grant_type') === 'client_credentials') {
    if (/assertion|password|username/.test(sent)) return tokenRefused('invalid_request', `has ${sent}`);
    opened = org.sessions.loginAsApp(clientId, clientSecret);
  } else return tokenRefused('unsupported_grant_type', 'grant type not supported');
  if ('error' in opened) return tokenRefused(opened.error, opened.description);
  return {
    status: 200,
    json: {
      access_token: opened.token,
      scope: 'api',
      instance_url: instanceUrl,
      id: `${instanceUrl}/id/00D8d0000000001EAA/0058d0000000001AAA`,
      token_type: 'Bearer',
    },
  };
}

/** Reads the client's credentials from the header `Authorization: Basic`, or else from the form. */
function credentialsOf(form: URLSearchParams, authorization = ''): [clientId: string, clientSecret: string] {
  const basic = /^Basic (.+)$/.exec(authorization)?.[1];
  if (basic === undefined) return [form.get('client_id') ?? '', form.get('client_secret') ?? ''];
  const [id = '', secret = ''] = Buffer.from(basic, 'base64').toString('utf8').split(':').map(decodeURIComponent);
  return [id, secret];
}

function tokenRefused(error: string, description: string): DoubleAnswer {
  return { status: 400, json: { error, error_description: description } };
}

function apiAnswer(org: SalesforceOrg, request: DoubleRequest): DoubleAnswer {
  const token = /^(?:Bearer|OAuth) (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  if (token === undefined || !org.sessions.has(token)) {
    return refused(new SalesforceRefusal('INVALID_SESSION_ID', 'Session expired or invalid', [], 401));
  }
  if (!org.takeRequest()) {
    return refused(new SalesforceRefusal('REQUEST_LIMIT_EXCEEDED', 'TotalRequests Limit exceeded.', [], 403));
  }
  const headers = { 'Sforce-Limit-Info': `api-usage=${org.usedRequests()}/${org.dailyRequests}` };
  try {
    const answer = routed(org, request);
    return { ...answer, headers: { ...headers, ...answer.headers } };
  } catch (error) {
    if (!(error instanceof SalesforceRefusal)) throw error;
    return { ...refused(error), headers };
  }
}

function routed(org: SalesforceOrg, request: DoubleRequest): DoubleAnswer {
  const headerBytes = Object.entries(request.headers).reduce(
    (sum, [name, value]) => sum + name.length + value.length + 4,
    0,
  );
  if (request.path.length + request.query.toString().length + headerBytes > MAX_ADDRESS_BYTES) {
    throw new SalesforceRefusal('URI_TOO_LONG', 'the address and its headers are too long', [], 414);
  }
  const [, version, path] = /^\/services\/data\/(v\d+\.0)(\/.*?)\/?$/.exec(request.path) ?? [];
  const number = Number(version?.slice(1));
  if (version === undefined || number < OLDEST_VERSION || number > NEWEST_VERSION) throw notFound();
  const fitting = ROUTES.filter((route) => route.path.test(path!));
  const route = fitting.find(({ method }) => method === request.method);
  if (route === undefined) {
    if (fitting.length === 0) throw notFound();
    throw new SalesforceRefusal('METHOD_NOT_ALLOWED', `HTTP Method '${request.method}' not allowed.`, [], 405);
  }
  const parts = route.path.exec(path!)!.slice(1).map(decodeURIComponent);
  const call: Call = { org, request, version, parts };
  return route.answer(call);
}

function refused(refusal: SalesforceRefusal): DoubleAnswer {
  return { status: refusal.status, json: refusal.body() };
}
