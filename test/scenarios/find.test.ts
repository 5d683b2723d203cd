import { findAnything, type Found } from '../../operations/find-anything.js';
import { explain } from '../../api/why.js';
import { timeline } from '../../cli/commands/items.js';
import { followChanges } from '../../ledger/search/entries.js';
import { nameItems } from '../../operations/name-items.js';
import { finishRetention } from '../kit/finish-retention.js';
import { askToForget, forget } from '../kit/forget.js';
import { attendee, pollVote, qnaQuestion, question, session, vote } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { type Stage, useStages } from '../kit/stage.js';
import { deleteItem } from '../kit/tombstone.js';

const stages = useStages();

async function search({ deps, ledger }: Scene, text: string, personal = true): Promise<Found> {
  const asked = { text, workspace: null, sinks: Object.keys(deps.config.sinks), personal, limit: 20 };
  return await findAnything({ ledger, config: deps.config }, asked);
}

/** Returns the hits of a search as `<list>:<key>`, or `<kind>:<name>`. */
async function found(scene: Scene, text: string, personal = true): Promise<string[]> {
  const { hits } = await search(scene, text, personal);
  return hits.map(({ kind, name, item }) => (item === null ? `${kind}:${name}` : `${item.list}:${item.key}`));
}

/** An event with a named and an anonymous question, two people and two votes. */
async function conference(kind: (typeof kinds)[number]): Promise<{ stage: Stage; scene: Scene }> {
  const stage = await stages.open(kind);
  await stage.put('sessions', session(1, { name: 'Opening keynote', anonymousResponses: false }));
  await stage.put(
    'attendees',
    attendee(1, { Name: 'Ada Smith', Email: 'ada@example.com' }),
    attendee(2, { Name: 'Zoë Smithson', Email: 'zoe@example.com' }),
  );
  const text = 'When is lunch served?';
  await stage.put('qna-questions', qnaQuestion(9001, { id: 1, anonymous: false }, 1, { content: text }));
  await stage.put('questions', question(9001, 1, 1, { question: { id: 9001, content: text, status: 'approved' } }));
  await stage.put('votes', vote(9001, 2, 1, { question: { id: 9001, content: text, status: 'approved' } }));
  await stage.put('poll-mcq-votes', pollVote(51, { id: 2, anonymous: true }, 1));
  const scene = await stage.scene();
  await scene.settle();
  return { stage, scene };
}

