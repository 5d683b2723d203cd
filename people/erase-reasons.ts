import type { Ledger } from '../ledger/ledger.js';
import type { ErasureNames } from './erasures.js';
import { personFields, addressesIn } from './find-person.js';
import type { Fields } from '../ledger/item-form.js';

/**
 * Texts that an operator typed, or that quote a file of theirs (its name, its columns, its sheets), and what takes the
 * place of one that names a forgotten person.
 */
const typed = [
  { table: 'pauses', column: 'detail', where: `paused_by = 'person'`, instead: '(reason erased)' },
  { table: 'approvals', column: 'reason', where: 'reason is not null', instead: null },
  { table: 'replays', column: 'reason', where: 'reason is not null', instead: null },
  { table: 'erasures', column: 'reason', where: 'reason is not null', instead: null },
  { table: 'imports', column: 'file', where: 'true', instead: '(name erased)' },
  { table: 'dropped_files', column: 'problem', where: 'problem is not null', instead: '(reason erased)' },
] as const;

/**
 * Erases the reasons that operators typed, and the names and complaints of files, that name the person. It has to run before the person's records are
 * erased: the names are read from them. Safe to run twice. The sentences are compared as texts, so a reason is erased
 * rather than kept if a word of it is also the person's name.
 */
export async function eraseReasons(ledger: Ledger, names: ErasureNames): Promise<void> {
  const texts = namingTexts(names, await personFields(ledger, names.places));
  for (const { table, column, where, instead } of typed) {
    const rows = await ledger.db.query<{ sentence: string }>(
      `select distinct ${column} as sentence from ${table} where ${where}`,
    );
    const theirs = rows.map(({ sentence }) => sentence).filter((sentence) => namesPerson(sentence, texts));
    if (theirs.length === 0) continue;
    await ledger.db.query(`update ${table} set ${column} = $2 where ${where} and ${column} = any($1::text[])`, [
      theirs,
      instead,
    ]);
  }
}

/** Shorter words of a name appear in too many sentences that do not name the person. */
const minWordLength = 3;

/**
 * Returns the texts that name a person in a sentence that an operator typed, in lower case: how the person was named in
 * the request, their ids and codes, their e-mail addresses, and the names in their records, whole and word by word.
 * Pure.
 */
export function namingTexts({ asked, places }: ErasureNames, records: readonly Fields[]): Set<string> {
  const named = records.flatMap((fields) =>
    Object.entries(fields).flatMap(([field, value]) =>
      /name/i.test(field) && typeof value === 'string' ? [value, ...value.split(/[\s,]+/u)] : [],
    ),
  );
  const texts = [
    ...(asked === null ? [] : [asked]),
    ...places.flatMap(({ attendeeIds, codes }) => [...attendeeIds.map(String), ...codes]),
    ...addressesIn(records),
    ...named.filter((text) => text.trim().length >= minWordLength),
  ];
  return new Set(texts.map((text) => text.trim().toLowerCase()).filter((text) => text !== ''));
}

/** Whether a sentence holds one of the texts as words of its own, in any case. Pure. */
export function namesPerson(sentence: string, texts: ReadonlySet<string>): boolean {
  const lower = sentence.toLowerCase();
  return [...texts].some((text) => {
    for (let at = lower.indexOf(text); at >= 0; at = lower.indexOf(text, at + 1)) {
      if (!isWordPart(lower.slice(0, at).at(-1)) && !isWordPart(lower.at(at + text.length))) return true;
    }
    return false;
  });
}

function isWordPart(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}]/u.test(character);
}
