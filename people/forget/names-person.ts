import type { Fields } from '../../ledger/item-form.js';
import type { ErasureNames } from './erasure.js';
import { addressesIn } from './person-fields.js';

/** A shorter word of a name is in too many sentences that name nobody. */
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
