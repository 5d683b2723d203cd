import { guessMapping } from './column-mapping.js';
import type { Finding, RawRow } from './registrant-file.js';
import { isSendable, type CheckedRow } from './checked-row.js';
import { RowCheck } from './row-check.js';

const columns = ['Code', 'Full name', 'Note'];

function check(rows: readonly (readonly string[])[], codeKey?: Uint8Array, header = columns): CheckedRow[] {
  const mapping = guessMapping(header, []);
  return new RowCheck({ mapping, ...(codeKey === undefined ? {} : { codeKey }) }).check(
    rows.map((values, index): RawRow => ({ row: index + 2, values })),
  );
}

/** Returns the problems of the rows: row number, column and code. */
function said(rows: readonly CheckedRow[]): string[] {
  return rows.flatMap((row) =>
    (isSendable(row) ? row.notes : row.problems).map(({ row: at, column, code }) => `${at} ${column} ${code}`),
  );
}

describe('checking a row', () => {
  it('converts a row to the registrant to send, with the code first', () => {
    expect(check([['00123', 'Ada', '']])).toEqual([
      { row: 2, profile: { attendeeCode: '00123', Name: 'Ada', Note: '' }, notes: [] },
    ]);
    expect(Object.keys(check([['Ada', 'A1']], undefined, ['Full name', 'Code'])[0] ?? {})).toEqual([
      'row',
      'profile',
      'notes',
    ]);
    const [first] = check([['Ada', 'A1']], undefined, ['Full name', 'Code']);
    expect(first !== undefined && isSendable(first) && Object.keys(first.profile)).toEqual(['attendeeCode', 'Name']);
  });

  it.each([
    ['no code', ['', 'Ada', ''], ['2 Code missing-code']],
    ['white space as a code', [' \u00a0', 'Ada', ''], ['2 Code missing-code']],
    ['no name', ['A1', ' ', 'x'], ['2 Full name empty-name']],
    ['neither name nor code', ['', '', 'x'], ['2 Full name empty-name', '2 Code missing-code']],
    ['a control character', ['A1', 'Ada\u0007', ''], ['2 Full name control-character']],
    ['a line end in a code', ['A\n1', 'Ada', ''], ['2 Code control-character']],
    ['half a surrogate pair', ['A1', 'Ada\ud83d', ''], ['2 Full name control-character']],
    ['256 characters', ['A1', 'x'.repeat(256), ''], ['2 Full name too-long']],
    ['a code of 256 characters', ['x'.repeat(256), 'Ada', ''], ['2 Code too-long']],
    [
      'several problems',
      ['', 'x'.repeat(256), '\u0000'],
      ['2 Full name too-long', '2 Note control-character', '2 Code missing-code'],
    ],
  ])('does not send a row with %s', (_name, values, expected) => {
    const rows = check([values]);
    expect(rows.some(isSendable)).toBe(false);
    expect(said(rows)).toEqual(expected);
  });

  it.each([
    ['grace(at)example.com', false],
    ['grace@example', false],
    ['Grace <grace@example.com>', false],
    ['a@example.com; b@example.com', false],
    ['n/a', false],
    ['grace.o\u2019hara+1@xn--bcher-kva.example', true],
    ['用户@例子.公司', true],
    ['', true],
  ])('accepts %j in an e-mail column: %s', (email, accepts) => {
    for (const header of ['E-Mail', 'Correo electrónico']) {
      const rows = check([['A1', 'Grace', email]], undefined, ['Code', 'Full name', header]);
      expect(rows.every(isSendable)).toBe(accepts);
      expect(said(rows)).toEqual(accepts ? [] : [`2 ${header} no-email-address`]);
    }
  });

  it('checks addresses only in e-mail columns', () => {
    expect(check([['A1', 'Grace', 'n/a']], undefined, ['Code', 'Full name', 'Email consent']).every(isSendable)).toBe(
      true,
    );
  });

  it.each([
    ['255 characters outside the basic multilingual plane', ['A1', '😀'.repeat(255), '']],
    ['line ends and tabs in a note', ['A1', 'Ada', 'one\ntwo\tthree']],
    ['joiners in a name', ['A1', 'می\u200cخواهم', '👩\u200d💻']],
  ])('sends a row with %s', (_name, values) => {
    expect(said(check([values]))).toEqual([]);
  });

  it('removes surrounding white space and protecting apostrophes, and reports both', () => {
    const [row] = check([[' A1\u00a0', "'+49 170", "'t Hooft"]]);
    expect(row).toMatchObject({ profile: { attendeeCode: 'A1', Name: '+49 170', Note: "'t Hooft" } });
    expect(said([row!])).toEqual(['2 Code trimmed', '2 Full name apostrophe-removed']);
  });

  it('cuts and cleans the values of a row with problems so that the store accepts them', () => {
    const [row] = check([['A\u0000\ud83d1', 'x'.repeat(2_000), 'y'.repeat(999) + '😀']]);
    expect(row).toMatchObject({
      values: { attendeeCode: 'A\ufffd\ufffd1', Name: 'x'.repeat(1_000), Note: `${'y'.repeat(999)}\ufffd` },
    });
  });

  it('keeps cells beyond the header only if they have content, because a row may have thousands of empty ones', () => {
    const once = new RowCheck({ mapping: guessMapping(columns, []) });
    const values = ['A1', 'Ada', '', ...Array<string>(5_000).fill(' '), 'x'];
    const [row] = once.check([{ row: 2, values, findings: [{ column: null, kind: 'too-many-cells' }] }]);
    expect(row).toMatchObject({ values: { attendeeCode: 'A1', Name: 'Ada', Note: '', '(column 5004)': 'x' } });
    expect(Object.keys((row as { values: object }).values)).toHaveLength(4);
  });

  it('converts all line ends to one kind', () => {
    expect(check([['A1', 'Ada', 'a\r\nb\rc']])[0]).toMatchObject({ profile: { Note: 'a\nb\nc' } });
  });

  it('reports a duplicate code with the row that has it first', () => {
    const rows = check([
      ['A1', 'Ada', ''],
      ['A2', '', ''],
      ['A2', 'Bob', ''],
      [' A1', 'Ada', ''],
    ]);
    expect(said(rows)).toEqual(['3 Full name empty-name', '4 Code duplicate-code', '5 Code duplicate-code']);
    expect(rows[3]).toMatchObject({
      problems: [{ message: 'The code is already in row 2; give each registrant a code of their own.' }],
    });
  });

  it('finds duplicates across portions', () => {
    const once = new RowCheck({ mapping: guessMapping(columns, []) });
    const portion = (start: number): RawRow[] =>
      Array.from({ length: 3_000 }, (_row, index) => ({ row: start + index, values: [`C${index}`, 'Ada', ''] }));
    expect(once.check(portion(2)).every(isSendable)).toBe(true);
    expect(once.check(portion(10_000)).some(isSendable)).toBe(false);
  });

  it('reports codes that differ only in case or in Unicode form, in any order', () => {
    expect(
      said(
        check([
          ['ab1', 'Ada', ''],
          ['AB1', 'Bob', ''],
          ['Ab1', 'Cy', ''],
          ['x', 'Di', ''],
          ['ＡＢ1', 'Eve', ''],
        ]),
      ),
    ).toEqual(['3 Code similar-code', '4 Code similar-code', '6 Code hard-to-type', '6 Code similar-code']);
    expect(
      said(
        check([
          ['AB1', 'Ada', ''],
          ['ab1', 'Bob', ''],
        ]),
      ),
    ).toEqual(['3 Code similar-code']);
  });

  it('never quotes a cell in a message', () => {
    const secret = 'Ada\u0007Secret';
    const rows = check([
      [secret, secret, secret],
      [secret, 'S'.repeat(300), ''],
      [`${secret} `, '', ''],
    ]);
    const messages = rows.flatMap((row) => (isSendable(row) ? row.notes : row.problems)).map(({ message }) => message);
    expect(messages.length).toBeGreaterThan(4);
    expect(messages.filter((message) => /Ada|Secret|SSS/.test(message))).toEqual([]);
  });
});

