import { kinds } from '../kit/scenario-kinds.js';
import { detect, say } from '../kit/detection.js';
import { answer, attendee, pollVote, session, vote } from '../kit/items.js';
import { passTime } from '../kit/pass-time.js';
import type { Scene } from '../kit/scene.js';
import { archive, archived, pigeonhole, type Stage, useStages } from '../kit/stage.js';
import { truthOf } from '../kit/truth.js';

// Data that comparable tools lose, repeat or wrongly delete, each with the time until it is delivered.

const stages = useStages();
const ids = (count: number, from = 1, step = 1) => Array.from({ length: count }, (_, index) => from + index * step);
const story = (scene: Scene, list: string, key?: string | number): string[] =>
  archived(scene, list, key).map(({ type, revision }) => `${revision} ${type.split('.')[1]}`);

async function count(stage: Stage, list: string, where = 'payload is not null'): Promise<number> {
  const rows = await stage.db.query<{ n: number }>(
    `select count(*)::int as n from items where list = $1 and ${where}`,
    [list],
  );
  return rows[0]!.n;
}

const isNamed = (stage: Stage, id: number, name: string) => async (): Promise<boolean> =>
  (await count(stage, 'attendees', `key = '${id}' and payload->>'Name' = '${name}'`)) === 1;

/** Expects each revision of each item once, starting from 1, and no deletion. */
function expectOnceAndNoDeletion(scene: Scene, list: string): void {
  const lines = archived(scene, list);
  expect(lines.filter(({ type }) => type.endsWith('deleted'))).toEqual([]);
  const told = lines.map(({ key, revision }) => `${key} ${revision}`);
  expect(new Set(told).size).toBe(told.length);
}

