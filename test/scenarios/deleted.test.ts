import { kinds } from '../kit/scenario-kinds.js';
import { attendee, question, session } from '../kit/items.js';
import { archived, everyone, pigeonhole, useStages } from '../kit/stage.js';
import { deleteItem } from '../kit/tombstone.js';

const stages = useStages();
const both = { sinks: { archive: `{ type: file, folder: ./archive, ${everyone} }` } };
const at = (list: string, key: number) => ({ pigeonholeId: pigeonhole, list, key: String(key) });

describe.each(kinds)('a deletion, on %s', (kind) => {
  it('is sent to every log sink in order, without personal data', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('attendees', attendee(1));
    await stage.put('questions', question(11, 1, 1));
    const scene = await stage.webhookScene(everyone, both);
    await scene.settle();
    await deleteItem(scene.ledger, at('questions', 11));
    await deleteItem(scene.ledger, at('attendees', 1));
    await scene.settle();
    const expected = { type: 'questions.deleted', revision: 2, sessionId: 1, data: null };
    expect(archived(scene, 'questions', 11).at(-1)).toMatchObject(expected);
    const sent = stage.received('questions').at(-1)!.change;
    expect(sent).toMatchObject(expected);
    expect(Object.keys(sent).toSorted()).toEqual(
      'data id key list pigeonholeId revision sequence sessionId timestamp type workspace'.split(' '),
    );
    expect(archived(scene, 'attendees', 1).map(({ type }) => type)).toEqual(['attendees.created', 'attendees.deleted']);
  });

  it('is withheld or sent as its record was, even if consent has changed since', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(1, { consent: { obtained: false } }), attendee(2));
    const scene = await stage.webhookScene('consent: { accept: [obtained] }');
    await scene.settle();
    await stage.patch('attendees', 2, { consent: { obtained: false } });
    await stage.sweepsAreDue();
    await scene.settle();
    await deleteItem(scene.ledger, at('attendees', 1));
    await deleteItem(scene.ledger, at('attendees', 2));
    await scene.settle();
    expect(stage.received('attendees').map(({ key, type }) => [key, type])).toEqual([
      ['2', 'attendees.created'],
      ['2', 'attendees.deleted'],
    ]);
    const withheld = await stage.db.query<{ key: string; revision: number }>(
      `select key, revision from deliveries where list = 'attendees' and state = 'withheld' order by key, revision`,
    );
    expect(withheld).toEqual([
      { key: '1', revision: 1 },
      { key: '1', revision: 2 },
      { key: '2', revision: 2 },
    ]);
  });

  it('waits for an earlier undelivered change, which is sent with its data', async () => {
    const stage = await stages.open(kind);
    await stage.put('attendees', attendee(1));
    const scene = await stage.webhookScene();
    await stage.planAnswer({ list: 'attendees', status: 500, count: 1000 }); // it is retried after about a second
    await scene.settle();
    await deleteItem(scene.ledger, at('attendees', 1));
    await scene.settle();
    expect(stage.received('attendees')).toEqual([]);
    await stage.forgetAnswers();
    await stage.retriesAreDue();
    await scene.settle();
    const sent = stage.received('attendees').map(({ change }) => [change.revision, change.data]);
    expect(sent).toEqual([
      [1, expect.objectContaining({ Name: 'Person 1' })],
      [2, null],
    ]);
  });

  it('ends the person’s consent, so that later interactions are sent without the person', async () => {
    const stage = await stages.open(kind);
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('attendees', attendee(1));
    const scene = await stage.webhookScene('consent: { accept: [obtained] }');
    await scene.settle();
    await deleteItem(scene.ledger, at('attendees', 1));
    await stage.put('questions', question(11, 1, 1));
    await stage.db.query(`update streams set due_at = now() where list = 'questions'`);
    await scene.settle();
    const [sent] = stage.received('questions');
    expect(sent!.change.data).toBeTruthy();
    expect(sent!.change.data).not.toHaveProperty('attendeeId');
  });
});
