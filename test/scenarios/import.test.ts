import { kinds } from '../../ledger/drivers/both-databases.test-kit.js';
import { useStages } from '../kit/stage.js';
import { counts, finish, people, posts, progress, registered, report, rowsOf, stage } from '../imports/importing.js';

const stages = useStages();

describe.each(kinds)('an import on %s', (kind) => {
  it('creates every registrant once, in as few requests as its chunks are', async () => {
    const set = await stages.open(kind);
    const scene = await set.scene();
    const id = await stage(scene, rowsOf(...people(1200)));
    expect(await finish(scene, id)).toMatchObject({ state: 'finished' });
    expect(await registered(set)).toEqual(people(1200));
    expect(await counts(scene, id)).toEqual({ created: 1200 });
    expect(await posts(set)).toBe(3);
    expect(await progress(scene, id)).toMatchObject({ state: 'done', rows: 1200, requests: 3, requestsLeft: 0 });
    const rows = await report(scene, id);
    expect(rows.map(({ row }) => row)).toEqual(people(1200).map((_, index) => index + 2));
    expect(rows[0]).toMatchObject({ profile: people(1)[0], outcome: 'created', requestId: null });
  });

  it('sends nothing of the same rows again, and of corrected ones only what failed or is new', async () => {
    const set = await stages.open(kind);
    const scene = await set.scene();
    const bad = { attendeeCode: 'BAD', Name: 'n'.repeat(300) };
    const first = await stage(scene, rowsOf(...people(20), bad));
    await finish(scene, first);
    expect(await counts(scene, first)).toEqual({ created: 20, rejected: 1 });
    await posts(set);

    const again = await stage(scene, rowsOf(...people(20), bad));
    await finish(scene, again);
    expect(await posts(set)).toBe(0);
    expect(await counts(scene, again)).toEqual({ existing: 20, rejected: 1 });
    expect((await report(scene, again)).at(-1)).toMatchObject({ field: 'Name', outcome: 'rejected' });

    const good = { attendeeCode: 'BAD', Name: 'short' };
    const corrected = await stage(scene, rowsOf(...people(21), good));
    await finish(scene, corrected);
    expect(await posts(set)).toBe(1);
    expect(await counts(scene, corrected)).toEqual({ existing: 20, created: 2 });
    expect(await counts(scene, first)).toEqual({ created: 20, rejected: 1 });
    expect(await registered(set)).toEqual([good, ...people(21)]);
  });
});