describe('a field that joins columns', () => {
  const joined = (values: readonly string[]) => {
    const mapping = guessMapping(['Code', 'Last', 'First'], [], { 'First+Last': 'Name' });
    return new RowCheck({ mapping }).check([{ row: 2, values }])[0]!;
  };

  it.each([
    [['A1', 'Ray', 'Ann'], 'Ann Ray'],
    [['A1', 'Ray', ' '], 'Ray'],
    [['A1', '', 'Ann '], 'Ann'],
  ])('has the values of %j with a space between them', (values, expected) => {
    const row = joined(values);
    expect(isSendable(row) && row.profile).toEqual({ attendeeCode: 'A1', Name: expected });
  });

  it('is empty or too long as a whole', () => {
    expect(said([joined(['A1', ' ', ''])])).toEqual(['2 First empty-name']);
    expect(said([joined(['A1', 'x'.repeat(130), 'y'.repeat(130)])])).toEqual(['2 Last too-long']);
  });
});

describe('the columns that may hold the codes', () => {
  const watched = (header: readonly string[], rows: readonly (readonly string[])[]) => {
    const once = new RowCheck({ mapping: guessMapping(header, []) });
    const checked = once.check(rows.map((values, n): RawRow => ({ row: n + 2, values })));
    return { checked, evidence: once.codeEvidence, shortCodes: once.shortCodes };
  };

  it('are described, and no row can be sent while several are possible', () => {
    const { checked, evidence } = watched(
      ['Ticket', 'Ref', 'Name'],
      ['VIP', 'Press', 'VIP', 'VIP', 'VIP', 'VIP'].map((kind, n) => [kind, `A${n}`, 'Ada']),
    );
    expect(checked.some(isSendable)).toBe(false);
    expect(new Set(said(checked).map((line) => line.slice(2)))).toEqual(new Set(['null code-column']));
    expect(evidence).toEqual([
      { column: 'Ticket', first: 'VIP', filled: 6, different: 2, withDigit: 0, isDoubtful: true },
      { column: 'Ref', first: 'A0', filled: 6, different: 6, withDigit: 6, isDoubtful: false },
    ]);
  });

  it.each([
    [['A1', 'A2', 'A3', 'A4', 'A5'], false],
    [['A1', 'A1', 'A2', 'A2', 'A3', 'A3'], false],
    [['T1', 'T1', 'T1', 'T2', 'T2', 'T2'], true],
    [['VIP', 'VIP', 'Press', 'Press', 'Guest', 'Guest'], true],
    [['AL', 'BO', 'CY', 'DI', 'EVE'], false],
    [['VIP', 'VIP', 'VIP'], false],
    [['', '', '', '', '', ''], false],
  ])('with %j are doubtful: %s', (codes, expected) => {
    const { evidence } = watched(
      ['attendeeCode'],
      codes.map((code) => [code]),
    );
    expect(evidence[0]?.isDoubtful).toBe(expected);
  });

  it.each<[string[], number[] | null]>([
    [['00451', '452', '00453', '12345'], [3]],
    [
      ['452', '00451', '9'],
      [2, 4],
    ],
    [['451', '452', '9'], null],
    [['00451', '00452', '123456'], null],
    [['00451', 'A1'], null],
  ])('with %j have lost zeros in rows %j', (codes, rows) => {
    const { shortCodes } = watched(
      ['attendeeCode'],
      codes.map((code) => [code]),
    );
    expect(shortCodes?.firstRows ?? null).toEqual(rows);
    expect(shortCodes?.rows ?? null).toBe(rows?.length ?? null);
  });
});

