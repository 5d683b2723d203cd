import { readPigeonhole } from '../../reading/read-pigeonhole.js';
import { kinds } from '../kit/scenario-kinds.js';
import { answer, attendee, pollVote, qnaQuestion, question, rating, session, vote } from '../kit/items.js';
import { mortalDatabase, ProcessDied } from '../kit/mortal-database.js';
import type { Scene } from '../kit/scene.js';
import { archived, everyone, pigeonhole, type Stage, useStages } from '../kit/stage.js';

const stages = useStages();

/** An attendee with unmistakable values in every field; no output may contain them. */
const nameless = { id: 77_001_177, code: 'CODE-NEVER-SHOWN', name: 'Nadia Nowhere', email: 'nadia@never.example' };

/** Returns every text in the ledger's rows about interactions, as PostgreSQL displays it. */
async function storedInteractions(stage: Stage): Promise<string> {
  const items = await stage.db.query(`select i::text as row from items i where list not in ('attendees', 'sessions')`);
  const changes = await stage.db.query(
    `select c::text as row from changes c where list not in ('attendees', 'sessions')`,
  );
  return JSON.stringify([items, changes]);
}

describe.each(kinds)('anonymity, on %s', (kind) => {
  it('keeps anonymous people out of the sinks, the log and the ledger, in every list that can contain them', async () => {
    const stage = await stages.open(kind);
    const who = { id: nameless.id, attendeeCode: nameless.code, anonymous: true };
    const extra = { attendeeName: nameless.name, authorEmail: nameless.email, nested: { userName: nameless.name } };
    await stage.put(
      'attendees',
      attendee(nameless.id, {
        attendeeCode: nameless.code,
        Name: nameless.name,
        Email: nameless.email,
        consent: { obtained: false },
      }),
    );
    await stage.put('sessions', session(1), session(2, { type: 'poll_word_cloud' }));
    await stage.put('questions', question(11, nameless.id, 1, extra));
    await stage.put('qna-questions', qnaQuestion(11, who, 1, extra));
    await stage.put('votes', vote(11, nameless.id, 1, extra));
    await stage.put('answer_ratings', { ...rating(31, 11, nameless.id, 1), ...extra });
    await stage.put('answers', { ...answer(41, nameless.id, 2), ...extra });
    await stage.put('poll-mcq-votes', pollVote(51, who, 1, extra));
    await stage.put('poll-quiz-votes', pollVote(61, who, 1, { ...extra, timeTaken: 3 }));
    const scene = await stage.webhookScene('consent: { accept: [obtained] }', {
      sinks: { archive: '{ type: file, folder: ./archive, consent: { accept: [obtained] } }' },
    });
    await scene.settle();

    const received = JSON.stringify(stage.received());
    const lists = [
      'questions',
      'qna-questions',
      'votes',
      'answer_ratings',
      'answers',
      'poll-mcq-votes',
      'poll-quiz-votes',
    ];
    for (const list of lists) {
      expect(archived(scene, list)).toHaveLength(1);
      expect(stage.received(list)).toHaveLength(1);
    }
    const everywhere = JSON.stringify(
      archived(scene, 'attendees').concat(...lists.map((list) => archived(scene, list))),
    );
    for (const marker of [String(nameless.id), nameless.code, nameless.name, nameless.email]) {
      expect(everywhere).not.toContain(marker);
      expect(received).not.toContain(marker);
      expect(scene.logText()).not.toContain(marker);
      expect(await storedInteractions(stage)).not.toContain(marker);
    }
    expect(archived(scene, 'poll-mcq-votes')[0]!.data).toMatchObject({ attendee: { anonymous: true } });
    expect(archived(scene, 'questions')[0]!.data).not.toHaveProperty('attendeeId');
  });

  it('adds the author of a question in one more revision when the other list shows that the question is not anonymous', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(5));
    await stage.put('sessions', session(1));
    await stage.put('questions', question(11, 5, 1));
    const scene = await stage.scene();
    await scene.settle();
    expect(archived(scene, 'questions')).toMatchObject([{ revision: 1, data: { question: { id: 11 } } }]);
    expect(archived(scene, 'questions')[0]!.data).not.toHaveProperty('attendeeId');

    await stage.put('qna-questions', qnaQuestion(11, { id: 5, anonymous: false }, 1));
    await stage.pollsAreDue();
    await scene.settle();

    expect(archived(scene, 'questions')).toMatchObject([
      { revision: 1 },
      { revision: 2, type: 'questions.updated', data: { attendeeId: 5 } },
    ]);
    const [twin] = archived(scene, 'qna-questions');
    expect(archived(scene, 'questions')[1]!.sequence).toBe(twin!.sequence + 1); // one transaction: no other change is between them
  });

  it('does not use the row of another session to name the author of a question', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(5));
    await stage.put('sessions', session(1), session(2));
    await stage.put('questions', question(11, 5, 1));
    await stage.put('qna-questions', qnaQuestion(11, { id: 5, anonymous: false }, 2));
    const scene = await stage.scene();
    await scene.settle();
    expect(archived(scene, 'questions')).toHaveLength(1);
    expect(archived(scene, 'questions')[0]!.data).not.toHaveProperty('attendeeId');
  });

  it.each([
    ['was asked later', { createdAt: '2026-11-21T09:00:00.000Z' }],
    ['is of another author', { attendeeId: nameless.id }],
    ['is in another session', { session: { id: 2, name: 'Session 2', type: 'qna' } }],
  ])('does not use the row of a former question with the same id, when the new one %s', async (_what, change) => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(5), attendee(nameless.id));
    await stage.put('sessions', session(1), session(2));
    await stage.put('questions', question(11, 5, 1));
    await stage.put('qna-questions', qnaQuestion(11, { id: 5, anonymous: false }, 1));
    const scene = await stage.scene();
    await scene.settle();
    expect(archived(scene, 'questions')).toMatchObject([{ revision: 1, data: { attendeeId: 5 } }]);

    await stage.patch('questions', 11, { ...change, question: { content: 'Without a name?' } });
    await stage.db.query(`update streams set due_at = now(), sweep_due_at = now() where list = 'questions'`);
    await scene.settle();
    const later = archived(scene, 'questions').slice(1);
    expect(later).toMatchObject([{ revision: 2, data: { question: { content: 'Without a name?' } } }]);
    expect(later[0]!.data).not.toHaveProperty('attendeeId');
    expect(JSON.stringify(archived(scene, 'engagement'))).not.toContain(String(nameless.id));
  });

  it('shows the author of a question with a used id as soon as its own flag allows it', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(5), attendee(6));
    await stage.put('sessions', session(1));
    await stage.put('questions', question(11, 5, 1));
    await stage.put('qna-questions', qnaQuestion(11, { id: 5, anonymous: false }, 1));
    const scene = await stage.scene();
    await scene.settle();

    const createdAt = '2026-11-21T09:00:00.000Z';
    await stage.patch('questions', 11, { attendeeId: 6, createdAt });
    await stage.db.query(`update streams set due_at = now(), sweep_due_at = now() where list = 'questions'`);
    await scene.settle();
    await stage.patch('qna-questions', 11, { attendee: { id: 6, attendeeCode: 'code-6' }, createdAt });
    await stage.sweepsAreDue();
    await scene.settle();
    expect(archived(scene, 'questions').at(-1)).toMatchObject({ revision: 3, data: { attendeeId: 6 } });
  });

  it('keeps the author of an anonymous question hidden while only one list shows that it was moved to a named session', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(5));
    await stage.put('sessions', session(1), session(2, { anonymousResponses: false }));
    await stage.put('questions', question(11, 5, 2));
    await stage.put('qna-questions', qnaQuestion(11, { id: 5, anonymous: true }, 1));
    const scene = await stage.scene();
    await scene.settle();
    expect(archived(scene, 'questions')).toHaveLength(1);
    expect(archived(scene, 'questions')[0]!.data).not.toHaveProperty('attendeeId');
  });

  it('removes the author, also from snapshots, when a session becomes anonymous, and restores them when it changes back', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(nameless.id));
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('votes', vote(11, nameless.id, 1));
    await stage.put('answer_ratings', rating(31, 11, nameless.id, 1));
    const scene = await stage.scene();
    await scene.settle();
    expect(archived(scene, 'votes')).toMatchObject([{ revision: 1, data: { attendeeId: nameless.id } }]);

    await stage.patch('sessions', 1, { anonymousResponses: true });
    await stage.sweepsAreDue();
    await scene.settle();
    expect(archived(scene, 'votes').map(({ revision }) => revision)).toEqual([1, 2]);
    expect(archived(scene, 'answer_ratings').at(-1)!.data).not.toHaveProperty('attendeeId');
    expect(await storedInteractions(stage)).not.toContain(String(nameless.id));

    await stage.patch('sessions', 1, { anonymousResponses: false });
    await stage.sweepsAreDue();
    await scene.settle();
    expect(archived(scene, 'votes')).toMatchObject([{}, {}, { revision: 3, data: { attendeeId: nameless.id } }]);
  });

  it('reads the lists of a changed session again immediately, even if no sweep is due', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(5));
    await stage.put('sessions', session(1));
    await stage.put('votes', vote(11, 5, 1));
    const scene = await stage.scene();
    await scene.settle();

    await stage.patch('sessions', 1, { anonymousResponses: false });
    await stage.db.query(`update streams set due_at = now() where list = 'sessions'`);
    await scene.settle();

    expect(archived(scene, 'votes')).toMatchObject([{ revision: 1 }, { revision: 2, data: { attendeeId: 5 } }]);
  });

  it('revises many items in slices, and withholds all of them until the last slice is done', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(nameless.id));
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    const ids = Array.from({ length: 620 }, (_, index) => 1000 + index);
    await stage.put('answer_ratings', ...ids.map((id) => rating(id, 11, nameless.id, 1)));
    const scene = await stage.scene();
    await scene.discover();
    await scene.read({ workspace: 'acme', pigeonholeId: pigeonhole });
    expect(
      await stage.db.query(`select 1 from items where list = 'answer_ratings' and visibility = 'named'`),
    ).toHaveLength(620);

    await stage.patch('sessions', 1, { anonymousResponses: true });
    await stage.db.query(`update streams set due_at = now() where list = 'sessions'`);
    // The process dies between the page of the session and the first slice.
    await expect(readWithoutReviews(scene)).rejects.toThrow(ProcessDied);
    expect(await stage.db.query('select 1 from visibility_reviews')).toHaveLength(1);
    await scene.deliver('archive');
    expect(archived(scene, 'answer_ratings')).toHaveLength(620);
    expect(JSON.stringify(archived(scene, 'answer_ratings'))).not.toContain(String(nameless.id));

    await scene.settle();
    expect(archived(scene, 'answer_ratings')).toHaveLength(1240);
    expect(new Set(archived(scene, 'answer_ratings').map(({ key, revision }) => `${key} ${revision}`)).size).toBe(1240);
    expect(await stage.db.query('select 1 from visibility_reviews')).toHaveLength(0);
    expect(await storedInteractions(stage)).not.toContain(String(nameless.id));
  });

  it('treats a session as anonymous if the service no longer says whether it is', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(5));
    await stage.put(
      'sessions',
      session(1, { anonymousResponses: false }),
      session(2, { anonymousResponses: undefined }),
    );
    await stage.put('votes', vote(11, 5, 1), vote(12, 5, 2));
    const scene = await stage.scene();
    await scene.settle();
    const shown = archived(scene, 'votes').map(({ sessionId, data }) => [
      sessionId,
      Object.hasOwn(data!, 'attendeeId'),
    ]);
    expect(Object.fromEntries(shown)).toEqual({ 1: true, 2: false });

    await stage.patch('sessions', 1, { anonymousResponses: null });
    await stage.sweepsAreDue();
    await scene.settle();
    expect(archived(scene, 'votes').at(-1)).toMatchObject({ revision: 2, sessionId: 1 });
    expect(archived(scene, 'votes').at(-1)!.data).not.toHaveProperty('attendeeId');
  });

  it('wakes sinks that receive items of a session even if they accept no sessions', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(5));
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('votes', vote(11, 5, 1));
    const scene = await stage.scene({
      sinks: { archive: `{ type: file, folder: ./archive, lists: [votes], ${everyone} }` },
    });
    await scene.settle();

    const woken: string[] = [];
    const orchestration = {
      ...scene.deps.orchestration,
      wakeSinks: async (names: readonly string[]) => void woken.push(...names),
    };
    await stage.patch('sessions', 1, { anonymousResponses: true });
    await stage.db.query(`update streams set due_at = now() where list = 'sessions'`);
    await readPigeonhole(
      { ...scene.deps, orchestration },
      { workspace: 'acme', pigeonholeId: pigeonhole },
      new AbortController().signal,
    );
    expect(woken).toEqual(['archive']);
  });

  it('notices that a session becomes anonymous even if this setting is dropped from the stored items', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(5));
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('votes', vote(11, 5, 1));
    const scene = await stage.scene({ sync: 'drop: { sessions: [anonymousResponses] }' });
    await scene.settle();
    expect(archived(scene, 'votes')).toMatchObject([{ data: { attendeeId: 5 } }]);

    await stage.patch('sessions', 1, { anonymousResponses: true });
    await stage.sweepsAreDue();
    await scene.settle();
    expect(archived(scene, 'sessions')).toHaveLength(1);
    expect(archived(scene, 'votes')).toHaveLength(2);
    expect(archived(scene, 'votes')[1]!.data).not.toHaveProperty('attendeeId');
  });

  it('removes the person from the stored row when a flagged vote becomes anonymous', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(nameless.id));
    await stage.put('sessions', session(1));
    await stage.put('poll-mcq-votes', pollVote(51, { id: nameless.id, anonymous: false }, 1));
    const scene = await stage.scene();
    await scene.settle();
    expect(archived(scene, 'poll-mcq-votes')).toMatchObject([
      { data: { attendee: { id: nameless.id, anonymous: false } } },
    ]);

    await stage.patch('poll-mcq-votes', 51, { attendee: { anonymous: true } });
    await stage.sweepsAreDue();
    await scene.settle();
    expect(archived(scene, 'poll-mcq-votes')[1]!.data).toMatchObject({ attendee: { anonymous: true } });
    expect(await storedInteractions(stage)).not.toContain(String(nameless.id));
  });
});

/** Runs a reading cycle whose process dies after it has stored the page of the session and before the first slice. */
async function readWithoutReviews(scene: Scene): Promise<unknown> {
  const db = mortalDatabase(scene.ledger.db, ({ sql }) => sql.startsWith('select 1 from visibility_reviews'));
  const dying = { ...scene.deps, ledger: { ...scene.ledger, db } };
  return await readPigeonhole(dying, { workspace: 'acme', pigeonholeId: pigeonhole }, new AbortController().signal);
}
