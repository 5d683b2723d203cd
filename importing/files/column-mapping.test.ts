import {
  checkMapping,
  unknownFields,
  type MappingWishes,
  guessMapping,
  parseMapping,
  reportColumns,
} from './column-mapping.js';
import { fieldWords } from './field-words.js';
import { RegistrantFileError } from './registrant-file.js';

const known = ['Name', 'Email', 'Company', 'Job title'];

/** column → property, with a ? behind what was guessed. */
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
      'headers that are field names map to themselves',
      ['attendeeCode', 'Name', 'Email'],
      { attendeeCode: 'attendeeCode', Name: 'Name', Email: 'Email' },
    ],
    [
      'obvious names are guessed',
      ['Attendee code', 'Full name', 'E-Mail', 'Organisation'],
      { 'Attendee code': 'attendeeCode?', 'Full name': 'Name?', 'E-Mail': 'Email?', Organisation: 'Company?' },
    ],
    [
      'case and signs do not matter',
      ['ATTENDEE_CODE', 'name', 'job-title'],
      { ATTENDEE_CODE: 'attendeeCode?', name: 'Name?', 'job-title': 'Job title?' },
    ],
    [
      'German',
      ['Ticketnummer', 'Vor- und Nachname', 'E-Mail-Adresse', 'Firma'],
      { Ticketnummer: 'attendeeCode?', 'Vor- und Nachname': 'Name?', 'E-Mail-Adresse': 'Email?', Firma: 'Company?' },
    ],
    [
      'French',
      ['Code participant', 'Nom complet', 'Courriel', 'Société'],
      { 'Code participant': 'attendeeCode?', 'Nom complet': 'Name?', Courriel: 'Email?', Société: 'Company?' },
    ],
    [
      'Spanish',
      ['Código', 'Nombre completo', 'Correo electrónico', 'Compañía'],
      { Código: 'attendeeCode?', 'Nombre completo': 'Name?', 'Correo electrónico': 'Email?', Compañía: 'Company?' },
    ],
    [
      'Japanese',
      ['参加者コード', '氏名', 'メール', '会社名'],
      { 参加者コード: 'attendeeCode?', 氏名: 'Name?', メール: 'Email?', 会社名: 'Company?' },
    ],
    ['other columns keep their own header', ['Code', 'Table no.'], { Code: 'attendeeCode?', 'Table no.': 'Table no.' }],
    [
      'a second column for a field keeps its header, and the exact one wins',
      ['Full name', 'Name', 'Ticket', 'Code'],
      { 'Full name': 'Full name', Name: 'Name', Ticket: 'attendeeCode?', Code: 'Code' },
    ],
    ['columns without a name are not sent', ['Code', '(column 2)'], { Code: 'attendeeCode?', '(column 2)': null }],
    [
      'the columns of a report are not sent',
      [...reportColumns, 'attendeeCode'],
      { ...Object.fromEntries(reportColumns.map((column) => [column, null])), attendeeCode: 'attendeeCode' },
    ],
  ])('%s', (_name, columns, expected) => {
    expect(mapped(columns)).toEqual(expected);
  });

  it('keeps the header of an e-mail column where no field of that kind is known', () => {
    expect(mapped(['Code', 'E-Mail'], [])).toEqual({ Code: 'attendeeCode?', 'E-Mail': 'E-Mail' });
  });

  it('follows what a person wishes before it guesses', () => {
    const wishes = parseMapping(['Badge=attendeeCode', 'full name = Display name', 'Notes=']);
    expect(mapped(['Code', 'Badge', 'Full name', 'Notes'], known, wishes)).toEqual({
      Code: 'Code',
      Badge: 'attendeeCode',
      'Full name': 'Display name',
      Notes: null,
    });
  });

  it('does not send a column under a field that a person gave to another', () => {
    expect(mapped(['Code', 'Full name', 'Name'], known, { 'Full name': 'Name' })).toEqual({
      Code: 'attendeeCode?',
      'Full name': 'Name',
      Name: null,
    });
  });

  it.each([
    [
      'a column that the file does not have',
      { Gone: 'Name' },
      'The mapping names a column "Gone", which the file does not have; correct the name.',
    ],
    [
      'two columns for one field',
      { Code: 'attendeeCode', Ticket: 'attendeeCode' },
      'The mapping sends two columns as "attendeeCode"; leave one of them out.',
    ],
    [
      'one column under two names',
      { Code: 'attendeeCode', code: 'Name' },
      'The mapping names the column "Code" twice; leave one out.',
    ],
  ])('is refused for %s', (_name, wishes, sentence) => {
    expect(() => guessMapping(['Code', 'Ticket'], known, wishes)).toThrow(new RegistrantFileError('mapping', sentence));
  });

  it('has no word for two kinds of fields', () => {
    const words = fieldWords.flatMap(({ words: each }) => [...each]);
    expect(words.filter((word, index) => words.indexOf(word) !== index)).toEqual([]);
  });

  it('names the fields that were never seen', () => {
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

describe('a mapping without a code', () => {
  const check = (columns: string[], codes: 'required' | 'generated') => () =>
    checkMapping(guessMapping(columns, known), codes);

  it('is refused, unless codes are generated', () => {
    expect(check(['Name', 'Email'], 'required')).toThrow(
      'pigeonpost did not recognise a column with the attendee code; name it with --map "<column>=attendeeCode", or have codes generated.',
    );
    expect(check(['Name', 'Email'], 'generated')).not.toThrow();
    expect(check(['Code', 'Name'], 'required')).not.toThrow();
  });

  it.each([
    [['A001', 'Ada Lovelace', 'ada@example.com']],
    [['00123', 'Ada']],
    [['Ada', '+49 170 1234']],
    [['Ada', '2026-11-21']],
  ])('is refused for a missing header if the first row is a person, whom the sentence does not name: %j', (columns) => {
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