describe('a finding of the file reader', () => {
  const rowWith = (...findings: Finding[]) => {
    const once = new RowCheck({ mapping: guessMapping(['Code', 'Name', '(column 3)'], []) });
    return once.check([{ row: 7, values: ['', '', ''], findings }]);
  };

  it.each([
    ['an error value in a cell that is sent', { column: 0, kind: 'error-cell' }, ['7 Code error-cell']],
    ['digits that were lost', { column: 1, kind: 'digits-lost' }, ['7 Name digits-lost']],
    ['too few cells', { column: null, kind: 'too-few-cells' }, ['7 null too-few-cells']],
    ['no object', { column: null, kind: 'not-an-object' }, ['7 null not-an-object']],
  ] satisfies [string, Finding, string[]][])(
    'is reported without further problems of the same cell: %s',
    (_name, finding, expected) => {
      expect(said(rowWith(finding))).toEqual(expected);
    },
  );

  it('is a note if the row is sent', () => {
    const once = new RowCheck({ mapping: guessMapping(['Code', 'Name'], []) });
    const findings: Finding[] = [{ column: null, kind: 'cancelled-row' }];
    const rows = once.check([{ row: 2, values: ['A1', 'Ada'], findings }]);
    expect([rows.every(isSendable), said(rows)]).toEqual([true, ['2 null cancelled-row']]);
  });

  it.each(['repeated-header', 'totals-row', 'stray-quote', 'within-quotes'] as const)(
    'takes no code from a row that is none or may be mixed up: %s',
    (kind) => {
      const once = new RowCheck({ mapping: guessMapping(['Code', 'Name'], []) });
      const rows = once.check([
        { row: 2, values: ['A1', 'Ada'], findings: [{ column: null, kind }] },
        { row: 3, values: ['A1', 'Ada'] },
      ]);
      expect(said(rows)).toEqual([`2 null ${kind}`]);
    },
  );

  it('is ignored in a column that is not sent', () => {
    const once = new RowCheck({ mapping: guessMapping(['Code', 'Name', '(column 3)'], []) });
    const findings: Finding[] = [{ column: 2, kind: 'error-cell' }];
    expect(once.check([{ row: 7, values: ['A1', 'Ada', ''], findings }]).every(isSendable)).toBe(true);
  });

  it('is a problem if a code became a date, but not if another cell did', () => {
    const once = new RowCheck({ mapping: guessMapping(['Code', 'Name', 'Arrival'], []) });
    const row = (column: number): RawRow => ({
      row: column + 2,
      values: [column === 0 ? '2026-01-01' : 'A1', 'Ada', '2026-11-21'],
      findings: [{ column, kind: 'date-cell' }],
    });
    expect(said(once.check([row(0), row(2)]))).toEqual(['2 Code date-in-code']); // not twice, although its text shows it too
  });
});

