import type { NamedImport } from '../../api/imports.js';
import type { ImportCheck, ImportCounts } from '../../importing/desk/import-views.js';

export function countsOf(given: Partial<ImportCounts> = {}): ImportCounts {
  return {
    created: 0,
    confirmed: 0,
    existing: 0,
    conflict: 0,
    rejected: 0,
    invalid: 0,
    unknown: 0,
    waiting: 0,
    cancelled: 0,
    ...given,
  };
}

/** Returns an import in progress with the given changes. */
export function viewOf(given: Partial<NamedImport> = {}): NamedImport {
  return {
    id: '7',
    workspace: 'acme',
    pigeonholeId: 101,
    event: null,
    file: 'people.csv',
    state: 'running',
    reason: null,
    until: null,
    pausedBy: null,
    requestedBy: 'ada',
    startedAt: '2026-11-21T18:00:00.000Z',
    endedAt: null,
    rows: 20_000,
    counts: countsOf({ created: 12_500, waiting: 7500 }),
    canary: null,
    requests: 25,
    ...given,
  };
}

/** Returns the plan for a file without problems, with the given changes. */
export function checkOf(given: Partial<ImportCheck> = {}): ImportCheck {
  return {
    target: {
      workspace: 'acme',
      pigeonholeId: 101,
      name: 'Annual Conference',
      startDate: '2026-11-22',
      endDate: '2026-11-23',
      status: 'upcoming',
      timezone: 'UTC',
      asOf: null,
    },
    file: {
      name: 'people.csv',
      format: 'csv',
      encoding: 'utf-8',
      encodingGuess: null,
      remarks: [],
      delimiter: ';',
      sheet: null,
      contentHash: '00',
    },
    columns: [
      { column: 'Ticket', property: 'attendeeCode', guessed: true, known: true, sample: '00123' },
      { column: 'Name', property: 'Name', guessed: false, known: true, sample: 'Ada Lovelace' },
      { column: 'Notes', property: null, guessed: false, known: null, sample: null },
    ],
    codeColumn: { basis: 'mapped', candidates: [], doubt: null },
    names: { missing: false, parts: [] },
    rows: 20_000,
    counts: { send: 20_000, existing: 0, conflict: 0, rejected: 0, elsewhere: 0, invalid: 0 },
    canary: null,
    generatedCodes: 0,
    problems: [],
    problemsLeftOut: 0,
    problemGroups: [],
    problemCounts: [],
    noteCounts: [],
    estimate: { requests: 40, rowsPerRequest: 500, left: 900, limit: 1000, resetAt: null, waits: 0, doneAt: null },
    ...given,
  };
}
