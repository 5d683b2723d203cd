import type { ProblemGroup } from '../../importing/desk/import-views.js';
import { ProblemGroups } from '../../importing/desk/problem-tally.js';
import { exitCodeOf, formatReport } from './report-end.js';
import { countsOf, viewOf } from './import-views.test-kit.js';

/** Returns rows, from the second one on, with the same response of the service. */
function refused(rows: number, column: string, optional: boolean): ProblemGroup[] {
  const groups = new ProblemGroups();
  for (let row = 2; row < rows + 2; row += 1) {
    groups.add({ row, column, code: 'rejected', message: 'unknown field' }, optional);
  }
  return groups.all;
}

describe('the report of an import', () => {
  it('explains each outcome, and names the rows that need attention', () => {
    const counts = countsOf({
      created: 19_990,
      confirmed: 2,
      existing: 3,
      conflict: 1,
      rejected: 1,
      invalid: 1,
      unknown: 2,
    });
    expect(formatReport(viewOf({ state: 'done', counts }), refused(2, 'Email', true), null)).toEqual([
      'import 7 into acme/101: done, 20,000 rows',
      '  19,990 created',
      '       2 created (the answer was lost; confirmed by a duplicate error)',
      '       3 already registered',
      '       1 conflict: the code exists with different data; edit the registrant in the dashboard of the service',
      '       1 rejected by the service',
      '       1 not sent: correct these rows in the file',
      '       2 unknown: pigeonpost could not find out whether they exist',
      'people.csv, 2 rows (2, 3), Email: unknown field',
      'each row, ready to be corrected: pigeonpost import report 7 > report.csv',
    ]);
  });

  it('has one sentence for all rows with the same answer, and says how to import without the column', () => {
    const view = viewOf({ state: 'done', rows: 2005, counts: countsOf({ rejected: 2005 }) });
    const lines = formatReport(view, refused(2005, 'Notes', true), null);
    expect(lines.slice(3, -1)).toEqual([
      'people.csv, 2,005 rows (2, 3, 4, …), Notes: unknown field. To import without this column, add --map "Notes="',
    ]);
    expect(formatReport(view, refused(2005, 'Ticket', false), null)[3]).toBe(
      'people.csv, 2,005 rows (2, 3, 4, …), Ticket: unknown field',
    );
  });

  it('is two lines if there were no problems', () => {
    const view = viewOf({ state: 'done', rows: 1, counts: countsOf({ created: 1 }) });
    expect(formatReport(view, [], null)).toEqual(['import 7 into acme/101: done, 1 row', '  1 created']);
  });

  it('says why a file could not be used', () => {
    const view = viewOf({ state: 'cancelled', rows: 0, reason: 'The file is empty; export it again.' });
    expect(formatReport(view, [], null)[0]).toBe(
      'import 7 into acme/101: the file cannot be used: The file is empty; export it again.',
    );
  });

  it('says how to import the rows that a canary did not import', () => {
    const view = viewOf({ state: 'done', canary: 1, counts: countsOf({ created: 1, cancelled: 19_999 }) });
    expect(formatReport(view, [], 'report.csv')).toEqual([
      'import 7 into acme/101: done (canary of 1 row), 20,000 rows',
      '       1 created',
      '  19,999 left for the same command without --canary',
      'the result of each row is in report.csv',
    ]);
  });
});

describe('a finished import', () => {
  it.each([
    [0, 'done', { created: 5, confirmed: 1, existing: 2 }],
    [5, 'done', { created: 5, rejected: 1 }],
    [5, 'done', { created: 5, invalid: 1 }],
    [5, 'done', { created: 5, conflict: 1 }],
    [5, 'done', { created: 5, unknown: 1 }],
    [1, 'cancelled', { created: 5, cancelled: 1 }],
  ] as const)('ends the command with %i when it is %s with %j', (code, state, counts) => {
    expect(exitCodeOf({ state, counts: countsOf(counts) })).toBe(code);
  });
});
