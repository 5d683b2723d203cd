import { kinds, useBothDatabases } from '../ledger/drivers/both-databases.test-kit.js';
import type { Database } from '../ledger/drivers/database.js';
import type { Ledger } from '../ledger/ledger.js';
import { Backlogs, type BehindLane } from './backlogs.js';

const databases = useBothDatabases();
const at = (second: number): Date => new Date(Date.parse('2026-11-21T10:00:00Z') + second * 1000);

describe.each(kinds)('the changes after a watermark, on %s', (kind) => {
  let db: Database;
  let statements: number;
  let backlogs: Backlogs;
  beforeEach(async () => {
    db = databases.of(kind);
    statements = 0;
    backlogs = new Backlogs();
    await db.script('truncate changes');
  });

  /** Appends changes up to a sequence: every third is a vote, the others are questions. */
  async function append(from: number, to: number): Promise<void> {
    await db.query(
      `insert into changes (pigeonhole_number, sequence, id, list, key, revision, kind, found_at)
       select 7, n, gen_random_uuid(), case when n % 3 = 0 then 'votes' else 'questions' end, n::text, 1, 'created',
         $3::timestamptz + n * interval '1 second' from generate_series($1::int8, $2::int8) n`,
      [from, to, at(0)],
    );
  }

  const lane = (given: Partial<BehindLane>): BehindLane => {
    return { sinkId: 1, pigeonholeNumber: 7, watermark: 0, newest: 0, lists: 'votes', ...given };
  };
  async function of(...lanes: BehindLane[]): ReturnType<Backlogs['of']> {
    const query: Database['query'] = (sql, params) => {
      statements += 1;
      return db.query(sql, params);
    };
    return await backlogs.of({ db: { query } } as unknown as Ledger, lanes);
  }

  it('are counted if they are of a list that the sink accepts', async () => {
    await append(1, 10);
    expect(
      await of(
        lane({ newest: 10 }),
        lane({ sinkId: 2, newest: 10, watermark: 4, lists: 'votes questions' }),
        lane({ sinkId: 3, newest: 10, watermark: 9 }),
        lane({ sinkId: 4, newest: 10, watermark: 8, lists: '' }),
      ),
    ).toEqual([
      { behind: 3, byList: new Map([['votes', 3]]), since: at(3) },
      {
        behind: 6,
        byList: new Map([
          ['votes', 2],
          ['questions', 4],
        ]),
        since: at(5),
      },
      { behind: 0, byList: new Map(), since: null },
      { behind: 2, byList: new Map([['', 2]]), since: at(9) },
    ]);
  });

  it('are read only once while the watermark stays', async () => {
    await append(1, 10);
    await of(lane({ newest: 10 }));
    expect(await of(lane({ newest: 10 }))).toMatchObject([{ behind: 3, since: at(3) }]);
    expect(statements).toBe(1);
    await append(11, 12);
    await db.query('delete from changes where sequence <= 10'); // what was counted is not read again
    expect(await of(lane({ newest: 12 }))).toEqual([{ behind: 4, byList: new Map([['votes', 4]]), since: at(3) }]);
    expect(await of(lane({ newest: 12, watermark: 11 }))).toMatchObject([{ behind: 1, since: at(12) }]);
  });

  it('are read again if the sink accepts other lists', async () => {
    await append(1, 10);
    await of(lane({ newest: 10 }));
    expect(await of(lane({ newest: 10, lists: 'questions' }))).toMatchObject([{ behind: 7, since: at(1) }]);
  });

  it('are not counted by list if there are too many, but the first is found', async () => {
    await append(1, 6000);
    expect(await of(lane({ newest: 6000 }))).toEqual([{ behind: 6000, byList: new Map([['', 6000]]), since: at(3) }]);
    expect(await of(lane({ newest: 6000, lists: 'answers' }))).toMatchObject([{ behind: 6000, since: at(5001) }]);
  });

  it('are counted for as many lanes as one call may read, the shortest first, and later for the others', async () => {
    await append(1, 3000);
    const lanes = Array.from({ length: 8 }, (_, index) => lane({ sinkId: index + 1, newest: 3000, watermark: 0 }));
    const first = await of(...lanes);
    expect(first.map(({ behind }) => behind)).toEqual([...Array<number>(6).fill(1000), 3000, 3000]);
    expect(first.map(({ since }) => since)).toEqual(Array(8).fill(at(3)));
    expect((await of(...lanes)).map(({ behind }) => behind)).toEqual(Array(8).fill(1000));
  });
});
