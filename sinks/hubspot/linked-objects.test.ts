import { property } from '../../sandbox/hubspot/object-type.js';
import { hubSpotFaults } from '../../sandbox/hubspot/start-hubspot-double.js';
import type { FaultEffect } from '../../sandbox/serve/faults.js';
import { subjectOf } from '../plan-of.test-kit.js';
import { sampleChange } from '../sample-change.test-kit.js';
import type { Fields, Subject } from '../sink.js';
import { Desk, type DeskOptions, kinds, question } from './desk.test-kit.js';

let desk: Desk;
afterEach(async () => desk.close());

const guest = { contactProperties: { firstname: '"Guest"' } };

describe('notes', () => {
  const notes = {
    from: 'qna-questions',
    object: 'notes',
    email: 'attendee.Email',
    properties: { hs_note_body: 'item.content' },
    ...guest,
  };
  const asked = (key: number, content = 'When is <lunch>?') => question(key, { content });
  const anonymous = question(9001, { content: 'When?' }, {});
  const bodies = () => desk.valuesOf('notes').map((note) => note.hs_note_body);
  const open = async (options: DeskOptions = {}) => {
    desk = await Desk.open([notes], options);
  };
  const lose = (effect: FaultEffect) => desk.hubspot.faults.add({ path: 'notes/batch/create', effect });

  it('are added to the timeline of the contact with escaped text, edited and removed', async () => {
    await open();
    const contact = desk.createContact({ email: 'ada@example.com' });
    await desk.deliver([asked(9001)]);
    expect(bodies()).toEqual(['<p>When is &lt;lunch&gt;?</p><p>[pigeonpost acme/101/qna-questions/9001]</p>']);
    expect(desk.account.associations.all()).toMatchObject([{ toId: contact.id, typeId: 202 }]);
    await desk.deliver([asked(9001, 'When is dinner?')]);
    expect(bodies()).toEqual([expect.stringContaining('dinner')]);
    await desk.deliver([question(9001, null)]);
    expect(bodies()).toEqual([]);
  });

  it('are removed if the question becomes anonymous', async () => {
    await open();
    await desk.deliver([asked(9001)]);
    await desk.deliver([anonymous]);
    expect(bodies()).toEqual([]);
    expect(await desk.deliver([anonymous])).toEqual([{ kind: 'nothing', reason: 'no-person' }]);
  });

  it.each<[string, FaultEffect]>([
    ['response was lost', { kind: 'dropAfter' }],
    ['response was an error after the effect', hubSpotFaults['badGatewayAfter']!],
    ['response was incomplete', { kind: 'answerAfter', answer: { status: 200, json: {} } }],
  ])('whose %s are looked up, and never created twice', async (_, effect) => {
    await open();
    lose(effect);
    const both = [asked(9001), asked(9002)];
    expect(kinds(await desk.deliver(both))).toEqual(['unknown', 'unknown']);
    expect(kinds(await desk.deliver(both, 'recover'))).toEqual(['unsent', 'unsent']);
    await desk.deliver(both);
    expect(bodies()).toHaveLength(2);
    await desk.deliver([asked(9001, 'Dinner?')]);
    expect(bodies().filter((text) => text?.includes('Dinner'))).toHaveLength(1);
  });

  it('are not changed by a look-up, because the identity of the person may no longer be visible', async () => {
    await open();
    lose({ kind: 'dropAfter' });
    await desk.deliver([asked(9001)]);
    const before = desk.paths().length;
    await desk.deliver([asked(9001)], 'recover');
    expect(desk.paths().slice(before)).not.toEqual([]);
    expect(
      desk
        .paths()
        .slice(before)
        .filter((path) => !path.endsWith('/batch/read')),
    ).toEqual([]);
    await desk.deliver([anonymous]);
    expect(bodies()).toEqual([]);
  });

  it.each(['dropAfter', 'dropBefore'] as const)('are looked up at the contact they were sent to: %s', async (kind) => {
    await open();
    lose({ kind });
    await desk.deliver([asked(9001)]);
    const moved = question(9001, { content: 'When?' }, { attendee: { Email: 'countess@example.com' } });
    expect(kinds(await desk.deliver([moved], 'recover'))).toEqual(['unsent']);
    await desk.deliver([moved]);
    expect(bodies()).toHaveLength(1);
    expect(desk.contacts).toHaveLength(kind === 'dropAfter' ? 1 : 2);
  });

  it('that may exist are left to an operator if the person must be forgotten', async () => {
    await open();
    desk.createContact({ email: 'ada@example.com' });
    lose({ kind: 'dropAfter' });
    await desk.deliver([asked(9001)]);
    expect(await desk.deliver([question(9001, null, { removal: 'erased' })])).toMatchObject([
      { kind: 'unplannable', cause: 'hubspot:forget-by-hand' },
    ]);
  });

  it('that were never created are sent after the look-up', async () => {
    await open();
    desk.createContact({ email: 'ada@example.com' });
    expect(kinds(await desk.deliver([asked(9001)], 'recover'))).toEqual(['unsent']);
    expect(bodies()).toEqual([]);
  });

  it('remain unknown while HubSpot does not answer', async () => {
    await open();
    desk.hubspot.faults.add({ times: 99, effect: hubSpotFaults['unavailable']! });
    expect(kinds(await desk.deliver([asked(9001)], 'recover'))).toEqual(['unknown']);
    expect(kinds(await desk.deliver([asked(9001)], 'recover', AbortSignal.abort()))).toEqual(['unknown']);
  });

  it('remain unknown after a 404 for the contact', async () => {
    await open();
    const answer = { status: 404, json: { category: 'OBJECT_NOT_FOUND' } };
    desk.hubspot.faults.add({ path: 'contacts/batch/read', times: 9, effect: { kind: 'answer', answer } });
    expect(await desk.deliver([asked(5)], 'recover')).toMatchObject([{ kind: 'unknown' }]);
  });

  it('of one contact that cannot be read are all said to be unread', async () => {
    await open();
    desk.createContact({ email: 'ada@example.com' });
    desk.hubspot.faults.add({ times: 99, path: 'contacts/notes/batch/read', effect: hubSpotFaults['unavailable']! });
    const [first, second] = await desk.deliver([asked(9001), asked(9002)], 'recover');
    expect(first).toMatchObject({ kind: 'unknown', detail: expect.stringContaining('503') });
    expect(second).toEqual({ kind: 'unknown', detail: 'the notes of the contact could not be read' });
  });

  it('that a user deleted are not written again', async () => {
    await open();
    await desk.deliver([asked(9001)]);
    const { portal } = desk.account;
    portal.erase(portal.all(desk.account.type('notes'))[0]!);
    expect(kinds(await desk.deliver([asked(9001, 'Dinner?')]))).toEqual(['delivered']);
    expect(bodies()).toEqual([]);
  });

  it('are all read, page by page, for the look-up of one', async () => {
    await open({ associationsPerPage: 2 });
    await desk.deliver([1, 2, 3, 4].map((key) => asked(key)));
    lose({ kind: 'dropAfter' });
    await desk.deliver([asked(5)]);
    expect(await desk.deliver([asked(5)], 'recover')).toMatchObject([{ kind: 'unsent', object: { notes: {} } }]);
    expect(desk.paths('/contacts/notes/batch/read')).toHaveLength(3);
    await desk.deliver([asked(5)]);
    expect(bodies()).toHaveLength(5);
  });

  it.each(['contacts/notes/batch/read', 'objects/2026-09/notes/batch/read'])(
    'are not treated as missing because of a 404 for %s',
    async (path) => {
      await open();
      lose({ kind: 'dropAfter' });
      await desk.deliver([asked(5)]);
      const answer = { status: 404, json: { category: 'OBJECT_NOT_FOUND' } };
      desk.hubspot.faults.add({ path, times: 9, effect: { kind: 'answer', answer } });
      expect(await desk.deliver([asked(5)], 'recover')).toMatchObject([{ kind: 'unknown' }]);
      desk.hubspot.faults.clear();
      await desk.deliver([asked(5)], 'recover');
      await desk.deliver([asked(5)]);
      expect(bodies()).toHaveLength(1);
    },
  );
});

