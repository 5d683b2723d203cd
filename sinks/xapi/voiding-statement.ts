import type { Statement } from './statement.js';
import { voidingId } from './statement-id.js';
import { verbs } from './vocabulary.js';

/**
 * Takes a statement back: xAPI 1.0.3, Data, 2.3.2 "Voiding". Said by pigeonpost itself, since it must name nobody, and
 * without a time, so that it is the same statement whatever change it comes with.
 */
export function voidingStatement(id: string, homePage: string): Statement {
  return {
    id: voidingId(id),
    actor: { objectType: 'Agent', account: { homePage, name: 'pigeonpost' } },
    verb: verbs.voided,
    object: { objectType: 'StatementRef', id },
  };
}
