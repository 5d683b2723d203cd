import { randomUUID } from 'node:crypto';
import type { DoubleAnswer, DoubleRequest } from '../serve/double-request.js';
import { LrsRefusal, type Lrs, type LrsAccount, type LrsVersion, type Statement } from './lrs.js';
import { postStatements, refuseParameters } from './store-statements.js';

/** The path of the endpoint, which has the resources `/statements` and `/about`. */
export const ENDPOINT = '/xapi';
export const TOKEN_PATH = '/oauth/token';

/** Answers one request to the LRS. Every answer has the version of the specification (Communication, 3.3). */
export function answerLrs(lrs: Lrs, request: DoubleRequest): DoubleAnswer {
  const headers = {
    'x-experience-api-version': versionOf(lrs, request) ?? lrs.options.versions.at(-1)!,
    'x-experience-api-consistent-through': new Date(lrs.now() - lrs.options.visibleAfterMs).toISOString(),
    'x-request-id': `double-${request.number}`,
  };
  try {
    const answer = route(lrs, request);
    return { ...answer, headers: { ...headers, ...answer.headers } };
  } catch (error) {
    if (!(error instanceof LrsRefusal)) throw error;
    return { status: error.status, headers: { ...headers, ...error.headers }, json: { message: error.message } };
  }
}

function route(lrs: Lrs, request: DoubleRequest): DoubleAnswer {
  if (request.path === `${ENDPOINT}/about` && request.method === 'GET') {
    const listed = { '1.0.3': ['1.0.3', '1.0.0'], '2.0.0': ['2.0.0'] };
    return { status: 200, json: { version: lrs.options.versions.flatMap((version) => listed[version]) } };
  }
  if (request.path === TOKEN_PATH && request.method === 'POST') return issueToken(lrs, request);
  if (request.path !== `${ENDPOINT}/statements`)
    throw new LrsRefusal(404, 'unknown resource; statements and about are supported');
  const version = readVersion(lrs, request);
  const sender = { account: authenticate(lrs, request), version };
  if (Buffer.byteLength(request.body) > lrs.options.maxBytes) {
    throw new LrsRefusal(413, `at most ${lrs.options.maxBytes} bytes per request`);
  }
  if (request.method === 'POST') return postStatements(lrs, sender, request);
  if (request.method === 'GET' && sender.account.mayRead === false)
    throw new LrsRefusal(403, 'this account may not read');
  if (request.method === 'GET')
    return request.query.has('since') ? listStatements(lrs, request) : getStatement(lrs, request);
  throw new LrsRefusal(405, 'this method is not supported; send statements with POST and read them with GET');
}

/** Handles `GET /statements` with the id of one statement. A voided statement is found only by `voidedStatementId`. */
function getStatement(lrs: Lrs, request: DoubleRequest): DoubleAnswer {
  const id = request.query.get('statementId');
  const voidedId = request.query.get('voidedStatementId');
  refuseParameters(request, ['statementId', 'voidedStatementId']);
  if ((id === null) === (voidedId === null)) {
    throw new LrsRefusal(400, 'either statementId or voidedStatementId is needed');
  }
  const statement = lrs.store.find(id ?? voidedId!);
  const isVoided = statement !== undefined && lrs.store.voiderOf(statement.id) !== undefined;
  if (statement === undefined || !isVisible(lrs, statement) || isVoided !== (voidedId !== null)) {
    throw new LrsRefusal(404, 'there is no such statement');
  }
  return { status: 200, headers: { 'last-modified': new Date(statement.stored).toUTCString() }, json: statement };
}

/** Handles `GET /statements` with `since`: the statements stored after it, newest first, without those that were voided. */
function listStatements(lrs: Lrs, request: DoubleRequest): DoubleAnswer {
  refuseParameters(request, ['since', 'limit']);
  const since = Date.parse(request.query.get('since')!);
  const limit = Number(request.query.get('limit') ?? 0);
  if (Number.isNaN(since) || !Number.isInteger(limit) || limit < 0)
    throw new LrsRefusal(400, 'since or limit is invalid');
  const found = lrs.store.all
    .filter(
      (each) => Date.parse(each.stored) > since && isVisible(lrs, each) && lrs.store.voiderOf(each.id) === undefined,
    )
    .toReversed();
  return { status: 200, json: { statements: found.slice(0, limit === 0 ? undefined : limit), more: '' } };
}

/** Whether a statement can be read already. An LRS may confirm the storage of a statement before it can be read. */
function isVisible(lrs: Lrs, { stored }: Statement): boolean {
  const { visibleAfterMs } = lrs.options;
  return visibleAfterMs === 0 || Date.parse(stored) <= lrs.now() - visibleAfterMs;
}

function readVersion(lrs: Lrs, request: DoubleRequest): LrsVersion {
  if (request.headers['x-experience-api-version'] === undefined) {
    throw new LrsRefusal(400, 'the header X-Experience-API-Version is missing');
  }
  const version = versionOf(lrs, request);
  if (version !== undefined) return version;
  const texts = lrs.options.versions.map((each) => each.replace(/\d+$/, 'x'));
  throw new LrsRefusal(400, `X-Experience-API-Version must be ${texts.join(' or ')}`);
}

/** Returns the version of the request; `undefined` if the LRS does not accept it. */
function versionOf(lrs: Lrs, request: DoubleRequest): LrsVersion | undefined {
  const forms = { '1.0.3': /^1\.0(\.\d+)?$/, '2.0.0': /^2\.0(\.\d+)?$/ };
  return lrs.options.versions.find((version) => forms[version].test(request.headers['x-experience-api-version'] ?? ''));
}

/** Issues a token for an account's client id and secret, from the header or the form (RFC 6749, 4.4). */
function issueToken(lrs: Lrs, request: DoubleRequest): DoubleAnswer {
  const form = new URLSearchParams(request.body);
  if (form.get('grant_type') !== 'client_credentials') {
    return { status: 400, json: { error: 'unsupported_grant_type' } };
  }
  const pair = basicPair(request) ?? `${form.get('client_id')}:${form.get('client_secret')}`;
  const account = lrs.accounts.find(({ username, password }) => pair === `${username}:${password}`);
  if (account === undefined) return { status: 401, json: { error: 'invalid_client' } };
  const token = randomUUID();
  lrs.tokens.set(token, account);
  return { status: 200, json: { access_token: token, token_type: 'Bearer', expires_in: 3600 } };
}

function basicPair(request: DoubleRequest): string | undefined {
  const encoded = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(request.headers['authorization'] ?? '')?.[1];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8');
}

function authenticate(lrs: Lrs, request: DoubleRequest): LrsAccount {
  const pair = basicPair(request);
  const token = /^Bearer (\S+)$/.exec(request.headers['authorization'] ?? '')?.[1];
  const account =
    token === undefined
      ? lrs.accounts.find(({ username, password }) => pair === `${username}:${password}`)
      : lrs.tokens.get(token);
  if (account === undefined) {
    throw new LrsRefusal(401, 'these credentials are not known', { 'www-authenticate': 'Basic realm="xAPI"' });
  }
  return account;
}
