import { essenceOf } from './essence.js';
import type { Lrs, LrsAnswer, LrsSilence } from './lrs.js';
import type { Statement } from './statement.js';

/** What stands at the LRS under the id of a statement that it has refused with 409. */
export type Found =
  | { readonly kind: 'same' | 'different' | 'voided' | 'missing' | 'unreadable' }
  | { readonly kind: 'unknown'; readonly answer: LrsAnswer | LrsSilence };

/** Asks for what holds the id, among what is voided as well: xAPI 1.0.3, Communication, 2.1.3 "GET Statements". */
export async function findUnderId(lrs: Lrs, statement: Statement, signal: AbortSignal): Promise<Found> {
  for (const parameter of ['statementId', 'voidedStatementId'] as const) {
    const answer = await lrs.getStatement(parameter, statement.id, signal);
    if (answer.kind === 'answer' && answer.status === 404) continue;
    if (answer.kind === 'answer' && answer.status === 403) return { kind: 'unreadable' };
    if (answer.kind === 'silence' || answer.status !== 200 || answer.body === undefined) {
      return { kind: 'unknown', answer };
    }
    if (essenceOf(answer.body) !== essenceOf(statement)) return { kind: 'different' };
    return { kind: parameter === 'statementId' ? 'same' : 'voided' };
  }
  return { kind: 'missing' };
}