describe.each(kinds)('reading data that other tools lose, on %s', (kind) => {
  it('finds a thousand items of one instant once each, on both sides of page boundaries', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    const now = { createdAt: new Date().toISOString() };
    const put = async (some: readonly number[]): Promise<void> => {
      await stage.put('votes', ...some.map((id) => vote(11, id, 1, now)));
      await stage.put('poll-mcq-votes', ...some.map((id) => pollVote(id, { id, anonymous: false }, 1, now)));
    };
    await put(ids(450)); // pages of 300: the second is half full
    const scene = await stage.scene();
    await scene.settle();
    await put(ids(550, 451));
    const all = async (): Promise<boolean> =>
      (await count(stage, 'votes')) === 1000 && (await count(stage, 'poll-mcq-votes')) === 1000;
    say('1,000 equal timestamps across the seams of pages', kind, await detect(stage, scene, all, 3));
    await passTime(stage.db, 31 * 60_000);
    await scene.settle();
    for (const list of ['votes', 'poll-mcq-votes']) {
      expect(archived(scene, list)).toHaveLength(1000);
      expectOnceAndNoDeletion(scene, list);
    }
  });

  it('finds an edit on the first page of a list of many pages, and reports nothing else', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 50 });
    await stage.put('attendees', ...ids(1000).map((id) => attendee(id)));
    const scene = await stage.scene();
    await scene.settle();
    await stage.patch('attendees', 2, { Name: 'Edited' });
    // `npm run bench -- detection` measures the same with 100,000 rows.
    say('an edit on the first of 20 pages', kind, await detect(stage, scene, isNamed(stage, 2, 'Edited'), 25));
    expect(archived(scene, 'attendees').filter(({ revision }) => revision > 1)).toMatchObject([
      { key: '2', revision: 2, data: { Name: 'Edited' } },
    ]);
  });

  it('finds a hundred rows that commit late with ids far below the checkpoint', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 100 });
    await stage.put('attendees', ...ids(1000, 10, 10).map((id) => attendee(id)));
    const scene = await stage.scene();
    await scene.settle();
    await stage.put('attendees', ...ids(100, 15, 100).map((id) => attendee(id)));
    const all = async (): Promise<boolean> => (await count(stage, 'attendees')) === 1100;
    say('100 late rows behind the checkpoint, in a list of 10 pages', kind, await detect(stage, scene, all, 25));
    expect(archived(scene, 'attendees')).toHaveLength(1100);
    expectOnceAndNoDeletion(scene, 'attendees');
  });

  it('deletes no existing item while rows around it are deleted and restored during sweeps', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 10, cursor: 'offset' });
    await stage.put('attendees', ...ids(100, 10, 10).map((id) => attendee(id)));
    const scene = await stage.scene();
    await scene.settle();
    const shown = async (): Promise<number[]> =>
      (await truthOf(stage.sandbox.baseUrl, 'attendees', pigeonhole)).map(({ id }) => Number(id));
    const left = new Set<number>();
    for (const where of ['behind', 'ahead', 'behind', 'ahead']) {
      const before = await shown();
      const rule = { kind: 'changeDuringWalk', list: 'attendees', afterPage: 3, next: 1, where };
      await stage.fault({ ...rule, remove: 3, insert: 1 });
      await passTime(stage.db, 31 * 60_000);
      await scene.settle();
      const after = new Set(await shown());
      const gone = before.filter((id) => !after.has(id));
      expect(gone).toHaveLength(3);
      for (const id of gone) left.add(id);
      await stage.put('attendees', ...gone.slice(1).map((id) => attendee(id)));
    }
    const truth = new Set((await shown()).map(String));
    const same = async (): Promise<boolean> =>
      (await count(stage, 'attendees')) === truth.size && (await count(stage, 'attendees', 'payload is null')) > 0;
    // A deletion is proved only by two whole walks, or by the same pages a day apart.
    await passTime(stage.db, 25 * 3_600_000);
    await scene.settle();
    await passTime(stage.db, 25 * 3_600_000);
    say('deletions around a sweep with offsets, once two days have passed', kind, await detect(stage, scene, same, 25));
    const told = archived(scene, 'attendees').filter(({ type }) => type.endsWith('deleted'));
    expect(told.filter(({ key }) => !left.has(Number(key)))).toEqual([]);
    const held = await stage.db.query<{ key: string }>(
      `select key from items where list = 'attendees' and payload is not null`,
    );
    expect(held.map(({ key }) => key).toSorted()).toEqual([...truth].toSorted());
  });

  it('finds new, edited and deleted items after the order of a list is reversed', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 10 });
    await stage.put('attendees', ...ids(45).map((id) => attendee(id)));
    const scene = await stage.scene();
    await scene.settle();
    let next = 46;
    for (const order of ['descending', 'unordered', 'ascending']) {
      await stage.control('POST', 'lists/attendees', { order });
      await stage.put('attendees', ...ids(15, next).map((id) => attendee(id)));
      await stage.patch('attendees', 3, { Name: `Edited when ${order}` });
      const isEdited = isNamed(stage, 3, `Edited when ${order}`);
      next += 15;
      const all = async (): Promise<boolean> => (await count(stage, 'attendees')) === next - 1 && (await isEdited());
      say(`15 new rows and an edit when the order turns to ${order}`, kind, await detect(stage, scene, all, 15));
    }
    expect(story(scene, 'attendees', 3)).toEqual(['1 created', '2 updated', '3 updated', '4 updated']);
    expect(archived(scene, 'attendees')).toHaveLength(45 + 3 * 15 + 3);
    expectOnceAndNoDeletion(scene, 'attendees');
    await stage.remove('attendees', 5);
    const isGone = async (): Promise<boolean> => (await count(stage, 'attendees', 'payload is null')) === 1;
    say('a deletion after the order has turned three times', kind, await detect(stage, scene, isGone, 40));
    expect(story(scene, 'attendees', 5)).toEqual(['1 created', '2 deleted']);
  });

  it('reports an answer that moves to another session as updated, once', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 10 });
    const cloud = { type: 'poll_word_cloud', anonymousResponses: false };
    await stage.put('sessions', session(1, cloud), session(2, cloud));
    await stage.put(
      'answers',
      ...ids(25).map((id) => answer(id, id, 1)),
      ...ids(25, 101).map((id) => answer(id, id, 2)),
    );
    const scene = await stage.scene();
    await scene.settle();
    await stage.remove('answers', 13);
    await stage.put('answers', answer(13, 13, 2));
    const moved = async (): Promise<boolean> => (await count(stage, 'answers', `key = '13' and session_id = 2`)) === 1;
    say('an answer moved to another session', kind, await detect(stage, scene, moved, 15));
    for (const hours of [1, 25, 25]) {
      await passTime(stage.db, hours * 3_600_000);
      await scene.settle();
    }
    expect(story(scene, 'answers', 13)).toEqual(['1 created', '2 updated']);
    expect(archived(scene, 'answers')).toHaveLength(51);
    expectOnceAndNoDeletion(scene, 'answers');
  });

  it('reports that one of two identical votes was withdrawn, and keeps the other', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 10 });
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    const insert = { op: 'insert', list: 'votes', pigeonhole, exact: true };
    const others = ids(40, 101).map((id) => ({ ...insert, id, item: vote(20 + (id % 10), id, 1) }));
    const twins = [11, 999].map((id) => ({ ...insert, id, item: vote(12, 7, 1) })); // on the first page and on the last
    await stage.control('POST', 'mutations', [...others, ...twins]);
    const scene = await stage.scene();
    await scene.settle();
    const votes = (n: number) => async (): Promise<boolean> => (await count(stage, 'votes')) === n;
    if (!(await votes(42)())) say('the second of two identical votes', kind, await detect(stage, scene, votes(42), 25));
    await stage.remove('votes', 11);
    say('one of two identical votes withdrawn', kind, await detect(stage, scene, votes(41), 25));
    const told = archived(scene, 'votes').filter(({ data }) => data === null);
    expect(told).toHaveLength(1);
    expect(archive(scene).filter(({ list, revision }) => list === 'votes' && revision > 1)).toEqual(told);
    const left = await stage.db.query(`select 1 from items where list = 'votes' and payload->>'attendeeId' = '7'`);
    expect(left).toHaveLength(1);
  });
});
