import { answer, attendee, pollVote, question, session, vote } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { archive, pigeonhole, type Stage, useStages } from '../kit/stage.js';
import { openHolds } from '../../reading/holds.js';

const stages = useStages();
const second = 1000;
/** Turns off the hold for an operator: without a deletion, evidence was missing. */
const noBreaker = 'deletions: { holdAbove: { share: 100%, items: 1000000 } }';
/** Makes the time to confirm longer than a test, however slow the machine is. */
const confirm10m = noBreaker.replace('{', '{ confirm: 10m,');
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

async function poll(stage: Stage, scene: Scene, afterMs = 0): Promise<void> {
  await stage.timePasses(afterMs);
  await stage.sweepsAreDue();
  await scene.settle();
}

const deletions = (scene: Scene): string[] =>
  archive(scene)
    .filter(({ type }) => type.endsWith('.deleted'))
    .map(({ list, key }) => (list === 'votes' ? list : `${list} ${key}`));

/** A live event: 40 attendees, two sessions, 12 questions, 20 votes. */
async function openEvent(
  kind: Parameters<typeof stages.open>[0],
  sync = noBreaker,
): Promise<{ stage: Stage; scene: Scene }> {
  const stage = await stages.open(kind);
  await stage.put('sessions', session(1, { anonymousResponses: false }), session(2));
  await stage.put('attendees', ...numbers(40).map((id) => attendee(id)));
  await stage.put('questions', ...numbers(12).map((id) => question(id, id, 1)));
  await stage.put('votes', ...numbers(20).map((id) => vote(1, id, 1)));
  const scene = await stage.scene({ sync });
  await scene.settle();
  return { stage, scene };
}

