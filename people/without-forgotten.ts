import { storeErased, unlinkTombstonesOf } from '../ledger/items/remove-items.js';
import { listSet } from '../ledger/sql-expressions.js';
import { questionLists, serviceListsWhere } from '../base/lists.js';
import type { Queryable } from '../ledger/drivers/database.js';
import { hashedForm, type Fields } from '../ledger/item-form.js';
import type { Ledger } from '../ledger/ledger.js';
import type { DifferingItem } from '../ledger/items/compare-items.js';
import type { PageScope } from '../ledger/items/write-changes.js';
import { forgetHolders, resumeErasuresOf } from './erasure-states.js';

type PagePlace = Pick<PageScope, 'workspace' | 'pigeonholeNumber' | 'list' | 'streamId'>;

/** Lists whose items repeat the question that they are about. */
export const listsWithQuestions = serviceListsWhere(({ repeatsQuestions }) => repeatsQuestions);

/**
 * Returns the items of a page that may be written. Call it if people were forgotten in the workspace. Leaves out the
 * items of forgotten people, and removes the text of their questions from other people's items. Considers only items
 * that differ from the stored ones, so an unchanged page causes no query.
 */
export async function withoutForgotten(
  ledger: Ledger,
  tx: Queryable,
  scope: PagePlace,
  differingItems: readonly DifferingItem[],
): Promise<DifferingItem[]> {
  const kept = await withoutItemsOfForgotten(ledger, tx, scope, differingItems);
  if (kept.length === 0 || !(listsWithQuestions as readonly string[]).includes(scope.list)) return kept;
  const questions = new Set(kept.flatMap(({ item }) => questionIdOf(item.fields) ?? []));
  const erased = await erasedQuestions(tx, scope.pigeonholeNumber, [...questions]);
  if (erased.size === 0) return kept;
  return kept.map((each) => {
    const id = questionIdOf(each.item.fields);
    if (id === undefined || !erased.has(id)) return each;
    const fields = withoutQuestionText(each.item.fields);
    return { ...each, item: { ...each.item, fields }, ...hashedForm(ledger.hash, scope.list, fields, each.visibility) };
  });
}

async function withoutItemsOfForgotten(
  ledger: Ledger,
  tx: Queryable,
  scope: PagePlace,
  differingItems: readonly DifferingItem[],
): Promise<DifferingItem[]> {
  const { workspace } = scope;
  if (scope.list === 'attendees') await forgetAttendeesWithCodes(ledger, tx, scope, differingItems);
  const people = new Map(
    differingItems.flatMap(({ item: { attendeeId } }) =>
      attendeeId === null ? [] : [[attendeeId, ledger.hash.subject(workspace, attendeeId, 'named')] as const],
    ),
  );
  if (people.size === 0) return [...differingItems];
  const rows = await tx.query<{ subject: Buffer }>(
    'select subject from forgotten where workspace = $1 and subject = any($2::bytea[])',
    [workspace, [...people.values()]],
  );
  if (rows.length === 0) return [...differingItems];
  const forgotten = new Set(rows.map(({ subject }) => subject.toString('hex')));
  const isTheirs = ({ item: { attendeeId } }: DifferingItem): boolean => {
    const subject = attendeeId === null ? undefined : people.get(attendeeId);
    return subject !== undefined && forgotten.has(subject.toString('hex'));
  };
  if (questionLists.has(scope.list)) {
    const questions = differingItems.flatMap((each) => {
      const { item, known, visibility } = each;
      if (!isTheirs(each) || known !== undefined) return [];
      const purpose = visibility === 'named' ? 'named' : 'anonymous';
      return [{ key: item.key, subject: ledger.hash.subject(workspace, item.attendeeId!, purpose) }];
    });
    await storeQuestionKeys(tx, scope, questions);
  }
  return differingItems.filter((each) => !isTheirs(each));
}

/** Forgets attendees who use a forgotten code. */
async function forgetAttendeesWithCodes(
  ledger: Ledger,
  tx: Queryable,
  { workspace, pigeonholeNumber }: PagePlace,
  differingItems: readonly DifferingItem[],
): Promise<void> {
  const holders = differingItems.flatMap(({ item: { attendeeId, fields } }) => {
    const { attendeeCode: code } = fields;
    return attendeeId === null || typeof code !== 'string' || code === ''
      ? []
      : [{ attendeeId, codeHash: ledger.hash.attendeeCode(code) }];
  });
  if (holders.length === 0) return;
  const subjects = (['named', 'anonymous'] as const).flatMap((purpose) =>
    holders.map(({ attendeeId, codeHash }) => ({
      codeHash,
      subject: ledger.hash.subject(workspace, attendeeId, purpose),
    })),
  );
  await forgetHolders(tx, { workspace, pigeonholeNumber }, subjects);
}

/**
 * Stores the key, and nothing else, of a question that a person asked after they were forgotten. The key is needed to
 * recognize the question's text in other people's items. If the ledger already has such items, the erasure is resumed
 * to remove the text from them.
 */
async function storeQuestionKeys(
  tx: Queryable,
  { workspace, pigeonholeNumber, list, streamId }: PagePlace,
  questions: readonly { readonly key: string; readonly subject: Buffer }[],
): Promise<void> {
  if (questions.length === 0) return;
  const keys = questions.map(({ key }) => key);
  await storeErased(tx, { pigeonholeNumber, list, streamId }, questions);
  const [repeating] = await tx.query(
    `select 1 from items i cross join unnest($2::text[]) as n (key)
     where i.pigeonhole_number = $1 and i.list = any($3::text[]) and i.payload is not null
       and position('"question":{"content"' in i.payload::text) > 0 and position('"id":' || n.key in i.payload::text) > 0
     limit 1`,
    [pigeonholeNumber, keys, listsWithQuestions],
  );
  if (repeating !== undefined) {
    await resumeErasuresOf(
      tx,
      workspace,
      questions.map(({ subject }) => subject),
    );
  }
  // An erasure that is not finished needs the subject to find the question; a finished one removes it (`endErasure`).
  await unlinkTombstonesOf(tx, { pigeonholeNumber, list }, keys);
}

/** Returns the ids of those questions that are erased in the pigeonhole. */
export async function erasedQuestions(
  tx: Queryable,
  pigeonholeNumber: number,
  ids: readonly number[],
): Promise<Set<number>> {
  if (ids.length === 0) return new Set();
  const rows = await tx.query<{ key: string }>(
    `select distinct key from items
     where pigeonhole_number = $1 and list in ${listSet(questionLists)} and key = any($2::text[]) and erased`,
    [pigeonholeNumber, ids.map(String)],
  );
  return new Set(rows.map(({ key }) => Number(key)));
}

/** Returns the id of the question that an item is about. Pure. */
export function questionIdOf(fields: Fields): number | undefined {
  const { question } = fields;
  if (question === null || typeof question !== 'object') return undefined;
  const { id } = question as Fields;
  return typeof id === 'number' ? id : undefined;
}

/**
 * Removes from an item everything about its question except the question's id. Pure; running it twice changes nothing.
 */
export function withoutQuestionText(fields: Fields): Fields {
  return { ...fields, question: { id: questionIdOf(fields) } };
}
