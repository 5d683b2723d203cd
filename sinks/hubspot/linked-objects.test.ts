import { subjectOf } from '../plan-of.test-kit.js';
import { sampleChange } from '../sample-change.test-kit.js';
import type { Subject } from '../sink.js';
import { Desk, type DeskOptions } from './fake-account.test-kit.js';

let desk: Desk;
afterEach(async () => desk.close());

async function openDesk(records: readonly object[], options: DeskOptions = {}): Promise<Desk> {
  desk = await Desk.open(records, options);
  return desk;
}

const kinds = (outcomes: readonly { kind: string }[]): string[] => outcomes.map(({ kind }) => kind);

function question(key: number, data: Record<string, unknown> | null, around: Partial<Subject> = {}): Subject {
  return subjectOf(
    sampleChange({ id: `q-${key}`, list: 'qna-questions', key: String(key), type: 'qna-questions.created', data }),
    around,
  );
}

describe('notes', () => {
  const notes = {
    from: 'qna-questions',
    object: 'notes',
    email: 'attendee.Email',
    properties: { hs_note_body: 'item.content' },
  };
  const ada = { attendee: { Email: 'ada@example.com' } };
  const asked = (key: number, content = 'When is <lunch>?') => question(key, { content }, ada);
  const textsOf = () => [...desk.account.of('notes').values()].map(({ properties }) => properties.hs_note_body);

  it('stand on the timeline of the contact, escaped, are edited and are removed', async () => {
    const { account } = await openDesk([notes]);
    const contact = account.put('contacts', { email: 'ada@example.com' });
    await desk.deliver([asked(9001)]);
    expect(textsOf()).toEqual(['<p>When is &lt;lunch&gt;?</p><p>[pigeonpost acme/101/qna-questions/9001]</p>']);
    expect(account.associations[0]).toMatch(new RegExp(` contacts ${contact.id}$`));
    await desk.deliver([asked(9001, 'When is dinner?')]);
    expect(textsOf()).toEqual([expect.stringContaining('dinner')]);
    await desk.deliver([question(9001, null)]);
    expect(textsOf()).toEqual([]);
  });

  it('are removed when the question turns anonymous', async () => {
    await openDesk([notes]);
    await desk.deliver([asked(9001)]);
    await desk.deliver([question(9001, { content: 'When?' })]);
    expect(textsOf()).toEqual([]);
    expect(await desk.deliver([question(9001, { content: 'When is it?' })])).toEqual([
      { kind: 'nothing', reason: 'no-match' },
    ]);
  });

  it.each([
    ['answer was lost', { status: 0, cut: true, afterEffect: true }],
    ['answer was an error after the effect', { status: 502, afterEffect: true }],
    ['answer was torn', { status: 200, body: {}, afterEffect: true }],
  ])('whose %s are looked up, and never made twice', async (_, lost) => {
    const { account } = await openDesk([notes]);
    account.script = ({ path }) => (path.includes('notes/batch/create') ? lost : undefined);
    expect(kinds(await desk.deliver([asked(9001), asked(9002)]))).toEqual(['unknown', 'unknown']);
    account.script = () => undefined;
    expect(kinds(await desk.deliver([asked(9001), asked(9002)], 'recover'))).toEqual(['unsent', 'unsent']);
    await desk.deliver([asked(9001), asked(9002)]);
    expect(textsOf()).toHaveLength(2);
    await desk.deliver([asked(9001, 'Dinner?')]);
    expect(textsOf().filter((text) => text?.includes('Dinner'))).toHaveLength(1);
  });

  it('are not written by a look-up, because the identity of their person may no longer be visible', async () => {
    const { account } = await openDesk([notes]);
    account.script = ({ path }) =>
      path.includes('notes/batch/create') ? { status: 0, cut: true, afterEffect: true } : undefined;
    await desk.deliver([asked(9001)]);
    const paths: string[] = [];
    account.script = ({ path }) => void paths.push(path);
    await desk.deliver([asked(9001)], 'recover');
    expect(paths.filter((path) => !/read|search|associations/.test(path))).toEqual([]);
    await desk.deliver([question(9001, { content: 'When?' })]);
    expect(textsOf()).toEqual([]);
  });

  it('that were never made are sent after the look-up', async () => {
    const { account } = await openDesk([notes]);
    account.put('contacts', { email: 'ada@example.com' });
    expect(kinds(await desk.deliver([asked(9001)], 'recover'))).toEqual(['unsent']);
    expect(textsOf()).toEqual([]);
  });

  it('stay in doubt while HubSpot cannot be asked', async () => {
    const { account } = await openDesk([notes]);
    account.script = () => ({ status: 503 });
    expect(kinds(await desk.deliver([asked(9001)], 'recover'))).toEqual(['unknown']);
    expect(kinds(await desk.deliver([asked(9001)], 'recover', AbortSignal.abort()))).toEqual(['unknown']);
  });

  it('that a person has deleted are not written again', async () => {
    const { account } = await openDesk([notes]);
    await desk.deliver([asked(9001)]);
    account.of('notes').clear();
    expect(kinds(await desk.deliver([asked(9001, 'Dinner?')]))).toEqual(['delivered']);
    expect(textsOf()).toEqual([]);
  });
});

describe('records of a custom object', () => {
  const votes = {
    from: 'poll-mcq-votes',
    object: 'p_votes',
    match: ['vote_id'],
    email: 'attendee.Email',
    properties: { vote_id: '$string(item.id)', choice: 'item.option.content', voter: 'attendee.Name' },
  };
  const vote = (content: string, around: Partial<Subject>) =>
    subjectOf(sampleChange({ list: 'poll-mcq-votes', key: '5', data: { id: 5, option: { content } } }), around);

  it('whose association alone is refused fail without the others', async () => {
    const { account } = await openDesk([votes]);
    const gone = account.put('contacts', { email: 'gone@example.com' });
    account.put('contacts', { email: 'ada@example.com' });
    account.script = ({ path, body }) =>
      path.includes('associate') && JSON.stringify(body).includes(`"to":{"id":"${gone.id}"}`)
        ? { status: 404, body: { category: 'OBJECT_NOT_FOUND' } }
        : undefined;
    const outcomes = await desk.deliver(
      ['ada', 'gone', 'ada'].map((name, key) =>
        subjectOf(sampleChange({ list: 'poll-mcq-votes', key: String(key), data: { id: key } }), {
          attendee: { Email: `${name}@example.com` },
        }),
      ),
    );
    expect(kinds(outcomes)).toEqual(['delivered', 'retry', 'delivered']);
    expect(account.associations).toHaveLength(2);
  });

  it('are made once, belong to the contact, and part from it when the vote turns anonymous', async () => {
    const { account } = await openDesk([votes]);
    const contact = account.put('contacts', { email: 'ada@example.com' });
    await desk.deliver([vote('Yes', { attendee: { Email: 'ada@example.com', Name: 'Ada' } })]);
    const [record] = account.of('p_votes').values();
    expect(record?.properties).toEqual({ vote_id: '5', choice: 'Yes', voter: 'Ada' });
    expect(account.associations).toEqual([`p_votes ${record?.id} contacts ${contact.id}`]);
    await desk.deliver([vote('No', {})]);
    expect(record?.properties).toEqual({ vote_id: '5', choice: 'No', voter: '' });
    expect(account.associations).toEqual([]);
    await desk.deliver([subjectOf(sampleChange({ list: 'poll-mcq-votes', key: '5', data: null }))]);
    expect(account.of('p_votes').size).toBe(0);
  });
});