describe('records of a custom object', () => {
  const votes = {
    from: 'poll-mcq-votes',
    object: 'vote',
    match: ['vote_id'],
    email: 'attendee.Email',
    properties: { vote_id: '$string(item.id)', choice: 'item.option.content', voter: 'attendee.Name' },
    ...guest,
  };
  const vote = (id: number, data: Fields | null, attendee: Fields | null = null): Subject =>
    subjectOf(sampleChange({ list: 'poll-mcq-votes', key: String(id), data: data && { id, ...data } }), { attendee });
  const voteType = {
    name: 'vote',
    properties: [property('vote_id', { hasUniqueValue: true }), property('choice'), property('voter')],
  };

  beforeEach(async () => {
    desk = await Desk.open([votes], { customObjects: [voteType] });
  });

  it('whose association is rejected fail without affecting others', async () => {
    const gone = desk.createContact({ email: 'gone@example.com' });
    desk.createContact({ email: 'ada@example.com' });
    const answer = { status: 404, json: { category: 'OBJECT_NOT_FOUND' } };
    const bodyHas = `"to":{"id":"${gone.id}"}`;
    desk.hubspot.faults.add({ path: 'associate', bodyHas, times: 99, effect: { kind: 'answer', answer } });
    const voters = ['ada', 'gone', 'ada'].map((name) => ({ Email: `${name}@example.com` }));
    const outcomes = await desk.deliver(voters.map((voter, id) => vote(id, {}, voter)));
    expect(kinds(outcomes)).toEqual(['delivered', 'retry', 'delivered']);
    expect(desk.account.associations.all()).toHaveLength(2);
  });

  it('are created once for the contact, and lose it if the vote becomes anonymous', async () => {
    const contact = desk.createContact({ email: 'ada@example.com' });
    await desk.deliver([vote(5, { option: { content: 'Yes' } }, { Email: 'ada@example.com', Name: 'Ada' })]);
    expect(desk.valuesOf('vote')).toEqual([{ vote_id: '5', choice: 'Yes', voter: 'Ada' }]);
    expect(desk.account.associations.all()).toMatchObject([{ fromType: 'vote', toId: contact.id }]);
    await desk.deliver([vote(5, { option: { content: 'No' } })]);
    expect(desk.valuesOf('vote')).toEqual([{ vote_id: '5', choice: 'No' }]);
    expect(desk.account.associations.all()).toEqual([]);
    await desk.deliver([vote(5, null)]);
    expect(desk.valuesOf('vote')).toEqual([]);
  });
});
