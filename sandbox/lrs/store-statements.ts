import { randomUUID } from 'node:crypto';
import type { DoubleAnswer, DoubleRequest } from '../serve/double-request.js';
import { statementProblems, withActivityLists } from './check-statement.js';
import { LrsRefusal } from './lrs-refusal.js';
import type { Lrs, LrsAccount } from './lrs.js';
import { exactlySame, sameStatement } from './same-statement.js';
import { isObject, voidedBy, type JsonObject } from './statement.js';

type Sent = JsonObject & { readonly id: string };

/** `POST /statements`: one statement or a list. All are stored or none; answers the ids in the order of the list. */
export function postStatements(lrs: Lrs, account: LrsAccount, request: DoubleRequest): DoubleAnswer {
  refuseParameters(request, []);
  const body = jsonBody(request);
  const list = Array.isArray(body) ? (body as unknown[]) : [body];
  if (lrs.options.maxStatements !== undefined && list.length > lrs.options.maxStatements) {
    throw new LrsRefusal(413, `no more than ${lrs.options.maxStatements} statements a request`);
  }
  const statements = list.map((statement, index) => valid(statement, `statement ${index}`));
  store(lrs, account, statements);
  return { status: 200, json: statements.map(({ id }) => id) };
}

/** `PUT /statements?statementId=…`: one statement under that id. */
export function putStatement(lrs: Lrs, account: LrsAccount, request: DoubleRequest): DoubleAnswer {
  refuseParameters(request, ['statementId']);
  const id = request.query.get('statementId');
  if (id === null) throw new LrsRefusal(400, 'PUT needs the parameter statementId');
  const body = jsonBody(request);
  const statement = valid(isObject(body) ? { id, ...body } : body, 'the statement');
  if (statement.id.toLowerCase() !== id.toLowerCase()) {
    throw new LrsRefusal(400, 'the id of the statement is not that of the parameter statementId');
  }
  store(lrs, account, [statement]);
  return { status: 204 };
}

function valid(sent: unknown, which: string): Sent {
  const statement = isObject(sent) ? withActivityLists(sent) : sent;
  const problems = statementProblems(statement);
  if (problems.length > 0) throw new LrsRefusal(400, `${which} is not valid: ${problems.join('; ')}`);
  return { id: randomUUID(), ...(statement as JsonObject) };
}

function store(lrs: Lrs, account: LrsAccount, statements: readonly Sent[]): void {
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
  fresh.forEach((statement) => lrs.store.add(statement, authority));
}

function isSame(lrs: Lrs, statement: Sent, known: JsonObject): boolean {
  return lrs.options.comparison === 'specification'
    ? sameStatement(statement, known)
    : exactlySame(statement, lrs.store.sentAs(statement.id) ?? known);
}

/** Voiding needs the right to do it, and a target that is not itself a voiding statement; the target may be missing. */
function refuseVoiding(lrs: Lrs, account: LrsAccount, statement: Sent): void {
  const target = voidedBy(statement as unknown as Parameters<typeof voidedBy>[0]);
  if (target === undefined) return;
  if (account.mayVoid === false) throw new LrsRefusal(403, 'these credentials may not void statements');
  const known = lrs.store.find(target);
  if (known !== undefined && voidedBy(known) !== undefined && lrs.options.voidingOfVoiding === 'refused') {
    throw new LrsRefusal(400, 'a statement that voids another cannot be voided');
  }
}

/** @throws {LrsRefusal} 400 for a parameter that the resource does not know (Communication, 1.2 of the requirements on parameters) */
export function refuseParameters(request: DoubleRequest, known: readonly string[]): void {
  const unknown = [...request.query.keys()].find((name) => !known.includes(name));
  if (unknown !== undefined) throw new LrsRefusal(400, `the parameter "${unknown}" is not known here`);
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
