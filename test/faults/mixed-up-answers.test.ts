import { openHolds } from '../../reading/holds.js';
import { apiOf } from '../kit/api-of.js';
import { answer, attendee, pollVote, qnaQuestion, question, session, vote } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { archive, archived, type Item, pigeonhole, type Stage, useStages } from '../kit/stage.js';

const stages = useStages();
const other = 102;
const second = 1000;
const numbers = (from: number, count: number): number[] => Array.from({ length: count }, (_, index) => from + index);

/** The items of an event whose ids start at `from`: two sessions, and `each` items in every other list. */
function eventOf(from: number, each: number): Record<string, Item[]> {
  const ids = numbers(from, each);
  const [talk, cloud] = [from, from + 1];
  return {
    sessions: [session(talk, { anonymousResponses: false }), session(cloud, { type: 'poll_word_cloud' })],
    attendees: ids.map((id) => attendee(id)),
    questions: ids.map((id) => question(id, id, talk)),
    'qna-questions': ids.map((id) => qnaQuestion(id, { id, anonymous: false }, talk)),
    votes: ids.map((id) => vote(from, id, talk)),
    answers: ids.map((id) => answer(id, id, cloud)),
    'poll-mcq-votes': ids.map((id) => pollVote(id, { id, anonymous: false }, talk)),
  };
}

async function putIn(stage: Stage, place: number, items: Record<string, Item[]>): Promise<void> {
  for (const [list, rows] of Object.entries(items)) {
    const inner = { questions: 'question', answers: 'answer' }[list];
    const idOf = (row: Item) =>
      list === 'votes' ? {} : { id: ((inner === undefined ? row : row[inner]) as Item)['id'] };
    await stage.control(
      'POST',
      'mutations',
      rows.map((item) => ({ op: 'insert', list, pigeonhole: place, ...idOf(item), item, exact: true })),
    );
  }
}

async function openTwoEvents(kind: Parameters<typeof stages.open>[0]): Promise<{ stage: Stage; scene: Scene }> {
  const stage = await stages.open(kind, { pigeonholes: 2 });
  await putIn(stage, pigeonhole, eventOf(1, 12));
  await putIn(stage, other, eventOf(901, 9));
  const scene = await stage.scene({ sync: `pigeonholes: [${pigeonhole}]` });
  await scene.settle();
  return { stage, scene };
}

async function polls(stage: Stage, scene: Scene, times: number, everyMs = 10 * second): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await stage.timePasses(everyMs);
    await stage.sweepsAreDue();
    await scene.settle();
  }
}

const told = (scene: Scene): string[] =>
  archive(scene)
    .filter(({ list }) => list !== 'pigeonholes')
    .map(({ list, key, type }) => `${list}:${key} ${type.split('.')[1]}`);

async function codesOf(scene: Scene): Promise<string[]> {
  const details = JSON.parse(await apiOf(scene)(`/api/pigeonholes/acme/${pigeonhole}`)) as {
    troubles: { code: string }[];
  };
  return details.troubles.map(({ code }) => code);
}

