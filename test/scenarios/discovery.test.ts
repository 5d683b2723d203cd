import { kinds } from '../kit/scenario-kinds.js';
import { attendee, question, session } from '../kit/items.js';
import { archived, pigeonhole, type Stage, useStages } from '../kit/stage.js';

const stages = useStages();
const place = { workspace: 'acme', pigeonholeId: pigeonhole };

const event = (id: number, more: object = {}) => ({
  id,
  name: `ACME Event ${id}`,
  status: 'live',
  startDate: '2026-11-20',
  endDate: '2026-11-22',
  timezone: 'UTC',
  ...more,
});

const asked = async (stage: Stage): Promise<string[]> =>
  (await stage.requests()).map(({ path }) => path).filter((path) => /^\/v2\/pigeonholes\/\d+$/.test(path));

/** Moves the records a minute into the past. */
async function aMinutePasses(stage: Stage): Promise<void> {
  await stage.db.query(`update pigeonholes set read_by_id_at = read_by_id_at - interval '61 seconds'`);
  await stage.pollsAreDue();
}

const statusOf = async (stage: Stage, id = pigeonhole): Promise<string | null> =>
  (await stage.db.query<{ status: string | null }>('select status from pigeonholes where pigeonhole_id = $1', [id]))[0]!
    .status;

describe.each(kinds)('discovery, on %s', (kind) => {
  it('starts to read pigeonholes and sessions that appear while it runs', async () => {
    const stage = await stages.open(kind);
    const scene = await stage.scene({ sync: 'pigeonholes: { name: "^ACME ", status: [live, upcoming] }' });
    await stage.patch('pigeonholes', pigeonhole, { name: 'ACME Event' });
    await scene.settle();
    await stage.put('pigeonholes', event(202), event(203, { name: 'Another' }), event(204, { status: 'ended' }));
    await stage.put('sessions', session(7));
    await stage.put('questions', question(70, 1, 7));
    await stage.sweepsAreDue();
    await scene.settle();
    const selected = await stage.db.query<{ pigeonhole_id: number }>(
      `select p.pigeonhole_id from selections s join pigeonholes p on p.pigeonhole_number = s.pigeonhole_number
         order by 1`,
    );
    expect(selected.map((row) => row.pigeonhole_id)).toEqual([101, 202]);
    expect(archived(scene, 'sessions', 7)).toHaveLength(1);
    expect(archived(scene, 'questions', 70)).toHaveLength(1);
    const streams = await stage.db.query(`select 1 from streams where session_id = 7 and wanted`);
    expect(streams.length).toBeGreaterThan(0);
  });

  it('requests a known pigeonhole by id while the list lacks it, updates its status, and continues to read it', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(1));
    const scene = await stage.scene();
    await scene.settle();
    await stage.requests();
    expect(await asked(stage)).toEqual([]); // the list shows it, so no request is needed

    // Simulates a list that lacks it: the ledger selects it but has no record of it.
    await stage.db.query(`delete from items where list = 'pigeonholes'`);
    await stage.db.query(`update streams set due_at = now() + interval '1 hour' where list = 'pigeonholes'`);
    await stage.patch('pigeonholes', pigeonhole, { status: 'ended' });
    await scene.discover();
    expect(await asked(stage)).toEqual([`/v2/pigeonholes/${pigeonhole}`]);
    expect(await statusOf(stage)).toBe('ended');
    await scene.discover();
    expect(await asked(stage)).toEqual([]); // once a minute, and less often after it has ended

    await stage.put('attendees', attendee(2));
    await stage.db.query(`update streams set due_at = now() where list = 'attendees'`);
    await scene.read(place);
    await scene.deliver('archive');
    expect(archived(scene, 'attendees').map(({ key }) => key)).toEqual(['1', '2']);

    await stage.patch('pigeonholes', pigeonhole, { status: 'live' });
    await stage.db.query(`update pigeonholes set read_by_id_at = read_by_id_at - interval '61 minutes'`);
    await scene.discover();
    expect(await statusOf(stage)).toBe('live'); // an ended pigeonhole can become live again
  });

  it('keeps its knowledge of a pigeonhole while the service does not answer for it', async () => {
    const stage = await stages.open(kind);
    const scene = await stage.scene({ sync: `pigeonholes: [${pigeonhole}, 777]` });
    await scene.settle();
    expect(await asked(stage)).toContain('/v2/pigeonholes/777');
    expect(await statusOf(stage, 777)).toBeNull();
    await stage.db.query(`delete from items where list = 'pigeonholes'`);
    await stage.db.query(`update streams set due_at = now() + interval '1 hour' where list = 'pigeonholes'`);
    await stage.patch('pigeonholes', pigeonhole, { status: 'ended' });
    await stage.fault({ kind: 'error', code: 5000, path: `/v2/pigeonholes/${pigeonhole}`, next: 1 });
    await stage.requests();
    await aMinutePasses(stage);
    await stage.db.query(`update streams set due_at = now() + interval '1 hour' where list = 'pigeonholes'`);
    await scene.discover();
    expect((await stage.requests()).map(({ code }) => code)).toContain(5000);
    expect(await statusOf(stage)).toBe('live');
    await aMinutePasses(stage);
    await stage.db.query(`update streams set due_at = now() + interval '1 hour' where list = 'pigeonholes'`);
    await scene.discover();
    expect(await statusOf(stage)).toBe('ended');
  });

  it('requests no pigeonhole that was removed from the configuration or paused by an operator', async () => {
    const stage = await stages.open(kind);
    const first = await stage.scene({ sync: `pigeonholes: [${pigeonhole}, 777]` });
    await first.settle();
    const scene = await stage.scene({ sync: `pigeonholes: [${pigeonhole}]` });
    await aMinutePasses(stage);
    await stage.requests();
    await scene.discover();
    expect(await asked(stage)).toEqual([]);
    await stage.db.query(
      `insert into pauses (scope, name, paused_by, cause, detail) values ('pigeonhole', 'acme/101', 'person', 'asked', 'x')`,
    );
    await stage.db.query(`delete from items where list = 'pigeonholes'`);
    await stage.db.query(`update streams set due_at = now() + interval '1 hour' where list = 'pigeonholes'`);
    await scene.discover();
    expect(await asked(stage)).toEqual([]);
  });
});
