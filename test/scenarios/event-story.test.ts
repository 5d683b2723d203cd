import { apiSources, asLocalUser } from '../../api/api-sources.test-kit.js';
import { createApp } from '../../api/create-app.js';
import type { EventStoryView } from '../../api/event-story.js';
import { SessionCounts } from '../../operations/event/event-story.js';
import { attendee, pollVote, qnaQuestion, question, session, vote } from '../kit/items.js';
import { kinds } from '../kit/scenario-kinds.js';
import type { Scene } from '../kit/scene.js';
import { everyone, useStages } from '../kit/stage.js';

const stages = useStages();

describe.each(kinds)('the story of an event, on %s', (kind) => {
  it('has its sessions by their start with their items, and what each sink has, without people and their texts', async () => {
    const stage = await stages.open(kind);
    await stage.put(
      'sessions',
      session(1, { name: 'Panel', startDate: '2026-11-21T10:00:00Z', endDate: '2026-11-21T11:00:00Z' }),
      session(2, { name: 'Opening keynote', startDate: '2026-11-21T08:00:00Z', anonymousResponses: false }),
    );
    await stage.put(
      'attendees',
      attendee(1, { Name: 'MARK-name' }),
      attendee(2, { consent: { obtained: false, obtainedAt: null } }),
    );
    await stage.put('qna-questions', qnaQuestion(9001, { id: 1, anonymous: false }, 2, { content: 'MARK-text' }));
    await stage.put('questions', question(9001, 1, 2), question(9002, 1, 2));
    await stage.put('votes', vote(9001, 2, 2));
    await stage.put('poll-mcq-votes', pollVote(51, { id: 2, anonymous: true }, 1));
    const scene = await stage.scene({
      sinks: {
        all: `{ type: file, folder: ./all, history: all, lists: [attendees], ${everyone} }`,
        strict: '{ type: file, folder: ./strict, history: all, lists: [attendees], consent: { accept: [obtained] } }',
        late: '{ type: file, folder: ./late, history: all, mode: observe }',
      },
    });
    await scene.settle();
    await stage.remove('questions', 9002);
    await stage.sweepsAreDue();
    await scene.settle();

    const { ledger, config, configuration } = scene.deps;
    const app = createApp(apiSources({ ledger, config, configuration }));
    const text = await (await app.request('/api/pigeonholes/acme/101/story', { headers: asLocalUser })).text();
    expect(text).not.toContain('MARK');
    const story = JSON.parse(text) as EventStoryView;
    expect(story.sessions).toMatchObject([
      { sessionId: 2, title: 'Opening keynote', startsAt: '2026-11-21T08:00:00.000Z' },
      { sessionId: 1, title: 'Panel', endsAt: '2026-11-21T11:00:00.000Z', items: { 'poll-mcq-votes': 1 } },
    ]);
    expect(story.items).toMatchObject({ attendees: 2, sessions: 2 });
    expect(story.sinks).toMatchObject([
      { sink: 'all', delivered: 2, waiting: 0, refused: 0, withheld: [], observes: false },
      { sink: 'late', delivered: 0, waiting: 0, observes: true },
      { sink: 'strict', type: 'file', delivered: 1, withheld: [{ reason: 'consent-refused', changes: 1 }] },
    ]);
    const counts = await new SessionCounts().of(ledger, await numberOf(scene), 10);
    expect(counts.bySession.get(2)).toEqual({ 'qna-questions': 1, questions: 1, votes: 1 }); // the deleted one does not count
  });
});

async function numberOf({ ledger }: Pick<Scene, 'ledger'>): Promise<number> {
  const [row] = await ledger.db.query<{ n: number }>(
    `select pigeonhole_number as n from pigeonholes where workspace = 'acme' and pigeonhole_id = 101`,
  );
  return row!.n;
}

describe('the counts of sessions', () => {
  it('are kept for a time that grows with the event, and counted again after a failure', async () => {
    let asked = 0;
    const query = async (): Promise<unknown[]> => {
      asked += 1;
      if (asked === 1) throw new Error('not now');
      return [{ sessionId: 1, list: 'votes', items: 3 }];
    };
    const counts = new SessionCounts();
    const ledger = { db: { query } } as unknown as Parameters<SessionCounts['of']>[0];
    await expect(counts.of(ledger, 7, 1_000_000)).rejects.toThrow('not now');
    const [one, other] = await Promise.all([counts.of(ledger, 7, 1_000_000), counts.of(ledger, 7, 1_000_000)]);
    expect([one.bySession.get(1), other.bySession.get(1), asked]).toEqual([{ votes: 3 }, { votes: 3 }, 2]);
  });
});