describe.each(kinds)('an answer with status 200 that lacks many items, on %s', (kind) => {
  it.each([
    ['attendees', 0],
    ['attendees', 5],
    ['sessions', 0],
    ['questions', 0],
    ['questions', 3],
    ['votes', 0],
    ['pigeonholes', 0],
  ])('deletes nothing if the next answer is complete (%s, of which it shows %i)', async (list, show) => {
    const { stage, scene } = await openEvent(kind);
    await stage.fault({ kind: 'shortList', list, show, next: 1 });
    for (let time = 0; time < 4; time += 1) await poll(stage, scene, 40 * second);
    expect(deletions(scene)).toEqual([]);
    const [row] = await stage.db.query('select count(*)::int as n from missing');
    expect(row).toEqual({ n: 0 });
  });

  it('deletes nothing within the time to confirm, and deletes the missing items if it is repeated after that time', async () => {
    const { stage, scene } = await openEvent(kind, confirm10m);
    for (const id of numbers(30)) await stage.remove('attendees', id);
    for (let time = 0; time < 4; time += 1) await poll(stage, scene, 100 * second);
    expect(deletions(scene)).toEqual([]);
    await poll(stage, scene, 310 * second);
    expect(deletions(scene)).toHaveLength(30);
  });

  it('is requested again when the time to confirm is over, even if nothing else is due', async () => {
    const { stage, scene } = await openEvent(kind);
    for (const id of numbers(30)) await stage.remove('attendees', id);
    await stage.db.query(`update streams set due_at = now() + interval '6 hours'`);
    await stage.db.query(`update streams set due_at = now() where list = 'attendees'`);
    await scene.settle();
    const [stream] = await stage.db.query<{ in_s: number }>(
      `select extract(epoch from due_at - now())::float8 as in_s from streams where list = 'attendees'`,
    );
    expect(stream!.in_s).toBeLessThan(31);
    await stage.timePasses(31 * second);
    await scene.settle();
    expect(deletions(scene)).toHaveLength(30);
  });

  it('deletes nothing if a filtered answer is also short but arrives too soon after the first', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 10, order: 'unordered' });
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put(
      'poll-mcq-votes',
      ...numbers(25).map((id) => pollVote(id, { id: (id % 3) + 1, anonymous: false }, 1)),
    );
    const scene = await stage.scene({ sync: confirm10m });
    await scene.settle();
    const { ids } = (await stage.control('POST', 'faults', { kind: 'shortList', list: 'poll-mcq-votes' })) as {
      ids: number[];
    };
    await poll(stage, scene);
    await poll(stage, scene, 100 * second);
    expect(deletions(scene)).toEqual([]);
    await stage.control('DELETE', `faults/${ids[0]}`);
    await poll(stage, scene, 800 * second);
    expect(deletions(scene)).toEqual([]);
    for (const id of numbers(20)) await stage.remove('poll-mcq-votes', id);
    await poll(stage, scene, 100 * second);
    expect(deletions(scene)).toEqual([]);
    await poll(stage, scene, 610 * second);
    expect(deletions(scene)).toHaveLength(20);
  });

  it.each([2, 6, 1000])('deletes nothing if %i answers about sets of one item are short', async (next) => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('poll-mcq-votes', ...numbers(100).map((id) => pollVote(id, { id, anonymous: false }, 1)));
    const scene = await stage.scene({ sync: 'deletions: { confirm: 10m }' }); // longer than the test
    await scene.settle();
    await stage.fault({ kind: 'shortList', list: 'poll-mcq-votes', next });
    await poll(stage, scene);
    expect(deletions(scene)).toEqual([]);
  });

  it.each([0, 1, 2])(
    'deletes nothing if a walk of 20 minutes ends too early, and so do requests after %i more answers',
    async (skip) => {
      const stage = await stages.open(kind);
      await stage.control('PATCH', 'knobs', { maxPerPage: 10 });
      await stage.put('sessions', session(1, { anonymousResponses: false }));
      await stage.put('poll-mcq-votes', ...numbers(45).map((id) => pollVote(id, { id, anonymous: false }, 1)));
      const scene = await stage.scene({ sync: confirm10m });
      await scene.settle();
      await stage.fault({ kind: 'error', code: 5000, list: 'poll-mcq-votes', hasCursor: true, skip: 2, next: 1 });
      await stage.sweepsAreDue();
      await scene.read({ workspace: 'acme', pigeonholeId: pigeonhole }); // one cycle, so the walk does not continue
      expect(await stage.db.query(`select pages from walks where kind = 'sweep'`)).toEqual([{ pages: 2 }]);
      await stage.timePasses(1200 * second);
      await stage.fault({ kind: 'shortList', list: 'poll-mcq-votes', skip });
      await poll(stage, scene);
      const [row] = await stage.db.query<{ n: number }>('select count(*)::int as n from missing');
      expect(row!.n).toBeGreaterThan(10);
      expect(deletions(scene)).toEqual([]);
    },
  );

  it('deletes nothing if two walks of many pages end too early within the time to confirm', async () => {
    const stage = await stages.open(kind);
    await stage.control('PATCH', 'knobs', { maxPerPage: 10 });
    await stage.put('attendees', ...numbers(45).map((id) => attendee(id)));
    const scene = await stage.scene({ sync: confirm10m });
    await scene.settle();
    await stage.fault({ kind: 'shortList', list: 'attendees', show: 4 });
    for (let time = 0; time < 3; time += 1) await poll(stage, scene, 100 * second);
    expect(deletions(scene)).toEqual([]);
  });

  it('is no evidence that an item which left one session did not move to this one', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', ...[1, 2].map((id) => session(id, { type: 'poll_word_cloud' })));
    await stage.put('answers', ...numbers(12).map((id) => answer(id, id, 1)), answer(21, 1, 2), answer(22, 2, 2));
    const scene = await stage.scene({ sync: noBreaker });
    await scene.settle();
    const onlyReads = async (sessionId: number): Promise<void> => {
      await stage.db.query(
        `update streams set due_at = case when list = 'answers' and session_id = $1 then now() else now() + interval '1 hour' end`,
        [sessionId],
      );
      await scene.settle();
    };
    await stage.remove('answers', 3);
    await stage.put('answers', answer(3, 3, 2));
    await stage.fault({ kind: 'shortList', list: 'answers', session: 2, next: 1 });
    await onlyReads(1); // makes the reader walk the other session, whose answer is empty
    expect(await stage.control('GET', 'faults')).toMatchObject({ faults: [{ fired: 1 }] });
    await stage.timePasses(31 * second);
    await onlyReads(1);
    expect(deletions(scene)).toEqual([]);
    await onlyReads(2);
    expect(
      archive(scene)
        .filter(({ key }) => key === '3')
        .map(({ type, sessionId }) => `${type} ${sessionId}`),
    ).toEqual(['answers.created 1', 'answers.updated 2']);
  });

  it('does not delay the deletion of a single withdrawn question, which needs one poll and a second request', async () => {
    const { stage, scene } = await openEvent(kind, `${noBreaker}\nevery: { live: 1h }`); // due once in this test
    await stage.remove('questions', 7);
    await stage.requests();
    await stage.pollsAreDue();
    await scene.settle();
    expect(deletions(scene)).toEqual(['questions 7']);
    expect((await stage.requests()).filter(({ path }) => path.endsWith('/questions'))).toHaveLength(2);
  });

  it.each([
    ['all lists are empty', { show: 0 }],
    ['all lists show three rows', { show: 3 }],
    ['one list is empty', { show: 0, list: 'votes' }],
  ])('deletes nothing, however long it lasts and however few items that is: %s', async (_, fault) => {
    const { stage, scene } = await openEvent(kind, 'lists: [sessions, attendees, questions, votes]');
    await stage.fault({ kind: 'shortList', pigeonhole, ...fault });
    for (let time = 0; time < 3; time += 1) await poll(stage, scene, 40 * second);
    expect(deletions(scene)).toEqual([]);
    expect((await openHolds(scene.ledger)).length).toBeGreaterThan(0);
    await stage.control('DELETE', 'faults');
    await poll(stage, scene, 40 * second);
    expect([deletions(scene), await openHolds(scene.ledger)]).toEqual([[], []]);
  });

  it('is believed at once about a few items of several short lists', async () => {
    const { stage, scene } = await openEvent(kind, 'lists: [attendees, questions]');
    for (const id of [1, 2]) await stage.remove('questions', id);
    for (const id of numbers(30)) await stage.remove('attendees', id);
    for (let time = 0; time < 2; time += 1) await poll(stage, scene, 40 * second);
    expect(deletions(scene)).toHaveLength(32);
  });

  it('does not count as the first proof when the only question of a live list is then deleted', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('questions', question(1, 1, 1));
    const scene = await stage.scene();
    await scene.settle();
    await stage.fault({ kind: 'shortList', list: 'questions', next: 1 });
    await poll(stage, scene, 5 * second);
    expect(deletions(scene)).toEqual([]);
    await stage.remove('questions', 1);
    await poll(stage, scene, 5 * second);
    expect(deletions(scene)).toEqual(['questions 1']);
  });
});
