import type { Change } from '../../sinks/change.js';
import { kinds } from '../kit/scenario-kinds.js';
import { finishRetention } from '../kit/finish-retention.js';
import { passTime } from '../kit/pass-time.js';
import { answer, attendee, pollVote, qnaQuestion, rating, session, vote } from '../kit/items.js';
import { everyone, type Stage, useStages } from '../kit/stage.js';

const stages = useStages();
const engagement = 'lists: [engagement]';
const named = { anonymousResponses: false };
const by = (id: number) => ({ id, anonymous: false });

/** Returns the latest change of each item of the list, by scope, session and attendee; null for a deletion. */
function latest(stage: Stage): Record<string, Change['data']> {
  const items = new Map<string, { name: string; data: Change['data']; revision: number }>();
  for (const { key, change } of stage.received('engagement')) {
    const { data, revision } = change as Change;
    const before = items.get(key);
    if (before !== undefined && before.revision > revision) continue;
    const name =
      data === null
        ? before!.name
        : `${data['scope'] as string} ${(data['sessionId'] as number) ?? ''}: ${data['attendeeId'] as number}`;
    items.set(key, { name, data, revision });
  }
  return Object.fromEntries([...items.values()].map(({ name, data }) => [name, data]));
}

describe.each(kinds)('engagement, on %s', (kind) => {
  it('counts the non-anonymous actions of each attendee by session and in total, with the number of offers', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, named), session(2, { ...named, type: 'poll_word_cloud' }), session(3));
    await stage.put('attendees', attendee(1), attendee(2), attendee(3));
    await stage.put('qna-questions', qnaQuestion(11, by(1), 1), qnaQuestion(12, { id: 1, anonymous: true }, 1));
    await stage.put('votes', vote(11, 2, 1), vote(11, 1, 3)); // session 3 accepts anonymous responses
    await stage.put('answer_ratings', rating(31, 11, 1, 1));
    await stage.put('answers', answer(41, 1, 2));
    await stage.put(
      'poll-mcq-votes',
      pollVote(51, by(1), 1, { question: { id: 300, content: 'a' } }),
      pollVote(52, by(1), 1, { question: { id: 300, content: 'a' } }), // another option of the same question
      pollVote(53, { id: 2, anonymous: true }, 1, { question: { id: 301, content: 'b' } }),
    );
    const scene = await stage.webhookScene(`${everyone}, ${engagement}`);
    await scene.settle();

    const nothing = { asked: 0, answered: 0, responded: 0, voted: 0, rated: 0 };
    expect(latest(stage)).toEqual({
      'session 1: 1': {
        ...nothing,
        scope: 'session',
        attendeeId: 1,
        sessionId: 1,
        rule: 1,
        offered: 2,
        interactions: 3,
        asked: 1,
        answered: 1,
        rated: 1,
        evidence: ['answer_ratings:31', 'poll-mcq-votes:51', 'poll-mcq-votes:52', 'qna-questions:11'],
      },
      'session 1: 2': {
        ...nothing,
        scope: 'session',
        attendeeId: 2,
        sessionId: 1,
        rule: 1,
        offered: 2,
        interactions: 1,
        voted: 1,
        evidence: [expect.stringMatching(/^votes:/)],
      },
      'session 2: 1': {
        ...nothing,
        scope: 'session',
        attendeeId: 1,
        sessionId: 2,
        rule: 1,
        offered: 0,
        interactions: 1,
        responded: 1,
        evidence: ['answers:41'],
      },
      'pigeonhole : 1': {
        ...nothing,
        scope: 'pigeonhole',
        attendeeId: 1,
        rule: 1,
        offered: 2,
        interactions: 4,
        asked: 1,
        answered: 1,
        responded: 1,
        rated: 1,
        evidence: ['answer_ratings:31', 'answers:41', 'poll-mcq-votes:51', 'poll-mcq-votes:52', 'qna-questions:11'],
      },
      'pigeonhole : 2': expect.objectContaining({ interactions: 1, voted: 1, offered: 2 }),
    });
    expect(JSON.stringify(stage.received('engagement'))).not.toContain('code-');
  });

  it('updates the counts after new actions, and sends nothing for people who did nothing', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, named));
    await stage.put('attendees', attendee(1), attendee(2));
    await stage.put('poll-mcq-votes', pollVote(51, by(1), 1), pollVote(52, by(2), 1));
    const scene = await stage.webhookScene(`${everyone}, ${engagement}`);
    await scene.settle();
    const before = stage.received('engagement').length;

    await stage.put('votes', vote(11, 1, 1));
    await stage.pollsAreDue();
    await scene.settle();
    const since = stage.received('engagement').slice(before);
    expect(since.map(({ change }) => [change.type, change.data!['attendeeId'], change.data!['interactions']])).toEqual([
      ['engagement.updated', 1, 2],
      ['engagement.updated', 1, 2],
    ]);
  });

  it('decreases when actions are deleted, and is deleted when no action is left', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, named));
    await stage.put('attendees', attendee(1), attendee(2));
    await stage.put('poll-mcq-votes', pollVote(51, by(1), 1), pollVote(52, by(1), 1), pollVote(53, by(2), 1));
    const scene = await stage.webhookScene(`${everyone}, ${engagement}`);
    await scene.settle();

    await stage.remove('poll-mcq-votes', 51);
    await stage.remove('poll-mcq-votes', 53);
    for (let round = 0; round < 4; round += 1) {
      await stage.timePasses(15_000); // two of three votes are a large share, so a second answer must confirm it
      await stage.sweepsAreDue();
      await scene.settle();
    }
    expect(latest(stage)).toEqual({
      'session 1: 1': expect.objectContaining({ interactions: 1, evidence: ['poll-mcq-votes:52'] }),
      'pigeonhole : 1': expect.objectContaining({ interactions: 1 }),
      'session 1: 2': null,
      'pigeonhole : 2': null,
    });
  });

  it('excludes actions that became anonymous, and removes them from the evidence', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, named));
    await stage.put('attendees', attendee(1), attendee(2));
    await stage.put('poll-mcq-votes', pollVote(51, by(1), 1), pollVote(52, by(1), 1), pollVote(53, by(2), 1));
    const scene = await stage.webhookScene(`${everyone}, ${engagement}`);
    await scene.settle();

    await stage.patch('poll-mcq-votes', 51, { attendee: { id: 1, anonymous: true } });
    await stage.patch('poll-mcq-votes', 53, { attendee: { id: 2, anonymous: true } });
    await stage.sweepsAreDue();
    await scene.settle();
    expect(latest(stage)).toEqual({
      'session 1: 1': expect.objectContaining({ interactions: 1, evidence: ['poll-mcq-votes:52'] }),
      'pigeonhole : 1': expect.objectContaining({ interactions: 1, evidence: ['poll-mcq-votes:52'] }),
      'session 1: 2': null,
      'pigeonhole : 2': null,
    });
    const stored = await stage.db.query(`select payload from items where list = 'engagement' and payload is not null`);
    expect(JSON.stringify(stored)).not.toMatch(/:51|:53/);
  });

  it('moves with an item that the service attributes to another attendee', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, named));
    await stage.put('attendees', attendee(1), attendee(2));
    await stage.put('qna-questions', qnaQuestion(11, by(1), 1), qnaQuestion(12, by(1), 1));
    const scene = await stage.webhookScene(`${everyone}, ${engagement}`);
    await scene.settle();
    await stage.patch('qna-questions', 12, { attendee: { attendeeCode: 'code-2', ...by(2) } });
    await stage.sweepsAreDue();
    await scene.settle();
    expect(latest(stage)).toMatchObject({ 'pigeonhole : 1': { asked: 1 }, 'pigeonhole : 2': { asked: 1 } });
    await stage.patch('qna-questions', 11, { attendee: { attendeeCode: 'code-2', ...by(2) } });
    await stage.sweepsAreDue();
    await scene.settle();
    expect(latest(stage)).toMatchObject({ 'pigeonhole : 1': null, 'pigeonhole : 2': { asked: 2 } });
  });

  it('updates the number of offers for everyone ten minutes after the last update', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, named));
    await stage.put('attendees', attendee(1), attendee(2));
    await stage.put('poll-mcq-votes', pollVote(51, by(1), 1, { question: { id: 300, content: 'a' } }));
    const scene = await stage.webhookScene(`${everyone}, ${engagement}`);
    await scene.settle();
    await stage.put('poll-mcq-votes', pollVote(52, by(2), 1, { question: { id: 301, content: 'b' } }));
    await stage.pollsAreDue();
    await scene.settle();
    expect(latest(stage)).toMatchObject({ 'session 1: 1': { offered: 1 }, 'session 1: 2': { offered: 2 } });

    await passTime(stage.db, 10 * 60_000);
    await scene.settle();
    expect(latest(stage)).toMatchObject({ 'session 1: 1': { offered: 2 }, 'pigeonhole : 1': { offered: 2 } });
  });

  it('is withheld with its evidence from sinks that may not receive the person', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, named));
    await stage.put('attendees', attendee(1, { consent: { obtained: false } }));
    await stage.put('poll-mcq-votes', pollVote(51, by(1), 1));
    const scene = await stage.webhookScene('consent: { accept: [obtained] }, lists: [attendees, engagement]');
    await scene.settle();
    expect(stage.received('engagement')).toEqual([]);
    const withheld = await stage.db.query(`select distinct reason from deliveries where list = 'engagement'`);
    expect(withheld).toEqual([{ reason: 'consent-refused' }]);
  });

  it.each(['[attendees, engagement]', '[engagement]'])(
    'reaches a log sink with the lists %s if the attendee consents after the last action',
    async (lists) => {
      const stage = await stages.open(kind);
      await stage.put('sessions', session(1, named));
      await stage.put('attendees', attendee(1, { consent: { obtained: false } }));
      await stage.put('poll-mcq-votes', pollVote(51, by(1), 1));
      const scene = await stage.webhookScene(`consent: { accept: [obtained] }, lists: ${lists}`);
      await scene.settle();
      await stage.patch('attendees', 1, { consent: { obtained: true } });
      await stage.pollsAreDue();
      await scene.settle();
      expect(Object.keys(latest(stage)).toSorted()).toEqual(['pigeonhole : 1', 'session 1: 1']);
      for (const obtained of [false, true]) {
        await stage.patch('attendees', 1, { consent: { obtained } });
        await stage.pollsAreDue();
        await scene.settle();
      }
      expect(stage.received('engagement')).toHaveLength(2); // each change once
    },
  );

  it('is counted after retention has removed texts, except for attendees whose own items it emptied', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, named));
    await stage.put('attendees', attendee(1), attendee(2));
    await stage.put('poll-mcq-votes', pollVote(51, by(1), 1, { question: { id: 300, content: 'a' } }));
    const scene = await stage.webhookScene(`${everyone}, ${engagement}`);
    await scene.settle();
    await stage.db.query(`update pigeonholes set ended_at = now() - interval '2 days'`);
    const retention = { listsMs: { 'poll-mcq-votes': 86_400_000 }, changesMs: 86_400_000, attemptsMs: 86_400_000 };
    const deps = { ...scene.deps, config: { ...scene.deps.config, retention } };
    await finishRetention(deps);
    await stage.db.query('update pigeonholes set ended_at = null');
    await stage.put('poll-mcq-votes', pollVote(52, by(1), 1, { question: { id: 301, content: 'b' } }));
    await stage.put('poll-mcq-votes', pollVote(53, by(2), 1, { question: { id: 301, content: 'b' } }));
    await stage.pollsAreDue();
    await scene.settle();
    expect(latest(stage)).toMatchObject({
      'session 1: 1': { answered: 1, evidence: ['poll-mcq-votes:51'] }, // what they answered before is not known any more
      'session 1: 2': { answered: 1, evidence: ['poll-mcq-votes:53'] },
    });
  });

  it('is produced only for sinks that request it', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, named));
    await stage.put('attendees', attendee(1));
    await stage.put('poll-mcq-votes', pollVote(51, by(1), 1));
    const scene = await stage.webhookScene(everyone);
    await scene.settle();
    expect(await stage.db.query(`select 1 from items where list = 'engagement'`)).toEqual([]);
    expect(stage.received('poll-mcq-votes')).toHaveLength(1);
  });
});
