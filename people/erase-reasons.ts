import type { Ledger } from '../ledger/ledger.js';
import type { ErasureNames } from './erasures.js';
import { personFields, addressesIn, waysToName } from './find-person.js';
import type { Fields } from '../ledger/item-form.js';

/**
 * Columns with texts that an operator typed, or that quote the name, the columns or the sheets of an operator's file.
 * If a text names a forgotten person, `instead` replaces it.
 */
const operatorTexts = [
  { table: 'pauses', column: 'detail', where: `paused_by = 'person'`, instead: '(reason erased)' },
  { table: 'approvals', column: 'reason', where: 'reason is not null', instead: null },
  { table: 'replays', column: 'reason', where: 'reason is not null', instead: null },
  { table: 'erasures', column: 'reason', where: 'reason is not null', instead: null },
  { table: 'imports', column: 'file', where: 'true', instead: '(name erased)' },
  { table: 'dropped_files', column: 'problem', where: 'problem is not null', instead: '(reason erased)' },
] as const;

/**
 * Erases texts that name the person: reasons that operators typed, names of files, and problems found in files. Call it
 * before the person's records are erased, because it reads the names from them. It compares words, so it also erases a
 * reason in which a word only happens to equal one of the person's names. Safe to run twice.
 */
export async function eraseReasons(ledger: Ledger, names: ErasureNames): Promise<void> {
  const texts = namingTexts(names, await personFields(ledger, names.places));
  for (const { table, column, where, instead } of operatorTexts) {
    const rows = await ledger.db.query<{ sentence: string }>(
      `select distinct ${column} as sentence from ${table} where ${where}`,
    );
    const naming = rows.map(({ sentence }) => sentence).filter((sentence) => namesPerson(sentence, texts));
    if (naming.length === 0) continue;
    await ledger.db.query(`update ${table} set ${column} = $2 where ${where} and ${column} = any($1::text[])`, [
      naming,
      instead,
    ]);
  }
}

/** Minimum length of a name or of one of its words. Shorter ones appear in too many sentences about something else. */
const minWordLength = 3;

/**
 * Returns the texts by which a sentence may name a person, in lower case: the name in the request, the person's ids,
 * codes and e-mail addresses, and the names in the person's records, each name as a whole and word by word. Pure.
 */
export function namingTexts({ asked, places }: ErasureNames, records: readonly Fields[]): Set<string> {
  const named = records.flatMap((fields) =>
    Object.entries(fields).flatMap(([field, value]) =>
      /name/i.test(field) && typeof value === 'string' ? [value, ...value.split(/[\s,]+/u)] : [],
    ),
  );
  const texts = [
    ...(asked === null ? [] : waysToName(asked).map(({ text }) => text)),
    ...places.flatMap(({ attendeeIds, codes }) => [...attendeeIds.map(String), ...codes]),
    ...addressesIn(records),
    ...named.filter((text) => text.trim().length >= minWordLength),
  ];
  return new Set(texts.map((text) => text.trim().toLowerCase()).filter((text) => text !== ''));
}

/** Whether a sentence contains one of the texts as whole words. Ignores case. Pure. */
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
