import { asWishes, wishesFor, type MappingWishes, parseMapping } from './mapping-wishes.js';
import { checkMapping, codeColumnDoubt, nameColumns, unknownFields } from './check-mapping.js';
import { guessMapping } from './column-mapping.js';
import { reportColumns } from './report-columns.js';
import { fieldWords } from './field-words.js';
import { RegistrantFileError } from './registrant-file.js';

const known = ['Name', 'Email', 'Company', 'Job title'];

/** Returns the property of each column, with a question mark after each guessed one. */
function mapped(
  columns: readonly string[],
  fields: readonly string[] = known,
  wishes?: MappingWishes,
): Record<string, string | null> {
  return Object.fromEntries(
    guessMapping(columns, fields, wishes).columns.map(({ column, property, guessed }) => [
      column,
      property === null ? null : `${property}${guessed ? '?' : ''}`,
    ]),
  );
}

describe('the mapping of columns', () => {
  it.each([
    [
      'maps headers that are field names to these fields',
      ['attendeeCode', 'Name', 'Email'],
      { attendeeCode: 'attendeeCode', Name: 'Name', Email: 'Email' },
    ],
    [
      'guesses obvious names',
      ['Attendee code', 'Full name', 'E-Mail', 'Organisation'],
      { 'Attendee code': 'attendeeCode', 'Full name': 'Name?', 'E-Mail': 'Email?', Organisation: 'Company?' },
    ],
    [
      'ignores case and punctuation',
      ['ATTENDEE_CODE', 'name', 'job-title'],
      { ATTENDEE_CODE: 'attendeeCode', name: 'Name?', 'job-title': 'Job title?' },
    ],
    [
      'guesses German headers',
      ['Ticketnummer', 'Vor- und Nachname', 'E-Mail-Adresse', 'Firma'],
      { Ticketnummer: 'attendeeCode?', 'Vor- und Nachname': 'Name?', 'E-Mail-Adresse': 'Email?', Firma: 'Company?' },
    ],
    [
      'guesses French headers',
      ['Code participant', 'Nom complet', 'Courriel', 'Société'],
      { 'Code participant': 'attendeeCode', 'Nom complet': 'Name?', Courriel: 'Email?', Société: 'Company?' },
    ],
    [
      'guesses Spanish headers',
      ['Código', 'Nombre completo', 'Correo electrónico', 'Compañía'],
      { Código: 'attendeeCode?', 'Nombre completo': 'Name?', 'Correo electrónico': 'Email?', Compañía: 'Company?' },
    ],
    [
      'guesses Japanese headers',
      ['参加者コード', '氏名', 'メール', '会社名'],
      { 参加者コード: 'attendeeCode', 氏名: 'Name?', メール: 'Email?', 会社名: 'Company?' },
    ],
    ['keeps the headers of other columns', ['Code', 'Table no.'], { Code: 'attendeeCode?', 'Table no.': 'Table no.' }],
    [
      'sends a second column for a field under its header, and prefers the exact name',
      ['Full name', 'Name', 'Ticket'],
      { 'Full name': 'Full name', Name: 'Name', Ticket: 'attendeeCode?' },
    ],
    ['does not send columns without a name', ['Code', '(column 2)'], { Code: 'attendeeCode?', '(column 2)': null }],
    [
      'does not send the columns of a report',
      [...reportColumns, 'attendeeCode'],
      { ...Object.fromEntries(reportColumns.map((column) => [column, null])), attendeeCode: 'attendeeCode' },
    ],
  ])('%s', (_name, columns, expected) => {
    expect(mapped(columns)).toEqual(expected);
  });

  it('keeps the header of an e-mail column if no e-mail field is known', () => {
    expect(mapped(['Code', 'E-Mail'], [])).toEqual({ Code: 'attendeeCode?', 'E-Mail': 'E-Mail' });
  });

  it('prefers what the user requests to its own guesses', () => {
    const wishes = parseMapping(['Badge=attendeeCode', 'full name = Display name', 'Notes=']);
    expect(mapped(['Code', 'Badge', 'Full name', 'Notes'], known, wishes)).toEqual({
      Code: 'Code',
      Badge: 'attendeeCode',
      'Full name': 'Display name',
      Notes: null,
    });
  });

  it('does not send a column whose field the user assigned to another column', () => {
    expect(mapped(['Code', 'Full name', 'Name'], known, { 'Full name': 'Name' })).toEqual({
      Code: 'attendeeCode?',
      'Full name': 'Name',
      Name: null,
    });
  });

  it.each([
    [
      'a column that is not in the file',
      { Gone: 'Name' },
      'The mapping names a column "Gone", which the file does not have; correct the name.',
    ],
    [
      'two columns for one field',
      { Code: 'attendeeCode', Ticket: 'attendeeCode' },
      'The mapping sends two columns as "attendeeCode"; leave one of them out, or join them as in "First name+Last name=attendeeCode".',
    ],
    [
      'one column that is named twice',
      { Code: 'attendeeCode', code: 'Name' },
      'The mapping names the column "Code" twice; leave one out.',
    ],
  ])('is refused for %s', (_name, wishes, sentence) => {
    expect(() => guessMapping(['Code', 'Ticket'], known, wishes)).toThrow(new RegistrantFileError('mapping', sentence));
  });

  it('joins columns to one field in the order of the request, which a saved mapping keeps', () => {
    const columns = ['Code', 'Last name', 'First name', 'A+B'];
    const wishes = parseMapping(['first name + Last name=Name', 'A+B=Team']);
    const mapping = guessMapping(columns, known, wishes);
    expect(mapping.columns).toEqual([
      { column: 'Code', property: 'attendeeCode', guessed: true },
      { column: 'Last name', property: 'Name', guessed: false, part: 1 },
      { column: 'First name', property: 'Name', guessed: false, part: 0 },
      { column: 'A+B', property: 'Team', guessed: false },
    ]);
    expect(asWishes(mapping)).toEqual({ Code: 'attendeeCode', 'First name+Last name': 'Name', 'A+B': 'Team' });
    expect(guessMapping(columns, known, asWishes(mapping)).columns).toEqual(
      mapping.columns.map((each) => ({ ...each, guessed: false })),
    );
  });

  it.each([
    ['First name+Lst name=Name', 'names a column "Lst name", which the file does not have'],
    ['First name+Last name=attendeeCode', 'a code is a single column'],
  ])('does not join %s', (wish, sentence) => {
    expect(() => guessMapping(['Code', 'First name', 'Last name'], known, parseMapping([wish]))).toThrow(sentence);
  });

  it('uses a saved mapping for the columns that the file has and the request does not name', () => {
    const saved = { 'First name+Last name': 'Name', Ticket: 'attendeeCode', Gone: 'Seat', 'First name+Gone': 'Other' };
    expect(wishesFor(['Ticket', 'First name', 'Last name'], saved, {})).toEqual({
      'First name+Last name': 'Name',
      Ticket: 'attendeeCode',
    });
    expect(wishesFor(['Ticket', 'First name', 'Last name'], saved, { 'last name': null })).toEqual({
      Ticket: 'attendeeCode',
    });
  });

  it('does not use the same word for two fields', () => {
    const words = fieldWords.flatMap(({ words: each }) => [...each]);
    expect(words.filter((word, index) => words.indexOf(word) !== index)).toEqual([]);
  });

  it('names the fields that the pigeonhole does not have yet', () => {
    const mapping = guessMapping(['Code', 'Name', 'Table', '(column 4)'], ['Name']);
    expect(unknownFields(mapping, ['Name'])).toEqual([{ column: 'Table', property: 'Table', guessed: false }]);
    expect(unknownFields(mapping, [])).toHaveLength(2);
  });
});

