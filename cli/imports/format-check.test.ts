import type { ImportProblem } from '../../importing/desk/import-views.js';
import { ProblemGroups } from '../../importing/desk/problem-tally.js';
import { formatCheck, questionOf, strangeFields } from './format-check.js';
import { checkOf } from './import-views.test-kit.js';

const now = new Date('2026-11-21T18:00:00Z');
const sheet = { columns: 100, now, timeZone: 'UTC' };
const columnOf = (property: string, known: boolean | null, sample = 'x') => ({
  column: property,
  property,
  guessed: false,
  known,
  sample,
});

describe('the plan of an import', () => {
  it('shows file, pigeonhole, columns with an example, counts and requests', () => {
    expect(formatCheck(checkOf(), sheet)).toEqual([
      'file    people.csv, CSV, semicolons, utf-8, 20,000 rows',
      'to      acme/101 Annual Conference, 2026-11-22 to 2026-11-23, upcoming',
      '',
      'column  becomes                 for example',
      'Ticket  attendeeCode (guessed)  00123',
      'Name    Name                    Ada Lovelace',
      'Notes   not sent',
      '',
      '20,000 to send',
      '',
      '40 requests of up to 500 rows; the quota has 900 left',
      'sending takes at most 1 s per request',
    ]);
  });

  it('shows how the file was read, and names that prove a guessed encoding', () => {
    const proof = (line: number, ...texts: string[]) => ({
      line,
      readings: ['windows-1252', 'windows-1250'].map((encoding, index) => ({ encoding, text: texts[index]! })),
    });
    const guess = { encoding: 'windows-1252', proofs: [proof(2, 'Sørensen', 'Sřrensen'), proof(7, 'Bjørn', 'Bjřrn')] };
    const planOf = (isSure: boolean) => {
      const file = { ...checkOf().file, remarks: ['Row 4 is the header.'], encodingGuess: { ...guess, isSure } };
      return formatCheck(checkOf({ file }), sheet).slice(1, 5);
    };
    expect(planOf(false)).toEqual([
      'note    Row 4 is the header.',
      'note    the encoding windows-1252 is not certain: check the names, or choose another with --encoding',
      '        as windows-1252: Sørensen (line 2), Bjørn (line 7)',
      '        or as windows-1250: Sřrensen (line 2), Bjřrn (line 7)',
    ]);
    expect(planOf(true)[1]).toBe('note    the encoding windows-1252 was guessed');
  });

  it('names rows that are not sent again, and why', () => {
    const counts = { send: 1, existing: 200, conflict: 3, rejected: 4, elsewhere: 5, invalid: 6 };
    const lines = formatCheck(checkOf({ counts, generatedCodes: 1 }), sheet);
    expect(lines.slice(8, 15)).toEqual([
      '  1 to send',
      '200 sent before with the same data: not sent again',
      '  3 sent before with different data: edit the registrant in the dashboard of the service',
      '  4 refused before and unchanged since: not sent again',
      '  5 in another import that has not finished: this import waits for it and then reports their outcome',
      '  6 not sent, because of the problems below',
      '  1 row gets a generated code',
    ]);
  });

  it('shows the number of rows of a canary, and confirms only those', () => {
    const check = checkOf({ canary: 1 });
    expect(formatCheck(check, sheet).slice(8, 10)).toEqual([
      '20,000 to send',
      '     1 to send now, the rest without --canary',
    ]);
    expect(questionOf(check)).toMatch(/^Create 1 registrant in acme\/101 Annual Conference, /);
    expect(questionOf(checkOf())).toMatch(/^Create 20,000 registrants in /);
    expect(formatCheck(checkOf({ canary: 50_000 }), sheet)).toEqual(formatCheck(checkOf(), sheet));
  });

  it('says that field names cannot be checked only if the pigeonhole has no attendees', () => {
    const warning =
      'this pigeonhole has no attendees yet, so the field names cannot be checked: import one row with --canary 1 to see whether they arrive';
    const withKnown = (known: boolean | null) =>
      formatCheck(checkOf({ columns: [columnOf('attendeeCode', true), columnOf('Name', known)] }), sheet);
    expect(withKnown(null)).toContain(warning);
    expect([...withKnown(true), ...withKnown(false)]).not.toContain(warning);
    expect(formatCheck(checkOf({ columns: [columnOf('attendeeCode', true)] }), sheet)).not.toContain(warning);
  });

  it('names the file and rows of a problem, has one sentence for all rows with the same problem, and counts further problems', () => {
    const problem = (row: number, column: string, message: string): ImportProblem => {
      return { row, column, code: 'too-long', message };
    };
    const lines = (problems: ImportProblem[], problemsLeftOut = 0): string[] => {
      const groups = new ProblemGroups();
      for (const each of problems) groups.add(each, true);
      return formatCheck(checkOf({ problems, problemsLeftOut, problemGroups: groups.all }), sheet);
    };
    const same = Array.from({ length: 1250 }, (_, n) => problem(n + 2, 'Notes', 'It is too long.'));
    expect(lines(same)).toContain(
      'people.csv, 1,250 rows (2, 3, 4, …), Notes: It is too long. To import without this column, add --map "Notes="',
    );
    const different = Array.from({ length: 25 }, (_, n) => problem(n + 2, 'Notes', `Sentence ${n}.`));
    expect(lines(different, 3)).toEqual(
      expect.arrayContaining(['people.csv, row 21, Notes: Sentence 19.', 'and 8 more problems']),
    );
    expect(lines(different).join()).not.toContain('Sentence 20.');
  });

  it('names the rows of notes, and the option that generates codes', () => {
    const message = 'The attendee code is missing; enter one.';
    const groups = new ProblemGroups();
    groups.add({ row: 9, column: 'Ticket', code: 'missing-code', message }, false);
    const noteCounts = [{ code: 'trimmed', column: 'Ticket', rows: 1, firstRows: [4] }];
    const problems = [{ row: 9, column: 'Ticket', code: 'missing-code', message }];
    const lines = formatCheck(checkOf({ noteCounts, problems, problemGroups: groups.all }), sheet);
    expect(lines).toContain('note    row 4, Ticket: white space around the value was removed');
    expect(lines).toContain(`people.csv, row 9, Ticket: ${message} To generate codes, add --generate-codes`);
  });

  it('shows waits for the quota, and when the import ends', () => {
    const estimate = {
      requests: 40,
      rowsPerRequest: 500,
      left: 12,
      limit: 1000,
      resetAt: '2026-11-22T02:00:00Z',
      waits: 1,
      doneAt: '2026-11-22T02:01:00Z',
    };
    expect(formatCheck(checkOf({ estimate }), sheet).slice(-2)).toEqual([
      '40 requests of up to 500 rows; the quota has 12 left, and more at 22 Nov 2026, 02:00 (in 8 h)',
      'sending takes at most 1 s per request, and waits for the quota once; done about 22 Nov 2026, 02:01 (in 8 h)',
    ]);
  });

  it.each([
    [{ left: null }, '40 requests of up to 500 rows; the remaining quota is unknown'],
    [{ requests: 0 }, 'there is nothing to send'],
    [{ waits: null }, 'sending takes at most 1 s per request, and waits for the quota'],
    [{ waits: 3 }, 'sending takes at most 1 s per request, and waits for the quota 3 times'],
  ])('with %j has the last line "%s"', (given, last) => {
    const { estimate } = checkOf();
    expect(formatCheck(checkOf({ estimate: { ...estimate, ...given } }), sheet).at(-1)).toBe(last);
  });

  it('cuts examples to a narrow terminal, but no sentences', () => {
    const lines = formatCheck(checkOf({ columns: [columnOf('Name', true, 'Ada '.repeat(30))] }), {
      ...sheet,
      columns: 40,
    });
    expect(lines.find((line) => line.includes('Ada'))).toMatch(/^Name {4}Name {5}(?:Ada )+.*…$/);
    expect(Math.max(...lines.slice(3, 5).map((line) => line.length))).toBe(40);
  });

  it('contains no control characters of the file', () => {
    const column = { ...columnOf('Name', true, 'a\u001b[31mb'), column: 'Na\u0007me' };
    expect(formatCheck(checkOf({ columns: [column] }), sheet).join('\n')).not.toMatch(/[^\P{Cc}\n]/u);
  });

  it('shows the age of the pigeonhole data if the service could not be read', () => {
    const { target } = checkOf();
    const [, to] = formatCheck(checkOf({ target: { ...target, asOf: '2026-11-21T15:00:00Z' } }), sheet);
    expect(to).toMatch(/, upcoming, as of 3 h ago$/);
  });
});

describe('a field that no attendee of a pigeonhole has', () => {
  it('is reported, unlike the code and fields that cannot be compared', () => {
    const columns = [columnOf('attendeeCode', false), columnOf('Emial', false), columnOf('Name', true)];
    expect(strangeFields(columns)).toEqual(['Emial']);
    expect(strangeFields([columnOf('Emial', null)])).toEqual([]);
    expect(formatCheck(checkOf({ columns }), sheet)).toContain('Emial         Emial (unknown field)  x');
  });
});
