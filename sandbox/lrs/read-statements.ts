import type { DoubleAnswer, DoubleRequest } from '../serve/double-request.js';
import { LrsRefusal, type Lrs } from './lrs.js';
import { isObject, type JsonObject, type Statement } from './statement-store.js';
import { refuseParameters } from './store-statements.js';

/** The supported filters. The specification has more. */
const FILTERS = ['agent', 'verb', 'activity', 'registration', 'since', 'until', 'limit', 'ascending', 'from'];
const MAX_PAGE = 100;

/** Handles `GET /statements`: one statement by id, or a list, newest first. Voided ones are found only as voided. */
export function getStatements(lrs: Lrs, request: DoubleRequest): DoubleAnswer {
  const id = request.query.get('statementId');
  const voidedId = request.query.get('voidedStatementId');
  if (id === null && voidedId === null) return listStatements(lrs, request);
  if (id !== null && voidedId !== null)
    throw new LrsRefusal(400, 'statementId and voidedStatementId exclude each other');
  refuseParameters(request, ['statementId', 'voidedStatementId', 'attachments', 'format']);
  refuseUnknownFormat(request);
  const asked = id ?? voidedId!;
  const statement = lrs.store.find(asked);
  const isVoided = lrs.store.voiderOf(asked) !== undefined;
  if (statement === undefined || !isVisible(lrs, statement) || isVoided !== (voidedId !== null))
    throw new LrsRefusal(404, 'there is no such statement');
  return {
    status: 200,
    headers: { 'last-modified': new Date(statement.stored).toUTCString() },
    json: statement,
  };
}

function listStatements(lrs: Lrs, request: DoubleRequest): DoubleAnswer {
  refuseParameters(request, [...FILTERS, 'attachments', 'format']);
  refuseUnknownFormat(request);
  const matching = lrs.store.all
    .filter((statement) => isVisible(lrs, statement) && lrs.store.voiderOf(statement.id) === undefined)
    .filter((statement) => isInTime(statement, request) && matches(lrs, statement, request));
  const ordered = request.query.get('ascending') === 'true' ? matching : matching.toReversed();
  const from = Number(request.query.get('from') ?? 0);
  const limit = Math.min(readLimit(request) || MAX_PAGE, MAX_PAGE);
  return {
    status: 200,
    json: {
      statements: ordered.slice(from, from + limit),
      ...(from + limit < ordered.length && { more: moreOf(request, from + limit) }),
    },
  };
}

/** Whether a statement can be read already. An LRS may confirm the storage of a statement before it can be read. */
function isVisible(lrs: Lrs, { stored }: Statement): boolean {
  const { visibleAfterMs } = lrs.options;
  return visibleAfterMs === 0 || Date.parse(stored) <= lrs.now() - visibleAfterMs;
}

function isInTime(statement: Statement, request: DoubleRequest): boolean {
  const since = instant(request, 'since');
  const until = instant(request, 'until');
  const storedMs = Date.parse(statement.stored);
  return (since === undefined || storedMs > since) && (until === undefined || storedMs <= until);
}

/** Whether a statement, or the statement that it refers to, passes the filters (Communication, 2.1.3). */
function matches(lrs: Lrs, statement: Statement, request: DoubleRequest): boolean {
  const { query } = request;
  const isRegistration = (): boolean => {
    const context = statement['context'];
    return !query.has('registration') || (isObject(context) && context['registration'] === query.get('registration'));
  };
  const passes =
    (!query.has('verb') || statement.verb['id'] === query.get('verb')) &&
    (!query.has('activity') || isActivityOf(statement, query.get('activity')!)) &&
    (!query.has('agent') || isAgentOf(statement, readAgent(query.get('agent')!))) &&
    isRegistration();
  if (passes || statement.object['objectType'] !== 'StatementRef') return passes;
  const target = lrs.store.find(String(statement.object['id']));
  return target !== undefined && matches(lrs, target, request);
}

function isActivityOf({ object }: Statement, id: string): boolean {
  return (object['objectType'] ?? 'Activity') === 'Activity' && object['id'] === id;
}

function isAgentOf({ actor, object }: Statement, agent: JsonObject): boolean {
  return [actor, object].some((candidate) => identifierOf(candidate) === identifierOf(agent));
}

/** Returns the inverse functional identifier of an agent as text; `undefined` for anything else. */
function identifierOf(agent: JsonObject): string | undefined {
  const { mbox, mbox_sha1sum: sha1, openid, account } = agent;
  if (isObject(account)) return JSON.stringify([account['homePage'], account['name']]);
  const identifier = mbox ?? sha1 ?? openid;
  return typeof identifier === 'string' ? identifier : undefined;
}

function readAgent(text: string): JsonObject {
  try {
    const agent: unknown = JSON.parse(text);
    if (isObject(agent) && identifierOf(agent) !== undefined) return agent;
  } catch {
    // not JSON: refused below, like JSON that is not an agent
  }
  throw new LrsRefusal(400, 'the parameter agent is not an agent');
}

function instant(request: DoubleRequest, name: 'since' | 'until'): number | undefined {
  const value = request.query.get(name);
  if (value === null) return undefined;
  const ms = Date.parse(value);
  if (Number.isNaN(ms)) throw new LrsRefusal(400, `the parameter ${name} is not a timestamp`);
  return ms;
}

function readLimit(request: DoubleRequest): number {
  const value = request.query.get('limit') ?? '0';
  if (!/^\d+$/.test(value)) throw new LrsRefusal(400, 'the parameter limit is not a whole number of 0 or more');
  return Number(value);
}

function moreOf(request: DoubleRequest, from: number): string {
  const query = new URLSearchParams(request.query);
  query.set('from', String(from));
  return `${request.path}?${query.toString()}`;
}

/** Refuses every format except `exact`, which is the only supported one. */
function refuseUnknownFormat(request: DoubleRequest): void {
  if ((request.query.get('format') ?? 'exact') !== 'exact')
    throw new LrsRefusal(400, 'this LRS supports only the format exact');
  if ((request.query.get('attachments') ?? 'false') !== 'false')
    throw new LrsRefusal(400, 'this LRS does not support attachments');
}