describe('missing codes', () => {
  const key = Buffer.alloc(32, 7);
  const people = [
    ['', 'Ada', 'x'],
    ['', 'Bob', ''],
    ['C9', 'Cy', ''],
  ];
  const codes = (rows: readonly CheckedRow[]) => rows.map((row) => (isSendable(row) ? row.profile.attendeeCode : null));

  it('are generated, reported, and always the same for the same row', () => {
    const rows = check(people, key);
    expect(said(rows)).toEqual(['2 Code code-generated', '3 Code code-generated']);
    expect(codes(rows)).toEqual([expect.stringMatching(/^[2-9B-DF-HJKMNP-TV-Z]{12}$/), expect.any(String), 'C9']);
    expect(codes(check([people[1]!, people[0]!], key))).toEqual([codes(rows)[1], codes(rows)[0]]);
    expect(codes(check([['x', 'Ada']], key, ['Note', 'Name']))).toEqual([codes(rows)[0]]); // the same person in other columns
  });

  it('differ under another key and for another row', () => {
    const own = codes(check(people, key));
    expect(new Set([...own.slice(0, 2), ...codes(check(people, Buffer.alloc(32, 8))).slice(0, 2)]).size).toBe(4);
  });

  it('are generated only once for identical rows, of which the second is reported', () => {
    const rows = check([...people, ['', 'Ada', 'x']], key);
    expect(said(rows).at(-1)).toBe('5 null duplicate-row');
  });

  it('are not generated for empty rows or rows with problems', () => {
    expect(said(check([['', '', '']], key))).toEqual(['2 Full name empty-name', '2 Code missing-code']);
    expect(said(check([['', 'Ada\u0007', '']], key))).toEqual(['2 Full name control-character']);
  });
});
