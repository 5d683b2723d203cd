import { agrees, compareCounts, formatComparison, reportComparison, countArchive } from './compare.js';
import { receivingProblems } from './stand-in-state.js';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const counts = (given: Record<string, number>): Map<string, number> => new Map(Object.entries(given));
const good = { items: 9, repeats: 0, differingRepeats: 0, outOfOrder: 0, missingRevisions: 0 };

const rows = compareCounts({
  source: counts({ attendees: 10, votes: 300 }),
  delivered: new Map([
    ['archive', counts({ attendees: 8, votes: 300 })],
    ['hooks', counts({ attendees: 4, votes: 299, ghosts: 1 })],
  ]),
  withheld: new Map([
    ['archive', counts({ attendees: 2 })],
    ['hooks', counts({ attendees: 6 })],
  ]),
});

function reported(
  compared: typeof rows,
  problems: readonly string[] = [],
): { code: number; lines: string[]; notes: string[] } {
  const lines: string[] = [];
  const notes: string[] = [];
  const code = reportComparison(
    { rows: compared, problems },
    { line: (text) => lines.push(text), note: (text) => notes.push(text) },
  );
  return { code, lines, notes };
}

describe('the comparison of source and destinations', () => {
  it('has a row for each list at each sink, including lists that only a sink has', () => {
    expect(rows.map((row) => `${row.list}/${row.sink} ${agrees(row)}`)).toEqual([
      'attendees/archive true',
      'attendees/hooks true',
      'votes/archive true',
      'votes/hooks false',
      'ghosts/archive true',
      'ghosts/hooks false',
    ]);
  });

  it('has no row for a list that a sink does not accept', () => {
    const own = compareCounts({
      source: counts({ attendees: 10, votes: 300 }),
      delivered: new Map([
        ['archive', counts({ attendees: 10, votes: 300 })],
        ['crm', counts({ attendees: 10 })],
      ]),
      withheld: new Map(),
      lists: new Map([['crm', ['attendees']]]),
    });
    expect(own.map((row) => `${row.list}/${row.sink} ${agrees(row)}`)).toEqual([
      'attendees/archive true',
      'attendees/crm true',
      'votes/archive true',
    ]);
  });

  it('is printed as a table with the difference of each row', () => {
    expect(formatComparison(rows)).toEqual([
      'list       sink     source  =  delivered  +  withheld',
      'attendees  archive      10  =          8  +         2  agrees',
      'attendees  hooks        10  =          4  +         6  agrees',
      'votes      archive     300  =        300  +         0  agrees',
      'votes      hooks       300  =        299  +         0  DIFFERS by -1',
      'ghosts     archive       0  =          0  +         0  agrees',
      'ghosts     hooks         0  =          1  +         0  DIFFERS by 1',
    ]);
  });
});

describe('the report of a comparison', () => {
  it('exits with 0 if every row agrees', () => {
    expect(reported(rows.slice(0, 3))).toMatchObject({ code: 0, notes: [] });
  });

  it('exits with 1 and names the rows that disagree', () => {
    expect(reported(rows)).toMatchObject({
      code: 1,
      notes: [
        'votes at hooks: the source has 300, but 299 delivered + 0 withheld = 299',
        'ghosts at hooks: the source has 0, but 1 delivered + 0 withheld = 1',
      ],
    });
  });

  it('exits with 1 if all items arrived but a delivery guarantee was violated', () => {
    const problems = receivingProblems({ deliveries: 9, refused: {}, lists: { votes: { ...good, outOfOrder: 2 } } });
    expect(reported(rows.slice(0, 3), problems)).toMatchObject({
      code: 1,
      notes: ['2 changes of votes arrived after a later revision of the same item'],
    });
  });

  it('allows repeats that are identical byte for byte', () => {
    expect(receivingProblems({ deliveries: 9, refused: {}, lists: { votes: { ...good, repeats: 3 } } })).toEqual([]);
  });
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'count-archive-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Line {
  readonly pigeonholeId?: number;
  readonly key: string;
  readonly revision?: number;
  readonly data?: object | null;
}

function writeDay(day: string, list: string, lines: readonly Line[]): void {
  const path = join(folder, 'sandbox', '101', list);
  mkdirSync(path, { recursive: true });
  const text = lines.map((line) => `${JSON.stringify({ pigeonholeId: 101, list, revision: 1, data: {}, ...line })}\n`);
  writeFileSync(join(path, `${day}.ndjson`), text.join(''));
}

describe('the items of an archive', () => {
  it('count once for all their revisions and days', async () => {
    writeDay('2026-11-20', 'questions', [{ key: '1' }, { key: '2' }]);
    writeDay('2026-11-21', 'questions', [{ key: '1', revision: 2 }]);
    writeDay('2026-11-21', 'votes', [{ key: '1' }]);
    expect(await countArchive(folder)).toEqual(
      new Map([
        ['questions', 2],
        ['votes', 1],
      ]),
    );
  });

  it('count separately in each pigeonhole', async () => {
    writeDay('2026-11-20', 'questions', [{ key: '1' }, { key: '1', pigeonholeId: 102 }]);
    expect(await countArchive(folder)).toEqual(new Map([['questions', 2]]));
  });

  it('do not count if their last revision is a deletion, in any order of lines', async () => {
    writeDay('2026-11-20', 'questions', [{ key: '1', revision: 2, data: null }, { key: '2' }]);
    writeDay('2026-11-21', 'questions', [
      { key: '1' },
      { key: '2', revision: 2, data: null },
      { key: '2', revision: 3 },
    ]);
    expect(await countArchive(folder)).toEqual(new Map([['questions', 1]]));
  });

  it('cannot be counted if a line is incomplete', async () => {
    writeDay('2026-11-20', 'questions', [{ key: '1' }]);
    writeFileSync(join(folder, 'sandbox/101/questions/2026-11-21.ndjson'), '{"key":"2"');
    await expect(countArchive(folder)).rejects.toThrow(SyntaxError);
  });
});
