import { apiSources, asLocalUser } from '../../api/api-sources.test-kit.js';
import { createApp } from '../../api/create-app.js';
import type { PersonStoryView } from '../../api/person-story.js';
import { askToForget, forget } from '../kit/forget.js';
import { attendee, pollVote, qnaQuestion, question, session, vote } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { everyone, useStages } from '../kit/stage.js';

const stages = useStages();

/** Requests the story of an attendee of acme/101. */
async function storyOf({ deps: { ledger, config, configuration } }: Scene, id: number) {
  const app = createApp(apiSources({ ledger, config, configuration }));
  const answer = await app.request(`/api/persons/acme/101/${id}`, { headers: asLocalUser });
  return { status: answer.status, story: (await answer.json()) as PersonStoryView };
}

describe.each(kinds)('the story of a person, on %s', (kind) => {
  it('says what they did under their name, what each sink holds and why not, and how their consent changed', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, { name: 'Opening keynote', anonymousResponses: false }));
    await stage.put(
      'attendees',
      attendee(1, { Name: 'Ada Smith', Email: 'ada@example.com', consent: null }),
      attendee(2, { Name: 'Zoë', Email: 'ADA@example.com' }),
    );
    const lunch = { id: 9001, content: 'When is lunch?', status: 'approved' };
    await stage.put('qna-questions', qnaQuestion(9001, { id: 1, anonymous: false }, 1, { content: lunch.content }));
    await stage.put('questions', question(9001, 1, 1, { question: lunch }));
    await stage.put('votes', vote(9001, 1, 1, { question: lunch, createdAt: '2026-11-21T09:00:00.000Z' }));
    await stage.put('poll-mcq-votes', pollVote(51, { id: 1, anonymous: true }, 1));
    const scene = await stage.scene({
      sinks: {
        all: `{ type: file, folder: ./all, history: all, ${everyone} }`,
        strict: '{ type: file, folder: ./strict, history: all, consent: { accept: [obtained] } }',
        late: '{ type: file, folder: ./late, history: all, lists: [sessions] }',
      },
    });
    await scene.settle();

    const { status, story } = await storyOf(scene, 1);
    expect(status).toBe(200);
    expect(story).toMatchObject({
      name: 'Ada Smith',
      codes: ['code-1'],
      addresses: ['ada@example.com'],
      consent: [{ consent: 'not-asked', obtainedAt: null }],
      elsewhere: [{ workspace: 'acme', pigeonholeId: 101, attendeeId: 2 }],
      profile: { Email: 'ada@example.com' },
    });
    expect(story.deeds.map(({ sentence }) => sentence)).toEqual([
      'Ada Smith voted for a question in “Opening keynote”: When is lunch?',
      'Ada Smith asked in “Opening keynote”: When is lunch?',
    ]);
    const bySink = new Map(story.destinations.map((each) => [each.sink, each]));
    expect(bySink.get('all')).toMatchObject({ type: 'file', record: { state: 'delivered' }, holds: { revision: 1 } });
    expect(bySink.get('strict')).toMatchObject({
      record: { state: 'withheld', reason: 'consent-not-asked', words: expect.stringMatching(/consent/) },
      holds: null,
    });
    expect(bySink.get('late')).toMatchObject({ record: { state: 'unwanted' }, holds: null, items: [] });
    expect(bySink.get('strict')!.items).toContainEqual(
      expect.objectContaining({ list: 'votes', state: 'delivered', identity: false, items: 1 }),
    );
    expect(bySink.get('all')!.items).toEqual([
      expect.objectContaining({ list: 'qna-questions', state: 'delivered', items: 1 }), // not the same one in `questions` again
      expect.objectContaining({ list: 'votes', state: 'delivered', identity: true, items: 1 }),
    ]);
    expect(JSON.stringify(story)).not.toContain('poll-mcq-votes'); // nobody may see whose it is

    await stage.patch('attendees', 1, { consent: { obtained: false, obtainedAt: '2026-11-21T10:00:00.000Z' } });
    await stage.sweepsAreDue();
    await scene.settle();
    const { story: refused } = await storyOf(scene, 1);
    expect(refused.consent).toMatchObject([
      { consent: 'not-asked' },
      { consent: 'refused', obtainedAt: '2026-11-21T10:00:00.000Z' },
    ]);

    const looks = `select action, target, subject is not null as person from audit where action = 'show-person' limit 1`;
    expect(await scene.ledger.db.query(looks)).toEqual([
      { action: 'show-person', target: 'pigeonhole:acme/101', person: true },
    ]);

    await forget(stage, scene, await askToForget(scene, { by: 'id', text: '1' }));
    expect((await storyOf(scene, 1)).status).toBe(404);
    expect((await storyOf(scene, 2)).story).toMatchObject({ name: 'Zoë', elsewhere: [] });
  });
});
