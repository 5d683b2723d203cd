import { readAll, refusalOf } from './open-registrant-file.test-kit.js';

const text = 'Code,Name\nA1,Zoë “Z” €\n';
/** 0x93, 0x94 and 0x80 are quotation marks and the euro sign only in Windows-1252. */
const windows1252 = Buffer.from('Code,Name\nA1,Zo\xeb \x93Z\x94 \x80\n', 'latin1');

function utf16(little: boolean): Buffer {
  const bytes = Buffer.from(`\ufeff${text}`, 'utf16le');
  return little ? bytes : bytes.swap16();
}

describe('the encoding of a text file', () => {
  it.each([
    ['UTF-8', Buffer.from(text), 'utf-8'],
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${text}`), 'utf-8'],
    ['little-endian UTF-16', utf16(true), 'utf-16le'],
    ['big-endian UTF-16', utf16(false), 'utf-16be'],
    ['Windows-1252', windows1252, 'windows-1252'],
  ])('is detected as %s, regardless of how the bytes arrive', async (_name, bytes, encoding) => {
    for (const chunkBytes of [1, 2, 3, 7, 1024]) {
      const file = await readAll(bytes, { chunkBytes });
      expect([file.encoding, file.columns, file.rows[0]?.values]).toEqual([
        encoding,
        ['Code', 'Name'],
        ['A1', 'Zoë “Z” €'],
      ]);
    }
  });

  it.each([
    ['Windows-1252', Buffer.from('\xeb\n', 'latin1'), 'windows-1252'],
    ['UTF-8', Buffer.from('ë\n'), 'utf-8'],
  ])('is detected even if the first non-ASCII letter comes late in the file: %s', async (_name, last, encoding) => {
    const plain = `Code,Name\n${'A1,Ada\n'.repeat(20_000)}B1,Zo`;
    const file = await readAll(Buffer.concat([Buffer.from(plain), last]));
    expect([file.encoding, file.rows.at(-1)?.values]).toEqual([encoding, ['B1', 'Zoë']]);
  });

  it('is Windows-1252 if the file ends within what could be a UTF-8 sequence', async () => {
    const file = await readAll(Buffer.from('Code,Name\nA1,Zo\xeb', 'latin1'));
    expect([file.encoding, file.rows[0]?.values[1]]).toEqual(['windows-1252', 'Zoë']);
  });

  it('is UTF-8 for plain ASCII', async () => {
    expect((await readAll('Code\nA1')).encoding).toBe('utf-8');
  });

  it('can be chosen by the user', async () => {
    const bytes = Buffer.from([...Buffer.from('Code,Name\nA1,'), 0x8e, 0x52, 0x93, 0x63, 0x0a]); // 山田 in Shift JIS
    expect((await readAll(bytes, { encoding: 'shift_jis' })).rows[0]?.values[1]).toBe('山田');
    expect((await readAll(windows1252, { encoding: 'iso-8859-1' })).rows[0]?.values[1]).toBe('Zoë “Z” €'); // the encoding standard decodes iso-8859-1 as windows-1252
  });

  it('can be UTF-16 without a byte order mark, detected or named', async () => {
    for (const [little, encoding] of [
      [true, 'utf-16le'],
      [false, 'utf-16be'],
    ] as const) {
      for (const named of [encoding, undefined]) {
        const file = await readAll(utf16(little).subarray(2), { encoding: named });
        expect([file.encoding, file.encodingGuess, file.rows[0]?.values[1]]).toEqual([encoding, null, 'Zoë “Z” €']);
      }
    }
  });

  it('is refused if its name is unknown', async () => {
    expect((await refusalOf(text, { encoding: 'ebcdic' })).message).toBe(
      'The encoding "ebcdic" is not known; give utf-8, windows-1252, or leave it out.',
    );
  });

  it('is UTF-8 also if some characters are broken, which are problems of their rows', async () => {
    const people = Array.from({ length: 6_000 }, (_one, n) => `A${n},Zoë ${n}\n`).join('');
    const before = Buffer.from(`Code,Name\n${people}`);
    const parts = [
      before,
      Buffer.from('B1,Zo'),
      Buffer.from([0xc3]),
      Buffer.from('\nB2,Zoë\nB3,Zo'),
      Buffer.from([0xc3]),
    ];
    for (const chunkBytes of [1_000, 64 * 1024]) {
      const file = await readAll(Buffer.concat(parts), { chunkBytes });
      expect([file.encoding, file.encodingGuess, file.rows.length]).toEqual(['utf-8', null, 6_003]);
      expect(file.rows.filter(({ findings }) => findings !== undefined)).toEqual([
        { row: 6_002, values: ['B1', 'Zo\ufffd'], findings: [{ column: 1, kind: 'broken-character' }] },
        { row: 6_004, values: ['B3', 'Zo\ufffd'], findings: [{ column: 1, kind: 'broken-character' }] },
      ]);
    }
  });

  it('reports bytes that are not in the encoding that the user names', async () => {
    const { rows } = await readAll(Buffer.from('Code,Name\nA1,Zo\xeb\nA2,Bo\n', 'latin1'), { encoding: 'utf-8' });
    expect(rows.map(({ findings }) => findings?.[0]?.kind)).toEqual(['broken-character', undefined]);
  });

  it('ignores NUL and 0x1A at the end, and leaves them in a cell', async () => {
    const { rows } = await readAll(`Code,Name\nA1,Bo\0 Lee\nA2,Cy\x1a\r\n${'\0'.repeat(5_000)}`, { chunkBytes: 100 });
    expect(rows).toEqual([
      { row: 2, values: ['A1', 'Bo\0 Lee'] },
      { row: 3, values: ['A2', 'Cy'] },
    ]);
  });
});
