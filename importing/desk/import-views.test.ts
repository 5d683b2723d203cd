import type { StoredReportRow } from '../import-report.js';
import type { ImportProgress } from '../read-import.js';
import { storedColumns, viewImport, viewReportRow } from './import-views.js';

const since = new Date('2026-11-21T18:00:00Z');

function progressOf(given: Partial<ImportProgress>): ImportProgress {
  return {
    number: 7,
    id: '00000000-0000-4000-8000-000000000007',
    workspace: 'acme',
    pigeonholeId: 101,
    file: 'people.csv',
    mapping: { columns: [] },
    requestedBy: null,
    requestedToken: null,
    canary: null,
    state: 'running',
    waitReason: null,
    waitUntil: null,
    pauses: [],
    failures: 0,
    failure: null,
    unusable: null,
    createdAt: since,
    startedAt: since,
    endedAt: null,
    counts: {
      created: 0,
      confirmed: 0,
      existing: 0,
      conflict: 0,
      rejected: 0,
      unknown: 0,
      waiting: 0,
      invalid: 0,
      cancelled: 0,
    },
    rows: 0,
    requests: 0,
    ...given,
  };
}

const pauseOf = (given: Partial<ImportProgress['pauses'][number]>): ImportProgress['pauses'][number] => ({
  scope: 'import',
  pausedBy: 'person',
  cause: 'asked',
  detail: 'wrong list',
  actor: 'ada',
  since,
  ...given,
});

describe('the view of an import', () => {
  it.each<[string, Partial<ImportProgress>, object]>([
    ['shows its number and state', {}, { id: '7', state: 'running', reason: null, until: null, pausedBy: null }],
    [
      'shows that it waits for the quota',
      { state: 'waiting', waitReason: 'quota', waitUntil: since },
      { reason: 'quota used up', until: since.toISOString() },
    ],
    [
      'shows a failure in the words of the service',
      { state: 'waiting', waitReason: 'failing', failure: 'code 5000' },
      { reason: 'code 5000' },
    ],
    [
      'names the person who paused it',
      { state: 'paused', pauses: [pauseOf({})] },
      { reason: 'by ada: wrong list', pausedBy: 'person' },
    ],
    [
      'shows that it is paused with its workspace',
      { state: 'paused', pauses: [pauseOf({ scope: 'workspace', actor: null })] },
      { reason: 'by an operator (the workspace): wrong list' },
    ],
    [
      'shows the cause of an automatic pause',
      { state: 'paused', pauses: [pauseOf({ pausedBy: 'cause', detail: 'switch registrants on' })] },
      { reason: 'switch registrants on', pausedBy: 'cause' },
    ],
    [
      'shows an import as running while it is being cancelled',
      { state: 'cancelling' },
      { state: 'running', reason: 'being cancelled: requests in progress are settled first' },
    ],
  ])('%s', (_, given, expected) => {
    expect(viewImport(progressOf(given))).toMatchObject(expected);
  });
});

describe('a row of the report', () => {
  const columns = storedColumns({
    columns: [
      { column: 'Ticket', property: 'attendeeCode' },
      { column: 'Mail', property: 'Email' },
      { column: 'Notes', property: null },
    ],
  });
  const rowOf = (given: Partial<StoredReportRow>): StoredReportRow => ({
    row: 5,
    profile: {},
    outcome: 'created',
    field: null,
    message: null,
    requestId: null,
    problems: [],
    ...given,
  });

  it.each<[string, Partial<StoredReportRow>, object[]]>([
    [
      'names the column of the field that was refused',
      { outcome: 'rejected', field: 'Email', message: 'no', requestId: 'r' },
      [{ column: 'Mail', code: 'rejected', message: 'no', requestId: 'r', optionalColumn: true }],
    ],
    [
      'names the field if its column is unknown',
      { outcome: 'rejected', field: 'Seat', message: 'no' },
      [{ column: 'Seat', optionalColumn: false }],
    ],
    [
      'says what to do about a conflict',
      { outcome: 'conflict' },
      [{ column: 'Ticket', code: 'conflict', optionalColumn: false, message: expect.stringContaining('dashboard') }],
    ],
    [
      'lists each problem of a row that was never sent',
      {
        outcome: 'invalid',
        problems: [
          { row: 5, column: 'Mail', code: 'too-long', message: 'm' },
          { row: 5, column: null, code: 'too-few-cells', message: 'n' },
        ],
      },
      [
        { column: 'Mail', code: 'too-long', message: 'm' },
        { column: null, code: 'too-few-cells', message: 'n' },
      ],
    ],
    ['adds nothing for a row that was created', {}, [{ code: 'created', column: null, message: null }]],
  ])('%s', (_, given, expected) => {
    const rows = viewReportRow(rowOf(given), columns);
    expect(rows).toHaveLength(expected.length);
    expect(rows).toMatchObject(expected);
  });

  it('finds no columns if none were stored', () => {
    expect([null, 5, {}, { columns: 'x' }].map(storedColumns)).toEqual(Array(4).fill({ columns: [] }));
  });
});
