import { canonicalJson } from '../ledger/canonical-json.js';
import { questionLists } from '../base/lists.js';
import { listSet } from '../ledger/sql-expressions.js';
import type { Queryable } from '../ledger/drivers/database.js';
import { hashedForm, type Fields } from '../ledger/item-form.js';
import { insertNextChanges, nextChanges, type StoredItem, storedItemColumns } from '../ledger/items/next-changes.js';
import type { Ledger } from '../ledger/ledger.js';
import { lockPlaceWithLanes } from '../ledger/lock-order.js';
import { storeWithoutCopies } from '../ledger/items/remove-items.js';
import { rewriteSnapshots } from '../ledger/items/snapshots.js';
import { namesOfSinksInUse } from '../ledger/sinks.js';
import { sequencesOf } from './erase-items.js';
import { recordHolders } from './held-items.js';
import { reopenLaneReceipts } from './erasure-states.js';
import { erasedQuestions, listsWithQuestions, questionIdOf, withoutQuestionText } from './without-forgotten.js';

/** Maximum number of items that one transaction rewrites. */
const itemsAtOnce = 200;

interface RepeatingItem extends StoredItem {
  readonly payload: string;
}

/** The item after which a slice starts. */
interface CopiesPosition {
  readonly list: string;
  readonly key: string;
}

/**
 * Removes the text of erased questions from the items that repeat it: the votes and ratings of other attendees. The
 * vote or rating itself stays the same but gets a new revision, so that sinks that keep current records overwrite the
 * text. Safe to run twice.
 * @returns the number of rewritten items; the item after which the next slice starts, or null if this was the last
 *   slice; and the names of the sinks that need a wake signal
 */
export async function eraseCopies(
  ledger: Ledger,
  { erasure, pigeonholeNumber }: { readonly erasure: number; readonly pigeonholeNumber: number },
  after: CopiesPosition,
): Promise<{ readonly rewritten: number; readonly next: CopiesPosition | null; readonly woken: readonly string[] }> {
  return await ledger.db.transaction(async (tx) => {
    const place = await lockPlaceWithLanes(tx, pigeonholeNumber);
    // The statement compares only texts, because PostgreSQL cannot read the members of a JSON text that contains NUL.
    // The code below parses the payloads found and compares the ids exactly.
    const found = await tx.query<RepeatingItem>(
      `select ${storedItemColumns}, payload::text as payload
       from items i
       where i.pigeonhole_number = $1 and i.list = any($2::text[]) and i.payload is not null
         and (i.list, i.key) > ($3, $4)
         and exists (select 1 from items q where q.pigeonhole_number = $1 and q.list in ${listSet(questionLists)}
           and q.erased and position('"id":' || q.key in i.payload::text) > 0
           and position('"question":{"id":' || q.key || '}' in i.payload::text) = 0)
       order by i.list, i.key limit ${itemsAtOnce}`,
      [pigeonholeNumber, listsWithQuestions, after.list, after.key],
    );
    const last = found.at(-1);
    if (place === undefined) return { rewritten: 0, next: null, woken: [] };
    const next = last === undefined || found.length < itemsAtOnce ? null : { list: last.list, key: last.key };
    const earlier = next === null ? await eraseEarlierCopies(tx, { erasure, pigeonholeNumber }) : 0;
    const ids = found.flatMap(({ payload }) => questionIdOf(JSON.parse(payload) as Fields) ?? []);
    const erased = await erasedQuestions(tx, pigeonholeNumber, [...new Set(ids)]);
    const rows = found.filter(({ payload }) => erased.has(questionIdOf(JSON.parse(payload) as Fields) ?? Number.NaN));
    if (rows.length === 0) return { rewritten: earlier, next, woken: [] };
    const changed = nextChanges(place, 'updated', rows).map((row) => {
      const fields = withoutQuestionText(JSON.parse(row.payload) as Fields);
      const { copiesHash } = hashedForm(ledger.hash, row.list, fields, row.visibility);
      return { ...row, stored: canonicalJson(fields), copiesHash };
    });
    const history = await sequencesOf(tx, pigeonholeNumber, rows);
    await storeWithoutCopies(tx, pigeonholeNumber, changed);
    // Keeps the erasure open until the sinks that received the text have received the revision without it.
    await recordHolders(tx, { erasure, pigeonholeNumber, history, removals: changed });
    await reopenLaneReceipts(tx, { erasure, pigeonholeNumber });
    // Removes the text from earlier revisions as well, so that a sink that lags behind does not receive it.
    await rewriteEarlier(tx, pigeonholeNumber, changed, withoutQuestionText);
    await insertNextChanges(tx, pigeonholeNumber, changed);
    return { rewritten: earlier + changed.length, next, woken: await namesOfSinksInUse(tx) };
  });
}

interface EarlierRow extends Pick<StoredItem, 'list' | 'key' | 'lastSequence'> {
  readonly snapshot: string;
}

/** Removes the question's text from earlier revisions of votes and ratings whose latest revision is without it. */
async function eraseEarlierCopies(
  tx: Queryable,
  { erasure, pigeonholeNumber }: { readonly erasure: number; readonly pigeonholeNumber: number },
): Promise<number> {
  const rows = await tx.query<EarlierRow>(
    `select c.list, c.key, c.snapshot::text as snapshot, i.last_sequence as "lastSequence"
     from changes c join items i on i.pigeonhole_number = c.pigeonhole_number and i.list = c.list and i.key = c.key
     where c.pigeonhole_number = $1 and c.list = any($2::text[]) and c.snapshot is not null
       and exists (select 1 from items q where q.pigeonhole_number = $1 and q.list in ${listSet(questionLists)}
         and q.erased and position('"id":' || q.key in c.snapshot::text) > 0
         and position('"question":{"id":' || q.key || '}' in c.snapshot::text) = 0)`,
    [pigeonholeNumber, listsWithQuestions],
  );
  const parsed = rows.map((row) => ({ ...row, id: questionIdOf(JSON.parse(row.snapshot) as Fields) }));
  const erased = await erasedQuestions(tx, pigeonholeNumber, [...new Set(parsed.flatMap(({ id }) => id ?? []))]);
  const withErasedText = parsed.filter(({ id }) => id !== undefined && erased.has(id));
  if (withErasedText.length === 0) return 0;
  await rewriteEarlier(tx, pigeonholeNumber, withErasedText, (fields) =>
    erased.has(questionIdOf(fields) ?? Number.NaN) ? withoutQuestionText(fields) : fields,
  );
  const items = [...new Map(withErasedText.map((row) => [`${row.list} ${row.key}`, row])).values()];
  const removals = items.map(({ list, key, lastSequence: sequence }) => ({ list, key, sequence }));
  await recordHolders(tx, {
    erasure,
    pigeonholeNumber,
    history: await sequencesOf(tx, pigeonholeNumber, items),
    removals,
  });
  await reopenLaneReceipts(tx, { erasure, pigeonholeNumber });
  return items.length;
}

/** Rewrites the earlier revisions of items. */
async function rewriteEarlier(
  tx: Queryable,
  pigeonholeNumber: number,
  items: readonly Pick<StoredItem, 'list' | 'key'>[],
  rewritten: (fields: Fields) => Fields,
): Promise<void> {
  for (const list of listsWithQuestions) {
    const keys = new Set(items.filter((item) => item.list === list).map(({ key }) => key));
    if (keys.size > 0) await rewriteSnapshots(tx, { pigeonholeNumber, list }, [...keys], rewritten);
  }
}
