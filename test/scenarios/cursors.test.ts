import { walksInCircle } from '../../ledger/pages.js';
import { attendee } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { archived, type Stage, useStages } from '../kit/stage.js';

const stages = useStages();

interface StoredPage {
  readonly ordinal: number;
  readonly cursor: string | null;
  readonly digest: string | null;
}

async function storedPages({ db }: Stage): Promise<StoredPage[]> {
  const rows = await db.query(
    `select p.ordinal, p.cursor, encode(p.digest, 'hex') as digest from pages p join streams s on s.id = p.stream_id
     where s.list = 'attendees' order by 1`,
  );
  return rows as unknown as StoredPage[];
}

async function sweep(stage: Stage, scene: Scene): Promise<void> {
  await stage.sweepsAreDue();
  await scene.settle();
}

describe.each(kinds)('cursors that are signed and carry an instant, on %s', (kind) => {
  async function readList(knobs: object): Promise<{ stage: Stage; scene: Scene }> {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 10, cursorText: 'signed', ...knobs });
    await stage.put('attendees', ...Array.from({ length: 25 }, (_, index) => attendee(index + 1)));
    const scene = await stage.scene();
    await scene.settle();
    return { stage, scene };
  }

  it('do not make an unchanged page look changed, and are stored as received by the last walk', async () => {
    const { stage, scene } = await readList({});
    await sweep(stage, scene);
    const before = await storedPages(stage);
    await sweep(stage, scene);
    const after = await storedPages(stage);
    expect(after.map(({ digest }) => digest)).toEqual(before.map(({ digest }) => digest));
    expect(after.map(({ digest }) => digest)).not.toContain(null);
    expect(after[1]!.cursor).not.toBe(before[1]!.cursor);
    const [stream] = await stage.db.query(`select differs from streams where list = 'attendees'`);
    expect(stream).toEqual({ differs: false });
  });

  it.each(['keyset', 'offset'])('allow a deletion to be proved in a list without order (%s)', async (cursor) => {
    const { stage, scene } = await readList({ order: 'unordered', cursor });
    await stage.remove('attendees', 15);
    for (let walk = 0; walk < 2; walk += 1) await sweep(stage, scene);
    expect(archived(scene, 'attendees', 15).map(({ type }) => type)).toEqual(['attendees.created']);
    await stage.db.query(`update streams set sequence_since = sequence_since - interval '25 hours'`);
    await stage.db.query(
      `update missing set since = since - interval '25 hours', evident_at = evident_at - interval '25 hours',
       confirm_at = confirm_at - interval '25 hours'`,
    );
    await sweep(stage, scene);
    expect(archived(scene, 'attendees', 15).map(({ type }) => type)).toEqual([
      'attendees.created',
      'attendees.deleted',
    ]);
  });

  it('are detected when they repeat within a walk, even if the first page of the walk was unchanged', async () => {
    const { stage, scene } = await readList({});
    await sweep(stage, scene);
    await stage.db.query(
      `update streams set failures = 0, sweep_due_at = now(), due_at = now() where list = 'attendees'`,
    );
    await stage.fault({ kind: 'repeatCursor', list: 'attendees', hasCursor: true });
    await scene.settle();
    const [stream] = await stage.db.query<{ failures: number; failure: string }>(
      `select failures, failure from streams where list = 'attendees'`,
    );
    expect(stream!.failures).toBeGreaterThan(0);
    expect(stream!.failure).toContain('cursor');
  });

  it.each(['ascending', 'unordered'])('that lead in a circle end the walk of a list (%s)', async (order) => {
    const { stage, scene } = await readList({ order });
    await sweep(stage, scene);
    await stage.fault({ kind: 'circle', list: 'attendees' });
    await stage.db.query(`update streams set sweep_due_at = now(), due_at = now() where list = 'attendees'`);
    const failure = async (): Promise<string | null> => {
      const [stream] = await stage.db.query<{ failure: string | null }>(
        `select failure from streams where list = 'attendees'`,
      );
      return stream!.failure;
    };
    for (let cycle = 0; cycle < 30 && (await failure()) === null; cycle += 1) {
      await stage.db.query(`update streams set due_at = now() where list = 'attendees'`);
      await scene.settle();
    }
    expect(await failure()).toContain('leads back to pages');
  });

  it('that lead from the last page to itself end the poll and the next sweep', async () => {
    const { stage, scene } = await readList({ order: 'ascending' });
    await sweep(stage, scene);
    await stage.db.query(
      `update streams set sweep_due_at = now() + interval '1 day', due_at = now() where list = 'attendees'`,
    );
    await stage.fault({ kind: 'lastPageAgain', list: 'attendees' });
    const stream = async (): Promise<{ failure: string | null; checkpoint: string | null; polls: number }> => {
      const [found] = await stage.db.query<{ failure: string | null; checkpoint: string | null; polls: number }>(
        `select failure, checkpoint, (select count(*)::int from walks w where w.stream_id = s.id and w.kind = 'poll') as polls
         from streams s where list = 'attendees'`,
      );
      return found!;
    };
    expect(await stream()).toMatchObject({ failure: null, checkpoint: expect.any(String), polls: 0 });
    for (let cycle = 0; cycle < 10 && (await stream()).failure === null; cycle += 1) {
      await stage.db.query(`update streams set due_at = now() where list = 'attendees'`);
      await scene.settle();
    }
    expect((await stream()).failure).toContain('leads back to pages');
    expect(await stream()).toMatchObject({ checkpoint: null, polls: 0 });
    expect(archived(scene, 'attendees').filter(({ type }) => type === 'attendees.deleted')).toEqual([]);
  });

  it.each([
    ['three equal pages of ids', { count: 3, high: 5, hasIds: true }, true],
    ['two equal pages of ids', { count: 2, high: 5, hasIds: true }, false],
    ['three equal pages of rows without ids', { count: 3, high: 6, hasIds: false }, true],
    ['pages of identical rows without ids', { count: 100, high: 5, hasIds: false }, false],
    ['a page of identical rows without ids that never ends', { count: 101, high: 5, hasIds: false }, true],
  ])(
    'that lead to %s: pigeonpost decides whether the walk is a circle',
    async (_, { count, high, hasIds }, isCircle) => {
      const { stage, scene } = await readList({});
      const [stream] = await stage.db.query<{ id: number }>(`select id from streams where list = 'attendees'`);
      await stage.db.query('delete from pages where stream_id = $1', [stream!.id]);
      await stage.db.query(
        `insert into pages (stream_id, ordinal, cursor, digest, keys, low, high, set_aside, foreign_rows)
       select $1::int8, n, 'cursor ' || n, '\x01', '{}', 5, $3::int8, 0, 0 from generate_series(0, $2::int4 - 1) n`,
        [stream!.id, count, high],
      );
      const walk = { pages: count, cursor: 'another', hasIds };
      expect(await walksInCircle(scene.ledger, { streamId: stream!.id }, walk)).toBe(isCircle);
    },
  );
});
