import { randomUUID } from 'node:crypto';
import type { DoubleAnswer, DoubleRequest } from '../serve/double-request.js';
import { isObject } from '../json.js';
import { LrsRefusal, voidedBy, type JsonObject, type Lrs, type LrsAccount, type LrsVersion } from './lrs.js';
import { statement as statementRule } from '@learninglocker/xapi-validation/dist/factory';

type Sent = JsonObject & { readonly id: string };

interface Sender {
  readonly account: LrsAccount;
  /** The xAPI version of the request. */
  readonly version: LrsVersion;
}

/** Handles `POST /statements` with one statement or a list. Stores all or none, and returns the ids in order. */
export function postStatements(lrs: Lrs, sender: Sender, request: DoubleRequest): DoubleAnswer {
  refuseParameters(request, []);
  const body = jsonBody(request);
  const list = Array.isArray(body) ? (body as unknown[]) : [body];
  const statements = list.map((statement, index) => valid(statement, `statement ${index}`));
  store(lrs, sender, statements);
  return { status: 200, json: statements.map(({ id }) => id) };
}

function valid(sent: unknown, which: string): Sent {
  const statement = isObject(sent) ? withActivityLists(sent) : sent;
  const problems = statementProblems(statement);
  if (problems.length > 0) throw new LrsRefusal(400, `${which} is not valid: ${problems.join('; ')}`);
  return { id: randomUUID(), ...(statement as JsonObject) };
}

function store(lrs: Lrs, { account, version }: Sender, statements: readonly Sent[]): void {
  if (new Set(statements.map(({ id }) => id.toLowerCase())).size < statements.length) {
    throw new LrsRefusal(400, 'two statements of the request have the same id');
  }
  statements.forEach((statement) => refuseVoiding(lrs, account, statement));
  const fresh = statements.filter((statement) => {
    const known = lrs.store.find(statement.id);
    if (known === undefined) return true;
    if (lrs.options.repeats === 'conflict' || !isSame(lrs, statement, known)) {
      throw new LrsRefusal(409, `a statement with the id ${statement.id} is stored already`);
    }
    return false;
  });
  const authority = { objectType: 'Agent', account: { homePage: lrs.homePage, name: account.username } };
  const assigned = version === '1.0.3' ? '1.0.0' : version; // Data, 2.4.10
  fresh.forEach((statement) => lrs.store.add(statement, authority, assigned));
}

function isSame(lrs: Lrs, statement: Sent, known: JsonObject): boolean {
  return lrs.options.comparison === 'specification'
    ? sameStatement(statement, known)
    : exactlySame(statement, lrs.store.sentAs(statement.id) ?? known);
}

/**
 * Refuses a voiding statement if the account may not void, or if the target is itself a voiding statement. The target
 * may be missing.
 */
function refuseVoiding(lrs: Lrs, account: LrsAccount, statement: Sent): void {
  const target = voidedBy(statement as unknown as Parameters<typeof voidedBy>[0]);
  if (target === undefined) return;
  if (account.mayVoid === false) throw new LrsRefusal(403, 'these credentials may not void statements');
  const known = lrs.store.find(target);
  if (known !== undefined && voidedBy(known) !== undefined) {
    throw new LrsRefusal(400, 'a statement that voids another cannot be voided');
  }
}

/** @throws {LrsRefusal} 400 for an unknown parameter (Communication, 3.2) */
export function refuseParameters(request: DoubleRequest, known: readonly string[]): void {
  const unknown = [...request.query.keys()].find((name) => !known.includes(name));
  if (unknown !== undefined) throw new LrsRefusal(400, `the parameter "${unknown}" is not supported`);
}

function jsonBody(request: DoubleRequest): unknown {
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw new LrsRefusal(400, 'the content type is not application/json');
  try {
    return JSON.parse(request.body) as unknown;
  } catch {
    throw new LrsRefusal(400, 'the body is not JSON');
  }
}

