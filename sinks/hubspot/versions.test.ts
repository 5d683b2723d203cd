import { property } from '../../sandbox/hubspot/object-type.js';
import { subjectOf } from '../plan-of.test-kit.js';
import { sampleChange } from '../sample-change.test-kit.js';
import { attendee, Desk, kinds, question } from './desk.test-kit.js';

const guest = { contactProperties: { firstname: '"Guest"' } };
const records = [
  {
    from: 'attendees',
    object: 'contacts',
    match: ['member_no', 'email'],
    properties: {
      member_no: 'item.Member',
      email: 'item.Email',
      firstname: { value: 'item.Name', write: 'if-empty' },
      last_event: { value: 'pigeonhole.name', write: 'if-newer' },
      city: 'item.City',
    },
    lists: ['1203'],
  },
  {
    from: 'attendees',
    object: 'marketing-event',
    event: { name: 'pigeonhole.name', organizer: '"ACME"' },
    attendance: 'item.signInTime ? "attend" : "register"',
    joinedAt: 'item.signInTime',
    email: 'item.Email',
    ...guest,
  },
  {
    from: 'qna-questions',
    object: 'notes',
    email: 'attendee.Email',
    properties: { hs_note_body: 'item.content' },
    ...guest,
  },
  {
    from: 'poll-mcq-votes',
    object: 'vote',
    match: ['vote_id'],
    email: 'attendee.Email',
    properties: { vote_id: '$string(item.id)', choice: 'item.option.content' },
    ...guest,
  },
];
const ada = { Member: '7', Email: 'ada@example.com', Name: 'Ada', City: 'London' };
const withdrawn = attendee(1, null, { removal: 'consent-withdrawn' });
const vote = (content: string, email: string | null) =>
  subjectOf(sampleChange({ list: 'poll-mcq-votes', key: '5', data: { id: 5, option: { content } } }), {
    attendee: email === null ? null : { Email: email },
  });

describe.each([
  ['v3', /^\/(crm|marketing|account-info|crm-object-schemas)\/v[34]\/|^\/oauth\/v2\//],
  ['2026-03', /\/2026-03\/|^\/oauth\/v2\//],
  ['2026-09', /\/2026-09\/|^\/oauth\/v2\//],
] as const)('API version %s', (apiVersion, address) => {
  let desk: Desk;
  beforeEach(async () => {
    desk = await Desk.open(records, {
      apiVersion,
      contactProperties: [property('member_no', { hasUniqueValue: true }), property('last_event')],
      customObjects: [
        { name: 'vote', properties: [property('vote_id', { hasUniqueValue: true }), property('choice')] },
      ],
      lists: [{ listId: '1203' }],
    });
  });
  afterEach(async () => {
    const { requests } = desk.hubspot;
    await desk.close();
    // A service key can read neither the account details nor the scopes of a private app.
    const ownCalls = requests.filter(({ path }) => !path.includes('account-info') && !path.includes('/oauth/'));
    expect(ownCalls.filter(({ status = 0 }) => status >= 400)).toEqual([]);
    expect(requests.filter(({ path }) => !address.test(path))).toEqual([]);
  });
  const members = () => desk.account.lists.get('1203')!.members.size;

  it('creates contacts, finds existing ones, and updates both', async () => {
    desk.createContact({ email: 'bob@example.com', firstname: 'Robert', city: 'Rome' });
    const bob = { ...ada, Member: '8', Email: 'bob@example.com', Name: 'Bob', City: 'Oslo' };
    expect(kinds(await desk.deliver([attendee(1, ada), attendee(2, bob)]))).toEqual(['delivered', 'delivered']);
    expect(desk.valuesOf('contacts')).toEqual([
      { email: 'bob@example.com', firstname: 'Robert', city: 'Oslo', member_no: '8', last_event: 'Autumn' },
      { email: 'ada@example.com', firstname: 'Ada', city: 'London', member_no: '7', last_event: 'Autumn' },
    ]);
    expect(members()).toBe(2);
    expect(kinds(await desk.deliver([attendee(1, { ...ada, City: 'Bath' })]))).toEqual(['delivered']);
    expect(desk.valuesOf('contacts')[1]).toMatchObject({ firstname: 'Ada', city: 'Bath' });
    expect(desk.contacts).toHaveLength(2);
  });

  it('registers people for a marketing event, and records attendance', async () => {
    await desk.deliver([attendee(1, ada), attendee(2, { ...ada, Member: '8', Email: 'bob@example.com' })]);
    await desk.deliver([attendee(1, { ...ada, signInTime: '2026-11-21T09:00:00Z' })]);
    expect(desk.participations).toEqual(['ATTENDED', 'REGISTERED']);
    expect(desk.account.marketingEvents.all().map(({ fields }) => fields.eventName)).toEqual(['Autumn']);
  });

  it('writes, finds, edits and removes notes', async () => {
    desk.hubspot.faults.add({ path: 'notes/batch/create', effect: { kind: 'dropAfter' } });
    expect(kinds(await desk.deliver([question(9001)]))).toEqual(['unknown']);
    expect(kinds(await desk.deliver([question(9001)], 'recover'))).toEqual(['unsent']);
    expect(kinds(await desk.deliver([question(9002)], 'recover'))).toEqual(['unsent']); // never sent, and not found
    await desk.deliver([question(9001, { content: 'Where?' })]);
    expect(desk.valuesOf('notes')).toMatchObject([{ hs_note_body: expect.stringContaining('Where?') }]);
    expect(desk.account.associations.all()).toMatchObject([{ fromType: 'notes', toId: desk.contacts[0]!.id }]);
    await desk.deliver([question(9001, null)]);
    expect(desk.valuesOf('notes')).toEqual([]);
  });

  it('associates records of a custom object, and removes the association of an anonymous person', async () => {
    await desk.deliver([vote('Yes', 'ada@example.com')]);
    expect(desk.account.associations.all()).toMatchObject([{ fromType: 'vote', toId: desk.contacts[0]!.id }]);
    await desk.deliver([vote('No', null)]);
    expect(desk.valuesOf('vote')).toEqual([{ vote_id: '5', choice: 'No' }]);
    expect(desk.account.associations.all()).toEqual([]);
  });

  it.each([
    ['clear-our-fields', [{}]],
    ['delete', []],
  ] as const)('forgets a person: %s', async (onForget, left) => {
    const forgetful = desk.another(records, { apiVersion, environment: { onForget } });
    await forgetful.deliver([attendee(1, ada)]);
    expect([members(), desk.participations]).toEqual([1, ['REGISTERED']]);
    expect(kinds(await forgetful.deliver([withdrawn]))).toEqual(['delivered']);
    await forgetful.sink.close();
    expect(desk.valuesOf('contacts')).toEqual(left);
    expect(desk.participations).toEqual(['CANCELLED']);
  });

  it('passes the check without a finding', async () => {
    expect((await desk.check()).failing).toEqual([]);
  });
});
