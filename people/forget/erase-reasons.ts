import type { Ledger } from '../../ledger/ledger.js';
import type { ErasureNames } from './erasure.js';
import { namesPerson, namingTexts } from './names-person.js';
import { personFields } from './person-fields.js';

/** Tables with a sentence that an operator typed, and what takes the place of one that names a forgotten person. */
const typed = [
  { table: 'pauses', column: 'detail', where: `paused_by = 'person'`, instead: '(reason erased)' },
  { table: 'approvals', column: 'reason', where: 'reason is not null', instead: null },
  { table: 'replays', column: 'reason', where: 'reason is not null', instead: null },
  { table: 'erasures', column: 'reason', where: 'reason is not null', instead: null },
] as const;

/**
 * Erases the reasons that operators typed and that name the person. It has to run before the person's records are
 * erased: the names are read from them. Safe to run twice. The sentences are compared as texts, so a reason is erased
 * rather than kept if a word of it is also the person's name.
 */
export async function eraseReasons(ledger: Ledger, names: ErasureNames): Promise<void> {
  const texts = namingTexts(names, await personFields(ledger, names.places));
  for (const { table, column, where, instead } of typed) {
    // oxlint-disable-next-line no-await-in-loop -- four small tables
    const rows = await ledger.db.query<{ sentence: string }>(
      `select distinct ${column} as sentence from ${table} where ${where}`,
    );
    const theirs = rows.map(({ sentence }) => sentence).filter((sentence) => namesPerson(sentence, texts));
    if (theirs.length === 0) continue;
    // oxlint-disable-next-line no-await-in-loop
    await ledger.db.query(`update ${table} set ${column} = $2 where ${where} and ${column} = any($1::text[])`, [
      theirs,
      instead,
    ]);
  }
}
