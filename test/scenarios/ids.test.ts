import { randomUUID } from 'node:crypto';
import { kinds } from '../../ledger/drivers/both-databases.test-kit.js';
import type { Database } from '../../ledger/drivers/database.js';
import { requestReplay } from '../../delivering/replays.js';
import { answer, attendee, pollVote, qnaQuestion, question, rating, session, vote } from '../kit/items.js';
import { archive, archived, everyone, pigeonhole, type Stage, useStages } from '../kit/stage.js';

const stages = useStages();

/** Current value of every sequence of the schema. */
async function sequences(db: Database): Promise<Record<string, number>> {
  const names = await db.query<{ name: string }>(
    `select quote_ident(sequencename) as name from pg_sequences where schemaname = 'public' order by 1`,
  );
  const state: Record<string, number> = {};
  for (const { name } of names) {
    const [row] = await db.query<{ value: number }>(
      `select case when is_called then last_value else 0 end as value from ${name}`,
    );
    state[name] = row!.value;
  }
  return state;
}

async function put(stage: Stage): Promise<void> {
  await stage.put('sessions', session(1, { anonymousResponses: false }), session(2, { type: 'poll_word_cloud' }));
  await stage.put('attendees', attendee(1), attendee(2));
  await stage.put('questions', question(21, 1, 1));
  await stage.put('qna-questions', qnaQuestion(21, { id: 1, anonymous: false }, 1));
  await stage.put('votes', vote(21, 2, 1));
  await stage.put('answer_ratings', rating(31, 21, 1, 1));
  await stage.put('answers', answer(41, 1, 2));
  await stage.put('poll-mcq-votes', pollVote(51, { id: 2, anonymous: false }, 1));
}

describe.each(kinds)('ids, on %s', (kind) => {
  it('and content are the same if the service spells its instants differently after an update', async () => {
    const stage = await stages.open(kind);
    await put(stage);
    await stage.put('votes', ...Array.from({ length: 40 }, (_, n) => vote(100 + n, 1, 1)), vote(21, 2, 1));
    const scene = await stage.scene();
    await scene.settle();
    const before = archive(scene);
    expect(before.filter(({ list }) => list === 'votes')).toHaveLength(42);

    for (const instants of ['seconds', 'offset', 'fraction']) {
      await stage.control('PATCH', 'knobs', { instants });
      for (let cycle = 0; cycle < 3; cycle += 1) {
        await stage.sweepsAreDue();
        await scene.settle();
      }
    }
    expect(archive(scene)).toEqual(before);
    expect(await stage.db.query('select 1 from missing')).toEqual([]);
  });

  it('are not used up by cycles without changes, by restarts, or by repeated requests', async () => {
    const stage = await stages.open(kind);
    await put(stage);
    const sinks = {
      archive: `{ type: file, folder: ./archive, ${everyone} }`,
      second: '{ type: file, folder: ./second }',
    };
    const scene = await stage.scene({ sinks });
    await scene.settle();
    const { ledger, sinks: opened } = scene.deps;
    const lanes = await stage.db.query<{ sinkId: number; pigeonholeNumber: number; total: number }>(
      `select sink_id as "sinkId", pigeonhole_number as "pigeonholeNumber", 1 as total from lanes where sink_id = $1`,
      [opened.get('archive')!.id],
    );
    const replay = { id: randomUUID(), lists: ['votes'], from: null, by: null, reason: null, lanes };
    expect(await requestReplay(ledger, replay)).toBe(true);
    await scene.settle();

    const before = await sequences(stage.db);
    expect(before['streams_id_seq']).toBeGreaterThan(10);
    for (let cycle = 0; cycle < 3; cycle += 1) {
      await stage.pollsAreDue();
      if (cycle === 1) await stage.sweepsAreDue();
      await scene.settle();
    }
    await (await stage.scene({ sinks })).settle(); // like another process or the next start
    expect(await requestReplay(ledger, replay)).toBe(false);
    expect(await sequences(stage.db)).toEqual(before);
  });

  it('of streams may exceed the range of a 32-bit integer', async () => {
    const stage = await stages.open(kind);
    await put(stage);
    await stage.db.script('alter table streams alter column id restart with 2147483646');
    const scene = await stage.scene();
    await scene.settle();
    await stage.patch('answers', 41, { answer: { id: 41, content: 'edited', status: 'approved' } });
    await stage.sweepsAreDue();
    await scene.settle();
    expect(archived(scene, 'answers').map(({ type }) => type)).toEqual(['answers.created', 'answers.updated']);
    expect(archived(scene, 'poll-mcq-votes')).toHaveLength(1);
    const [last] = await stage.db.query<{ id: number }>('select max(id) as id from streams');
    expect(last!.id).toBeGreaterThan(2 ** 31);
    expect((await scene.read({ workspace: 'acme', pigeonholeId: pigeonhole })).state).toBe('working');
  });
});