describe.each(kinds)('answers of another pigeonhole, on %s', (kind) => {
  it('change nothing, and delay nothing for longer than they last', async () => {
    const { stage, scene } = await openTwoEvents(kind);
    const before = told(scene);
    expect(before).toHaveLength(74);
    await stage.fault({ kind: 'otherPigeonhole', instead: other, path: `/pigeonholes/${pigeonhole}` });
    await polls(stage, scene, 8);
    expect(told(scene)).toEqual(before);
    expect(await stage.db.query('select list, key from missing')).toEqual([]);
    expect(await codesOf(scene)).toContain('pigeonhole-failing');

    await stage.put('attendees', attendee(13));
    await stage.put('questions', question(13, 13, 1));
    await stage.control('DELETE', 'faults');
    await polls(stage, scene, 2);
    expect(told(scene).slice(before.length).toSorted()).toEqual(['attendees:13 created', 'questions:13 created']);
    expect(await codesOf(scene)).toEqual([]);
  });

  it.each(['sessions', 'attendees', 'questions', 'poll-mcq-votes'])(
    'change nothing if only the list %s is mixed up',
    async (list) => {
      const { stage, scene } = await openTwoEvents(kind);
      const before = told(scene);
      await stage.fault({ kind: 'otherPigeonhole', instead: other, list, pigeonhole });
      await polls(stage, scene, 7);
      await stage.control('DELETE', 'faults');
      await polls(stage, scene, 2);
      expect(told(scene)).toEqual(before);
    },
  );

  it('are not taken for the first attendees of an event', async () => {
    const stage = await stages.open(kind, { pigeonholes: 2 });
    const { attendees: _, ...rest } = eventOf(1, 3);
    await putIn(stage, pigeonhole, rest);
    await putIn(stage, other, eventOf(901, 9));
    const scene = await stage.scene({ sync: `pigeonholes: [${pigeonhole}]` });
    await scene.settle();
    await stage.fault({ kind: 'otherPigeonhole', instead: other, path: `/pigeonholes/${pigeonhole}` });
    await polls(stage, scene, 5);
    expect(archived(scene, 'attendees')).toEqual([]);
    await stage.control('DELETE', 'faults');
    await stage.put('attendees', attendee(1));
    await polls(stage, scene, 2);
    expect(archived(scene, 'attendees').map(({ key }) => key)).toEqual(['1']);
  });
});

describe.each(kinds)('items that look like those of another pigeonhole, on %s', (kind) => {
  it('are delivered by the same cycle if their session is new', async () => {
    const { stage, scene } = await openTwoEvents(kind);
    const before = told(scene);
    await stage.db.query(`update streams set due_at = now() + interval '1 hour' where list = 'sessions'`);
    await stage.put('sessions', session(3, { anonymousResponses: false }));
    await stage.put('questions', question(14, 1, 3));
    await stage.db.query(`update streams set due_at = now() where list = 'questions'`);
    await scene.settle();
    expect(told(scene).slice(before.length)).toEqual(['sessions:3 created', 'questions:14 created']);
    expect(await stage.db.query(`select item_order from streams where list = 'questions'`)).toEqual([
      { item_order: 'ascending' },
    ]);
  });

  it('are set aside while the pigeonhole does not have their session, and delivered when it does', async () => {
    const { stage, scene } = await openTwoEvents(kind);
    const before = told(scene);
    await stage.put('poll-mcq-votes', pollVote(14, { id: 1, anonymous: false }, 77));
    await stage.put('poll-mcq-votes', pollVote(15, { id: 1, anonymous: false }, 1));
    await polls(stage, scene, 3);
    expect(told(scene).slice(before.length)).toEqual(['poll-mcq-votes:15 created']);
    expect(await codesOf(scene)).toEqual(['unknown-sessions']);
    await stage.put('sessions', session(77));
    await polls(stage, scene, 3);
    expect(told(scene).slice(before.length + 1)).toEqual(['sessions:77 created', 'poll-mcq-votes:14 created']);
    expect(await codesOf(scene)).toEqual([]);
  });

  it('are delivered after the second answer if all items of a list were replaced and the sessions fit', async () => {
    const { stage, scene } = await openTwoEvents(kind);
    const before = told(scene);
    for (const id of numbers(1, 12)) await stage.remove('questions', id);
    await stage.put('questions', question(21, 1, 1));
    await polls(stage, scene, 1);
    expect(told(scene).slice(before.length)).toEqual(['questions:21 created']);
  });

  it('are delivered after two minutes if every answer agrees, and the deletions of the others are held', async () => {
    const { stage, scene } = await openTwoEvents(kind);
    const before = told(scene);
    for (const id of numbers(1, 12)) await stage.remove('attendees', id);
    await stage.put('attendees', ...numbers(31, 3).map((id) => attendee(id)));
    await polls(stage, scene, 5, 20 * second);
    expect(told(scene)).toEqual(before);
    await polls(stage, scene, 4, 20 * second);
    expect(told(scene).slice(before.length)).toEqual([31, 32, 33].map((id) => `attendees:${id} created`));
    await polls(stage, scene, 2, 40 * second);
    expect(await openHolds(scene.ledger)).toMatchObject([{ list: 'attendees', items: 12 }]);
  });
});
