import type { Finding, RawRow } from './registrant-file.js';
import { fromWindows1252 } from './find-encoding.js';

/** Damage that a text has from an earlier program; with it, a person would be created under a garbled name. */
type TextDamage = Extract<Finding['kind'], 'broken-character' | 'encoded-twice'>;

/** Adds a finding for each damaged cell. */
export async function* withTextDamage(
  portions: AsyncIterable<readonly RawRow[]>,
): AsyncGenerator<readonly RawRow[], void, undefined> {
  for await (const rows of portions) yield rows.map(withFindings);
}

function withFindings(row: RawRow): RawRow {
  const damages = row.values.flatMap((text, column): Finding[] => {
    const kind = damageOf(text);
    return kind === undefined ? [] : [{ column, kind }];
  });
  return damages.length === 0 ? row : { ...row, findings: [...(row.findings ?? []), ...damages] };
}

/** Returns how an earlier program damaged a text; undefined: it did not, as far as the text shows. */
export function damageOf(text: string): TextDamage | undefined {
  if (!/[\x80-\uffff]/.test(text)) return undefined;
  if (text.includes('\ufffd')) return 'broken-character';
  return isEncodedTwice(text) ? 'encoded-twice' : undefined;
}

/** The characters of the bytes 0x80 to 0xBF in Windows-1252, which continue a character of UTF-8. */
const continuing = fromWindows1252(Buffer.from(Array.from({ length: 0x40 }, (_byte, index) => 0x80 + index)));
const quotes = /[\u2018\u2019\u201c\u201d]/g;
const escaped = (characters: string) => characters.replace(/[\\\]^-]/g, '\\$&');

/** A letter of UTF-8 read as Windows-1252: é as Ã©, ’ as â€™. A capital before a quotation mark looks the same. */
const certain = new RegExp(
  `[\u00c2-\u00c5][${escaped(continuing.replace(quotes, ''))}]|\u00e2\u20ac[${escaped(continuing)}]`,
);
/** The same for other letters, where two in a row are needed: Cyrillic И as Ð˜. */
const likely = new RegExp(`(?:[\u00c2-\u00df][${escaped(continuing)}]){2}`);

function isEncodedTwice(text: string): boolean {
  return certain.test(text) || likely.test(text);
}