describe.each(kinds)('a search, on %s', (kind) => {
  it('finds events, sessions, sinks, questions and people by the beginnings of words, codes, addresses and keys', async () => {
    const { scene } = await conference(kind);
    expect(await found(scene, 'open KEY')).toEqual(['sessions:1']);
    expect(await found(scene, 'lunch when')).toEqual(['qna-questions:9001']);
    expect(await found(scene, 'smith')).toEqual(['attendees:1', 'attendees:2']); // the whole word first
    expect(await found(scene, 'zoe')).toEqual(['attendees:2']);
    expect(await found(scene, 'ADA@example.com')).toEqual(['attendees:1']);
    expect(await found(scene, 'code-2')).toEqual(['attendees:2']);
    expect(await found(scene, '9001')).toEqual(['qna-questions:9001']);
    expect(await found(scene, 'question:9001')).toEqual(['questions:9001']);
    expect(await found(scene, 'archive')).toEqual(['sink:archive']);
    expect(await found(scene, 'nothing such')).toEqual([]);
  });

  it('says what a hit is, where it is, and nothing of people to others', async () => {
    const { scene } = await conference(kind);
    const { hits } = await search(scene, 'lunch');
    expect(hits).toMatchObject([
      { title: 'When is lunch served?', about: expect.stringMatching(/^a question in Opening keynote, /) },
    ]);
    expect(await found(scene, 'lunch', false)).toEqual([]);
    expect(await found(scene, 'ada@example.com', false)).toEqual([]);
    expect(await found(scene, 'opening', false)).toEqual(['sessions:1']);
    const [byKey] = (await search(scene, '9001', false)).hits;
    expect(byKey).toMatchObject({
      title: 'a question in “Opening keynote”',
      about: expect.stringContaining('qna-questions:9001'),
    });
    expect(JSON.stringify(byKey)).not.toContain('lunch');
  });

  it('finds an item by its new text and no longer by its old one, and none that was deleted', async () => {
    const { stage, scene } = await conference(kind);
    expect(await found(scene, 'lunch')).toEqual(['qna-questions:9001']);
    await stage.patch('sessions', 1, { name: 'Closing words' });
    await stage.sweepsAreDue();
    await scene.settle();
    await deleteItem(scene.ledger, { pigeonholeId: 101, list: 'attendees', key: '2' });
    expect([await found(scene, 'opening'), await found(scene, 'closing')]).toEqual([[], ['sessions:1']]);
    expect(await found(scene, 'zoe')).toEqual([]);
  });

  it('keeps nothing of a person who was forgotten, and of data whose retention has ended', async () => {
    const { stage, scene } = await conference(kind);
    expect(await found(scene, 'ada')).toEqual(['attendees:1']);
    const entries = async (): Promise<unknown> =>
      await stage.db.query('select list, key from search_entries where list <> $1 order by list, key', ['pigeonholes']);
    await forget(stage, scene, await askToForget(scene, { by: 'id', text: '1' }));
    expect(await entries()).toEqual([
      { list: 'attendees', key: '2' },
      { list: 'sessions', key: '1' },
    ]);
    await stage.db.query(`update pigeonholes set ended_at = now() - interval '20 days'`);
    const retention = { listsMs: { attendees: 86_400_000 }, changesMs: 86_400_000, attemptsMs: 86_400_000 };
    await finishRetention({ ...scene.deps, config: { ...scene.deps.config, retention } });
    expect(await entries()).toEqual([{ list: 'sessions', key: '1' }]);
    expect(await found(scene, 'smith')).toEqual([]);
  });

  it('no longer finds the words of a field that drop names', async () => {
    const { stage, scene } = await conference(kind);
    expect(await found(scene, 'ada')).toEqual(['attendees:1']);
    const less = await stage.scene({ sync: 'drop: { attendees: [Name] }' });
    await stage.sweepsAreDue();
    await less.settle();
    expect(await found(less, 'ada smith')).toEqual([]);
    expect(await found(less, 'ada')).toEqual(['attendees:1']); // by the address
  });

  it('adds the changes in the background only after the first read', async () => {
    const { stage, scene } = await conference(kind);
    const background = { workspace: 'acme', budgetMs: 10_000, firstRead: 'waits' } as const;
    await stage.db.query('delete from search_entries');
    await stage.db.query('delete from search_positions');
    await stage.db.query(`update streams set sweeps = 0 where list = 'sessions'`);
    expect(await followChanges(scene.ledger, background)).toBeGreaterThan(0);
    expect(await stage.db.query(`select 1 from search_entries where list = 'sessions'`)).toEqual([]);
    await stage.db.query('update streams set sweeps = 1');
    expect(await followChanges(scene.ledger, background)).toBe(0);
    expect(await found(scene, 'keynote')).toEqual(['sessions:1']);
  });

  it('names each item by one function, with people only for those who may see them', async () => {
    const { scene } = await conference(kind);
    const [{ key }] = (await scene.ledger.db.query<{ key: string }>(`select key from items where list = 'votes'`)) as [
      { key: string },
    ];
    const place = { workspace: 'acme', pigeonholeId: 101 };
    const items = [
      { ...place, list: 'votes', key },
      { ...place, list: 'poll-mcq-votes', key: '51' },
      { ...place, list: 'attendees', key: '1' },
      { ...place, list: 'sessions', key: '1' },
      { ...place, list: 'attendees', key: '404' },
    ];
    const session1 = { session: 'Opening keynote' };
    expect(await nameItems(scene.ledger, items, { personal: true })).toMatchObject([
      { noun: 'a vote', title: 'When is lunch served?', person: 'Zoë Smithson', ...session1 },
      { noun: 'a poll vote', person: null, ...session1 },
      { title: 'Ada Smith' },
      { title: 'Opening keynote', session: null },
      { noun: 'an attendee', title: null },
    ]);
    const [explained] = await explain(scene.ledger, { list: 'qna-questions', key: '9001', pigeonhole: null });
    expect(timeline(explained!).slice(0, 2)).toEqual([
      'qna-questions:9001  pigeonhole acme/101, session “Opening keynote” (1)',
      expect.stringMatching(/^ {2}a question in “Opening keynote” \(ACME Summit 101\)$/),
    ]);
    expect(await nameItems(scene.ledger, items, { personal: false })).toMatchObject([
      { noun: 'a vote', title: null, person: null, ...session1 },
      { title: null, person: null },
      { title: null },
      { title: 'Opening keynote' },
      { title: null },
    ]);
  });
});
