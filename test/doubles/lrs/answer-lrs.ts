import type { DoubleAnswer, DoubleRequest } from '../serve/double-request.js';
import { LrsRefusal } from './lrs-refusal.js';
import type { Lrs, LrsAccount } from './lrs.js';
import { getStatements } from './read-statements.js';
import { postStatements, putStatement } from './store-statements.js';

/** The path of the endpoint: `/statements` and `/about` stand below it. */
export const ENDPOINT = '/xapi';

/** Answers one request of the LRS; every answer carries the version of the specification (Communication, 3.3). */
export function answerLrs(lrs: Lrs, request: DoubleRequest): DoubleAnswer {
  const headers = {
    'x-experience-api-version': '1.0.3',
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
    return { status: 200, json: { version: ['1.0.3', '1.0.0'] } };
  }
  if (request.path !== `${ENDPOINT}/statements`) throw new LrsRefusal(404, 'there is statements and about');
  refuseVersion(request);
  const account = authenticate(lrs, request);
  refuseTooMany(lrs);
  if (Buffer.byteLength(request.body) > lrs.options.maxBytes) {
    throw new LrsRefusal(413, `no more than ${lrs.options.maxBytes} bytes a request`);
  }
  switch (request.method) {
    case 'POST':
      return postStatements(lrs, account, request);
    case 'PUT':
      return putStatement(lrs, account, request);
    case 'GET':
      return getStatements(lrs, request);
    default:
      throw new LrsRefusal(405, 'statements are put, posted and got');
  }
}

function refuseVersion(request: DoubleRequest): void {
  const version = request.headers['x-experience-api-version'];
  if (version === undefined) throw new LrsRefusal(400, 'the header X-Experience-API-Version is missing');
  if (!/^1\.0(\.\d+)?$/.test(version)) throw new LrsRefusal(400, 'X-Experience-API-Version has to be 1.0.x');
}

function authenticate(lrs: Lrs, request: DoubleRequest): LrsAccount {
  const encoded = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(request.headers['authorization'] ?? '')?.[1];
  const pair = encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8');
  const account = lrs.accounts.find(({ username, password }) => pair === `${username}:${password}`);
  if (account === undefined) {
    throw new LrsRefusal(401, 'these credentials are not known', { 'www-authenticate': 'Basic realm="xAPI"' });
  }
  return account;
}

function refuseTooMany(lrs: Lrs): void {
  const waitSeconds = lrs.requestLimit?.take(lrs.now());
  if (waitSeconds !== undefined) {
    throw new LrsRefusal(429, 'too many requests', { 'retry-after': String(waitSeconds) });
  }
}
