import { fromWindows1252, guessEncoding, unsureEncoding } from './find-encoding.js';

/** Encodes a text by trying the characters of one and two bytes. */
function encode(text: string, encoding: string): Buffer {
  const table = tables.get(encoding) ?? tableOf(encoding);
  tables.set(encoding, table);
  return Buffer.from(Array.from(text).flatMap((character) => table.get(character) ?? [0]));
}

const tables = new Map<string, Map<string, readonly number[]>>();

function tableOf(encoding: string): Map<string, readonly number[]> {
  const decoder = new TextDecoder(encoding);
  const table = new Map<string, readonly number[]>();
  const put = (bytes: readonly number[]) => {
    const buffer = Buffer.from(bytes);
    const text = encoding === 'windows-1252' ? fromWindows1252(buffer) : decoder.decode(buffer);
    if (Array.from(text).length === 1 && !table.has(text)) table.set(text, bytes);
  };
  for (let byte = 0; byte < 256; byte++) put([byte]);
  if (!/^(gb|big5|euc|shift)/.test(encoding)) return table;
  for (let lead = 0x81; lead < 0xff; lead++) for (let trail = 0x40; trail < 0xff; trail++) put([lead, trail]);
  return table;
}

/** A list with some names, among others that are plain. */
function listOf(names: readonly string[], encoding: string): Buffer {
  const rows = names.map((name, index) => `A${index},${name},Acme\r\nB${index},Bo Lee,Acme\r\n`);
  return encode(`attendeeCode,Name,Company\r\n${rows.join('')}`, encoding);
}

describe('the encoding of a text that is not UTF-8', () => {
  it.each([
    ['windows-1252', ['Müller', 'Jürgen Groß', 'Björn']],
    ['windows-1252', ['Hélène Lefèvre', 'François', 'Chloé', 'Zoë', 'Gérard']],
    ['windows-1252', ['Peña', 'Muñoz', 'Ibáñez', 'José', 'Lucía']],
    ['windows-1252', ['Søren', 'Jørgensen', 'Ødegård', 'Åse']],
    ['windows-1252', ['João Conceição', 'Antônio', 'Inês', 'José']],
    ['windows-1252', ['Seán O’Brien', 'Siobhán', 'Müller', 'Zoé']],
    ['windows-1250', ['Łukasz Żółć', 'Świątek', 'Wiśniewski']],
    ['windows-1250', ['Růžena Dvořáková', 'Jiří Černý']],
    ['windows-1251', ['Иван Петров', 'Ольга Смирнова', 'Сергей', 'Наталья']],
    ['koi8-u', ['Иван Петров', 'Ольга Смирнова', 'Сергей', 'Наталья']],
    ['macintosh', ['François Müller', 'Chloé', 'Hélène', 'Jürgen Groß']],
    ['windows-1253', ['Γιώργος Παπαδόπουλος', 'Μαρία']],
    ['windows-1254', ['Şükrü Çağlar', 'Işık Yıldız']],
    ['windows-1256', ['محمد علي', 'فاطمة']],
    ['windows-1257', ['Žydrūnas', 'Šarūnas', 'Jānis Bērziņš']],
    ['shift_jis', ['さくら', '田中 一郎', 'ヤマダ タロウ', '山田太郎']],
    ['euc-jp', ['さくら', '田中 一郎', 'ヤマダ タロウ']],
  ])('is recognized: %s %j', (encoding, names) => {
    const guess = guessEncoding(listOf(names, encoding));
    expect([guess.encoding, guess.isSure]).toEqual([encoding, true]);
    for (const { line, readings } of guess.proofs) expect(readings[0]!.text).toBe(names[(line - 2) / 2]);
  });

  it.each([
    ['windows-1252', 'Sørensen', 'Sřrensen'],
    ['windows-1252', 'Muñoz', 'Muńoz'],
    ['macintosh', 'Björn', 'Bjšrn'],
  ])('is not certain for a single name, and shown with other readings: %s %s, or %s', (encoding, name, other) => {
    const guess = guessEncoding(listOf([name], encoding));
    expect(guess.isSure).toBe(false);
    expect(guess.proofs[0]!.line).toBe(2);
    expect(guess.proofs[0]!.readings.map(({ text }) => text)).toEqual(expect.arrayContaining([name, other]));
    expect(unsureEncoding(guess)).toMatch(/^The encoding of the text is not certain \(.+ or .+, see line 2\); /);
  });

  it('is never certain and wrong for one name in any encoding', () => {
    const names = [
      'Müller',
      'José',
      'Łódź',
      'Dvořák',
      'Szőke',
      'Ştefan',
      'Иван',
      'Šarić',
      'Γιώργος',
      'Yıldız',
      'สมชาย',
      '王小明',
      '陳大文',
      '김철수',
      '山田太郎',
      'さくら',
      'محمد',
      'יוסי',
    ];
    const encodings = [
      'windows-1252',
      'windows-1250',
      'windows-1251',
      'windows-1253',
      'windows-1254',
      'windows-1255',
      'windows-1256',
      'windows-1257',
      'windows-874',
      'macintosh',
      'iso-8859-2',
      'iso-8859-5',
      'koi8-u',
      'ibm866',
      'x-mac-cyrillic',
      'shift_jis',
      'euc-jp',
      'gb18030',
      'big5',
      'euc-kr',
    ];
    for (const encoding of encodings) {
      for (const name of names) {
        const list = listOf([name], encoding);
        if (list.includes(0)) continue; // the encoding lacks a letter
        const { isSure, proofs } = guessEncoding(list);
        if (isSure) expect([encoding, name, proofs[0]!.readings[0]!.text]).toEqual([encoding, name, name]);
      }
    }
  });
});
