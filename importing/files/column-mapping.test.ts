import {
  checkMapping,
  unknownFields,
  type MappingWishes,
  guessMapping,
  parseMapping,
  reportColumns,
  fieldWords,
} from './column-mapping.js';
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
      { 'Attendee code': 'attendeeCode?', 'Full name': 'Name?', 'E-Mail': 'Email?', Organisation: 'Company?' },
    ],
    [
      'ignores case and punctuation',
      ['ATTENDEE_CODE', 'name', 'job-title'],
      { ATTENDEE_CODE: 'attendeeCode?', name: 'Name?', 'job-title': 'Job title?' },
    ],
    [
      'guesses German headers',
      ['Ticketnummer', 'Vor- und Nachname', 'E-Mail-Adresse', 'Firma'],
      { Ticketnummer: 'attendeeCode?', 'Vor- und Nachname': 'Name?', 'E-Mail-Adresse': 'Email?', Firma: 'Company?' },
    ],
    [
      'guesses French headers',
      ['Code participant', 'Nom complet', 'Courriel', 'Société'],
      { 'Code participant': 'attendeeCode?', 'Nom complet': 'Name?', Courriel: 'Email?', Société: 'Company?' },
    ],
    [
      'guesses Spanish headers',
      ['Código', 'Nombre completo', 'Correo electrónico', 'Compañía'],
      { Código: 'attendeeCode?', 'Nombre completo': 'Name?', 'Correo electrónico': 'Email?', Compañía: 'Company?' },
    ],
    [
      'guesses Japanese headers',
      ['参加者コード', '氏名', 'メール', '会社名'],
      { 参加者コード: 'attendeeCode?', 氏名: 'Name?', メール: 'Email?', 会社名: 'Company?' },
    ],
    ['keeps the headers of other columns', ['Code', 'Table no.'], { Code: 'attendeeCode?', 'Table no.': 'Table no.' }],
    [
      'sends a second column for a field under its header, and prefers the exact name',
      ['Full name', 'Name', 'Ticket', 'Code'],
      { 'Full name': 'Full name', Name: 'Name', Ticket: 'attendeeCode?', Code: 'Code' },
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
      'The mapping sends two columns as "attendeeCode"; leave one of them out.',
    ],
    [
      'one column that is named twice',
      { Code: 'attendeeCode', code: 'Name' },
      'The mapping names the column "Code" twice; leave one out.',
    ],
  ])('is refused for %s', (_name, wishes, sentence) => {
    expect(() => guessMapping(['Code', 'Ticket'], known, wishes)).toThrow(new RegistrantFileError('mapping', sentence));
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