describe('a requested mapping', () => {
  it('is split at the last equals sign', () => {
    expect(parseMapping(['A=b=Name', ' Attendee code = attendeeCode '])).toEqual({
      'A=b': 'Name',
      'Attendee code': 'attendeeCode',
    });
  });

  it.each([
    ['Name', 'The mapping "Name" is not of the form "column=field".'],
    ['=Name', 'The mapping "=Name" is not of the form "column=field".'],
  ])('is refused: %s', (flag, sentence) => {
    expect(() => parseMapping([flag])).toThrow(new RegistrantFileError('mapping', sentence));
  });

  it('is refused if it names a column twice', () => {
    expect(() => parseMapping(['A=b', 'A=c'])).toThrow('The mapping names the column "A" twice; leave one out.');
  });
});

describe('a mapping without a code column', () => {
  const check = (columns: string[], codes: 'required' | 'generated') => () =>
    checkMapping(guessMapping(columns, known), codes);

  it('is refused unless codes are generated', () => {
    expect(check(['Name', 'Email'], 'required')).toThrow(
      'pigeonpost did not recognise a column with the attendee code; rename that column to "attendeeCode", or map it to that field.',
    );
    expect(check(['Name', 'Email'], 'generated')).not.toThrow();
    expect(check(['Code', 'Name'], 'required')).not.toThrow();
  });

  it.each([
    [['A001', 'Ada Lovelace', 'ada@example.com']],
    [['00123', 'Ada']],
    [['Ada', '+49 170 1234']],
    [['Ada', '2026-11-21']],
  ])('is refused for a missing header if the first row looks like a person, without quoting the row: %j', (columns) => {
    for (const codes of ['required', 'generated'] as const) {
      expect(check(columns, codes)).toThrow(
        new RegistrantFileError(
          'header',
          'The first row looks like a registrant and not like names of columns; add a header such as "attendeeCode, Name".',
        ),
      );
    }
  });
});

