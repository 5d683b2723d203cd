import { attendee } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import { archived, pigeonhole, useStages } from '../kit/stage.js';

const stages = useStages();

describe.each(kinds)('a first load that had to wait for its quota, on %s', (kind) => {
  it('delays no later poll: a new item in an ordered list is read by the next poll', async () => {
    const stage = await stages.open(kind);
    await stage.patch('pigeonholes', pigeonhole, { startDate: '2020-01-01', endDate: '2099-01-01' });
    await stage.control('PATCH', 'knobs', {
      maxPerPage: 1,
      quota: { limit: 80, windowSeconds: 120, headers: true },
    });
    await stage.put('attendees', ...Array.from({ length: 100 }, (_, n) => attendee(n + 1)));
    const scene = await stage.scene({ sync: 'lists: [attendees]\nevery: { live: 1s }', quota: '{ reserve: 0% }' });
    const turn = async () => await scene.read({ workspace: 'acme', pigeonholeId: pigeonhole });
    await scene.discover();
    // On a busy machine, a turn may end before it has used up the quota.
    let { state } = await turn();
    for (let turns = 0; turns < 10 && state !== 'waiting'; turns += 1) ({ state } = await turn());
    expect(state).toBe('waiting');
    await stage.db.query(`update walks set started_at = started_at - interval '10 minutes'`); // nine of them spent waiting
    await stage.control('DELETE', 'quota');
    await stage.db.query('update quotas set reset_at = now(), ask_at = null');
    await stage.db.query('update workspaces set wait_until = now()');
    for (let turns = 0; turns < 10 && (await turn()).nextDueInMs === 0; turns += 1);
    const [stream] = await stage.db.query<{ swept: boolean; in_ms: number }>(
      `select swept_at is not null as swept, (extract(epoch from due_at - now()) * 1000)::float8 as in_ms
       from streams where list = 'attendees'`,
    );
    expect(stream!.swept).toBe(true);
    // At most until the quota resets, plus a quarter of the interval until the next poll.
    expect(stream!.in_ms).toBeLessThanOrEqual(135_000);
    await scene.deliver('archive');
    expect(archived(scene, 'attendees')).toHaveLength(100);
  });
});