/**
 * Returns the problems of a statement with their positions; empty if it is valid. Applies the validator of a
 * conformance-tested LRS, and a rule that the validator lacks: the ids of interaction components are unique in their
 * list (xAPI 1.0.3, Data, 2.4.4.1).
 */
function statementProblems(statement: unknown): string[] {
  if (!isObject(statement)) return ['a statement is an object'];
  const found = statementRule(statement, ['statement']).map(
    ({ name, path }) => `${name.replace(/Warning$/, '')} at ${path.join('.')}`,
  );
  return found.length > 0 ? found : repeatedComponents(statement['object']);
}

/** Converts single context activities to lists of one (xAPI 1.0.3, Data, 2.4.6.2). */
function withActivityLists(statement: JsonObject): JsonObject {
  const { context } = statement;
  if (!isObject(context) || !isObject(context['contextActivities'])) return statement;
  const lists = Object.entries(context['contextActivities']).map(([kind, value]) => [
    kind,
    isObject(value) ? [value] : value,
  ]);
  return { ...statement, context: { ...context, contextActivities: Object.fromEntries(lists) as JsonObject } };
}

function repeatedComponents(object: unknown): string[] {
  const definition = isObject(object) && isObject(object['definition']) ? object['definition'] : {};
  return ['choices', 'scale', 'source', 'target', 'steps']
    .filter((name) => {
      const components = definition[name];
      if (!Array.isArray(components)) return false;
      const ids = components.map((component: unknown) => (isObject(component) ? component['id'] : undefined));
      return new Set(ids).size < ids.length;
    })
    .map((name) => `an id is repeated at statement.object.definition.${name}`);
}

/** Properties that the LRS may assign; the comparison ignores them (xAPI 1.0.3, Data, 2.3.1). */
const ASSIGNED = ['id', 'authority', 'stored', 'version'];

/**
 * Compares two statements by the comparison requirements of xAPI 1.0.3 (Data, 2.3.1). Ignores the properties that the
 * LRS assigns, the verb's display, definitions of activities, the order of a group's members, the notation of an
 * instant, and the case of an mbox. Compares durations as strings.
 */
function sameStatement(one: JsonObject, other: JsonObject): boolean {
  return JSON.stringify(essence(one, other)) === JSON.stringify(essence(other, one));
}

/** Compares two statements as they were sent, ignoring only the order of keys and the case of the id. */
function exactlySame(one: JsonObject, other: JsonObject): boolean {
  const lowerId = ({ id, ...rest }: JsonObject): JsonObject => ({ ...rest, id: String(id).toLowerCase() });
  return JSON.stringify(sorted(lowerId(one))) === JSON.stringify(sorted(lowerId(other)));
}

function essence(statement: JsonObject, against: JsonObject): unknown {
  const kept = Object.entries(statement).filter(([name]) => !ASSIGNED.includes(name));
  const { timestamp, ...rest } = Object.fromEntries(kept);
  // If only one of them has a timestamp, the LRS assigned it.
  const isCompared = against['timestamp'] !== undefined && typeof timestamp === 'string';
  return canonical({ ...rest, ...(isCompared && { timestamp: new Date(timestamp).toISOString() }) });
}

/** Returns the same JSON with sorted keys, without the parts that the comparison ignores. */
function canonical(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) {
    const entries = value.map((entry) => canonical(entry, name));
    return name === 'member' ? entries.map((entry) => JSON.stringify(entry)).toSorted() : entries;
  }
  if (typeof value === 'string' && name === 'mbox') return value.toLowerCase();
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !(key === 'display' && name === 'verb') && !(key === 'definition' && isActivity(value)))
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, entry]) => [key, key === 'extensions' ? sorted(entry) : canonical(entry, key)]),
  );
}

/** Sorts keys and changes nothing else, since extensions are compared in full. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, entry]) => [key, sorted(entry)]));
}

function isActivity(value: JsonObject): boolean {
  return value['objectType'] === undefined || value['objectType'] === 'Activity';
}