describe('the column of the codes', () => {
  it.each<[string, readonly string[], string, readonly string[]]>([
    [
      'the name of the field before words for tickets',
      ['Ticket', 'Access code', 'attendeeCode'],
      'named',
      ['attendeeCode'],
    ],
    [
      'the name in another spelling',
      ['Coupon code', 'Access code', 'ATTENDEE-Code', 'Name'],
      'named',
      ['ATTENDEE-Code'],
    ],
    ['the exact spelling of two', ['Attendee code', 'attendeeCode'], 'named', ['attendeeCode']],
    ['the name before its translation', ['Participant code', 'Attendee code'], 'named', ['Attendee code']],
    ['the name in another language', ['Ticket', 'Teilnehmercode'], 'named', ['Teilnehmercode']],
    ['neither of two translations', ['Participant code', 'Guest code'], 'several', ['Participant code', 'Guest code']],
    ['neither of two spellings', ['Attendee code', 'attendee_code'], 'several', ['Attendee code', 'attendee_code']],
    ['none of several hints', ['Ticket', 'Code', 'Name'], 'several', ['Ticket', 'Code']],
    [
      'none of the ids of a shop',
      ['Ticket', 'Ticket Reference', 'Order Reference'],
      'several',
      ['Ticket', 'Ticket Reference', 'Order Reference'],
    ],
    ['a single hint as a guess', ['Name', 'Confirmation number'], 'guessed', ['Confirmation number']],
    ['no column with the name of a known field', ['Badge', 'Name'], 'none', []],
    ['nothing without a hint', ['Name', 'Shoe size', 'Coupon code'], 'none', []],
  ])('is %s', (_name, columns, basis, candidates) => {
    expect(guessMapping(columns, ['Name', 'Badge']).code).toEqual({ basis, candidates });
  });

  it('is what the user names, and a column that the user uses otherwise is no candidate', () => {
    const codeOf = (...flags: string[]) =>
      guessMapping(['Ticket', 'Code', 'attendeeCode'], [], parseMapping(flags)).code;
    expect(codeOf('Ticket=attendeeCode')).toEqual({ basis: 'mapped', candidates: ['Ticket'] });
    expect(codeOf('attendeeCode=')).toEqual({ basis: 'several', candidates: ['Ticket', 'Code'] });
    expect(codeOf('attendeeCode=', 'Ticket=Ticket')).toEqual({ basis: 'guessed', candidates: ['Code'] });
  });

  it('is sent by none of several candidates', () => {
    expect(mapped(['Ticket', 'Code', 'Name'])).toEqual({ Ticket: null, Code: null, Name: 'Name' });
  });

  it('is one for each word, alone or before a noun, in every spelling', () => {
    const hints = [
      'Ticket',
      'BADGE',
      'Access code',
      'Confirmation no.',
      'order #id',
      'Barcode',
      'Id',
      'Ticket-Ref',
      'booking_reference',
    ];
    for (const hint of hints) expect(guessMapping([hint, 'Name'], []).code.basis).toBe('guessed');
  });

  const evidence = (column: string, different: number, isDoubtful = false) => ({
    column,
    first: 'secret',
    filled: 40,
    different,
    withDigit: isDoubtful ? 0 : 40,
    isDoubtful,
  });

  it('is doubted in one sentence with counts and without values', () => {
    expect(
      codeColumnDoubt({ basis: 'several', candidates: [] }, [evidence('Ticket', 2, true), evidence('Ref', 40)]),
    ).toBe(
      'Several columns may hold the attendee codes: "Ticket" (2 different values in 40 rows, none with a digit), "Ref" (40 different values in 40 rows); name the right one, as in --map "Ref=attendeeCode".',
    );
    const [ofKinds, ofShop] = [evidence('Ticket', 2), evidence('Ref', 2)];
    expect(codeColumnDoubt({ basis: 'several', candidates: [] }, [{ ...ofKinds, withDigit: 0 }, ofShop])).toContain(
      'as in --map "Ref=attendeeCode"',
    );
    expect(codeColumnDoubt({ basis: 'guessed', candidates: [] }, [evidence('Ref', 40)])).toBe(
      'The column of the attendee codes is a guess: "Ref" (40 different values in 40 rows); if it is right, confirm it with --map "Ref=attendeeCode".',
    );
    expect(codeColumnDoubt({ basis: 'guessed', candidates: [] }, [evidence('Kind', 2, true)])).toContain(
      'do not look like codes',
    );
    expect(codeColumnDoubt({ basis: 'named', candidates: [] }, [evidence('attendeeCode', 2, true)])).toContain(
      'do not look like codes',
    );
    for (const [basis, doubtful] of [
      ['named', false],
      ['mapped', true],
      ['none', false],
    ] as const)
      expect(codeColumnDoubt({ basis, candidates: [] }, [evidence('Kind', 2, doubtful)])).toBeNull();
  });
});

describe('the name', () => {
  it.each<[string, readonly string[], readonly string[], boolean, readonly string[]]>([
    ['is missing if only its parts are sent', ['Last name', 'First name'], ['Name'], true, ['First name', 'Last name']],
    ['is missing if no attendee shows the fields', ['Vorname', 'Nachname'], [], true, ['Vorname', 'Nachname']],
    ['is missing without a column', ['Email'], ['Name', 'Email'], true, []],
    ['is there', ['Full name', 'First name', 'Last name'], ['Name'], false, []],
    ['is there in parts if attendees have them', ['First name', 'Last name'], ['Name', 'First name'], false, []],
    ['is not expected if attendees have none', ['Email'], ['Email'], false, []],
  ])('%s', (_name, columns, fields, missing, parts) => {
    expect(nameColumns(guessMapping(['attendeeCode', ...columns], fields), fields)).toEqual({ missing, parts });
  });
});
