import type { Queryable } from '../../drivers/database.js';
import { hashedForm } from '../../hashed-form.js';
import type { Fields } from '../../item-form.js';
import type { Ledger } from '../../ledger.js';
import type { PlacedItem } from '../place-items.js';
import type { PageScope } from '../write-changes.js';

/** Lists whose items repeat the question that they are about. */
export const listsWithQuestions = ['votes', 'answer_ratings'] as const;

/**
 * What of a page is to be written once somebody of the workspace is forgotten: nothing of theirs, and what others' items
 * repeat of their questions without its text. Asks only for what differs, so a page that is known costs nothing.
 */
export async function withoutForgotten(
  ledger: Ledger,
  tx: Queryable,
  scope: Pick<PageScope, 'workspace' | 'ref' | 'list'>,
  placed: readonly PlacedItem[],
): Promise<PlacedItem[]> {
  const kept = await withoutTheirs(ledger, tx, scope, placed);
  if (kept.length === 0 || !(listsWithQuestions as readonly string[]).includes(scope.list)) return kept;
  const questions = new Set(kept.flatMap(({ item }) => questionIdOf(item.fields) ?? []));
  const erased = await erasedQuestions(tx, scope.ref, [...questions]);
  if (erased.size === 0) return kept;
  return kept.map((each) => {
    const id = questionIdOf(each.item.fields);
    if (id === undefined || !erased.has(id)) return each;
    const fields = withoutQuestionText(each.item.fields);
    return { ...each, item: { ...each.item, fields }, ...hashedForm(ledger.hash, scope.list, fields, each.visibility) };
  });
}

async function withoutTheirs(
  ledger: Ledger,
  tx: Queryable,
  { workspace }: Pick<PageScope, 'workspace'>,
  placed: readonly PlacedItem[],
): Promise<PlacedItem[]> {
  const people = new Map(
    placed.flatMap(({ item: { attendeeId } }) =>
      attendeeId === null ? [] : [[attendeeId, ledger.hash.subject(workspace, attendeeId, 'named')] as const],
    ),
  );
  if (people.size === 0) return [...placed];
  const rows = await tx.query<{ subject: Buffer }>(
    'select subject from forgotten where workspace = $1 and subject = any($2::bytea[])',
    [workspace, [...people.values()]],
  );
  if (rows.length === 0) return [...placed];
  const forgotten = new Set(rows.map(({ subject }) => subject.toString('hex')));
  return placed.filter(({ item: { attendeeId } }) => {
    const subject = attendeeId === null ? undefined : people.get(attendeeId);
    return subject === undefined || !forgotten.has(subject.toString('hex'));
  });
}

/** Of these questions of a pigeonhole, those that are erased. */
export async function erasedQuestions(tx: Queryable, ref: number, ids: readonly number[]): Promise<Set<number>> {
  if (ids.length === 0) return new Set();
  const rows = await tx.query<{ key: string }>(
    `select distinct key from items
     where ref = $1 and list in ('questions', 'qna-questions') and key = any($2::text[]) and erased`,
    [ref, ids.map(String)],
  );
  return new Set(rows.map(({ key }) => Number(key)));
}

/** The question that an item is about. Pure. */
export function questionIdOf(fields: Fields): number | undefined {
  const { question } = fields;
  if (question === null || typeof question !== 'object') return undefined;
  const { id } = question as Fields;
  return typeof id === 'number' ? id : undefined;
}

/** An item that names its question and repeats nothing of it. Pure; running it twice changes nothing. */
export function withoutQuestionText(fields: Fields): Fields {
  return { ...fields, question: { id: questionIdOf(fields) } };
}
