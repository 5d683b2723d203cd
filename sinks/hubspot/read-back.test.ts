import { property } from '../../sandbox/hubspot/object-type.js';
import { ALL_SCOPES } from '../../sandbox/hubspot/account.js';
import type { Fields, Subject } from '../sink.js';
import { sampleChange } from '../sample-change.test-kit.js';
import { subjectOf } from '../plan-of.test-kit.js';
import { attendee, Desk, type DeskOptions, pigeonhole, question } from './desk.test-kit.js';

const options: DeskOptions = {
  per10s: 10_000,
  profile: 'withoutRules',
  contactProperties: [
    property('member_no', { hasUniqueValue: true }),
    property('last_event'),
    property('seats', { type: 'number' }),
    property('next_call', { type: 'date' }),
    property('topics', { fieldType: 'checkbox', options: ['a', 'b', 'c'] }),
  ],
  customObjects: [{ name: 'vote', properties: [property('vote_id', { hasUniqueValue: true }), property('choice')] }],
  lists: [{ listId: '7' }, { listId: '8' }],
  tuning: { limit: { limit: 10_000, windowMs: 10_000 } },
};

const contacts = {
  from: 'attendees',
  object: 'contacts',
  match: ['email'],
  properties: {
    email: 'item.Email',
    firstname: { value: 'item.Name', write: 'if-empty' },
    company: 'item.company',
    jobtitle: 'item.job',
    last_event: { value: 'pigeonhole.name', write: 'if-newer' },
    lifecyclestage: '"lead"',
  },
};
const registrations = {
  from: 'attendees',
  object: 'marketing-event',
  event: { name: 'pigeonhole.name', organizer: '"ACME"' },
  attendance: 'item.signInTime ? "attend" : "register"',
  email: 'item.Email',
};
const notes = {
  from: 'qna-questions',
  object: 'notes',
  email: 'attendee.Email',
  properties: { hs_note_body: 'item.content' },
};
const votes = {
  from: 'poll-mcq-votes',
  object: 'vote',
  match: ['vote_id'],
  email: 'attendee.Email',
  properties: { vote_id: '$string(item.id)', choice: 'item.choice' },
};

function person(key: number, more: Fields = {}, around: Partial<Subject> = {}): Subject {
  return attendee(key, { id: key, Email: `P${key}@Example.com`, Name: `P${key}`, company: 'Acme', ...more }, around);
}

function vote(id: number, choice: string): Subject {
  const change = sampleChange({ id: `v-${id}`, list: 'poll-mcq-votes', key: `v${id}`, data: { id, choice } });
  return subjectOf(change, { pigeonhole, attendee: { Email: 'p1@example.com' } });
}

const removed = (subject: Subject, removal: Subject['removal']): Subject => {
  return { ...subject, change: { ...subject.change, data: null }, removal };
};

let desk: Desk;
const open = async (records: readonly unknown[], more: DeskOptions = {}): Promise<void> => {
  desk = await Desk.open(records, { ...options, ...more });
};
/** Lets time pass, so that later changes are not those of the sink. */
const wait = (): void => void (desk.clock.nowMs += 60_000);
const contact = (at: number) => desk.contacts[at]!;
const edit = (at: number, values: Record<string, string>): void => desk.account.portal.update(contact(at), values);
const delivered = async (subjects: readonly Subject[]): Promise<void> => {
  for (const { kind } of await desk.deliver(subjects)) expect(kind).toBe('delivered');
  wait();
};
const repaired = async (subjects: readonly Subject[]): Promise<void> => {
  await desk.repair(subjects);
  expect(await desk.audit(subjects)).toEqual({});
};

afterEach(() => desk.close());

describe('contacts', () => {
  const people = [1, 2, 3, 4, 5].map((key) => person(key));

  it('agree after a delivery, in two calls for a hundred', async () => {
    await open([contacts]);
    const many = Array.from({ length: 100 }, (_, key) => person(key, { job: ' Analyst\r\nand more ' }));
    await delivered(many);
    const before = desk.hubspot.requests.length;
    expect(await desk.audit(many)).toEqual({});
    expect(desk.hubspot.requests.length - before).toBe(1);
  });

  it('that were edited differ in what the mapping writes only, with the user who did it', async () => {
    await open([contacts]);
    await delivered(people);
    edit(0, { company: 'Other' });
    edit(1, { phone: '123', website: 'x' });
    edit(2, { firstname: 'Augusta', last_event: 'A later one', lifecyclestage: 'customer' });
    edit(3, { firstname: '', last_event: '' });
    const before = desk.contacts.map(({ values }) => values.get('phone'));
    expect(await desk.audit(people)).toEqual({
      '1': { names: ['contacts.company'], changedBy: 'CRM_UI 7001' },
      '4': { names: ['contacts.firstname', 'contacts.last_event'], changedBy: 'CRM_UI 7001' },
    });
    await repaired(people);
    expect(contact(2).values.get('firstname')).toBe('Augusta');
    expect(contact(2).values.get('lifecyclestage')).toBe('customer');
    expect(desk.contacts.map(({ values }) => values.get('phone'))).toEqual(before);
  });

  it('one revision behind differ', async () => {
    await open([contacts]);
    await delivered([person(1)]);
    const next = person(1, { company: 'New' });
    await delivered([next]);
    edit(0, { company: 'Acme' });
    expect(await desk.audit([next])).toMatchObject({ '1': { names: ['contacts.company'] } });
    expect(await desk.audit([person(1)])).toEqual({});
    await repaired([next]);
    expect(contact(0).values.get('company')).toBe('New');
  });

  it('that were deleted are missing, and a repair creates them again', async () => {
    await open([contacts]);
    await delivered(people);
    desk.account.portal.archive(contact(1));
    desk.account.portal.erase(contact(2));
    expect(await desk.audit(people)).toEqual({ '2': 'missing', '4': 'missing' });
    await repaired(people);
    expect(desk.contacts).toHaveLength(5);
  });

  it.each([true, false])(
    'that were merged are found under the other id (the old id redirects: %s)',
    async (redirects) => {
      await open([contacts]);
      const kept = desk.createContact({ email: 'kept@example.com', company: 'Acme', firstname: 'Kept' });
      await delivered(people);
      desk.account.mergeContacts(kept, contact(1), redirects);
      desk.account.mergeContacts(kept, contact(1), redirects);
      const found = await desk.audit(people);
      if (redirects) {
        const names = ['contacts.id', 'contacts.last_event', 'contacts.lifecyclestage'];
        expect(found).toMatchObject({ '1': { names }, '2': { names } });
      } else expect(found).toEqual({ '1': 'missing', '2': 'missing' });
      await repaired(people);
      expect(kept.values.get('email')).toBe('kept@example.com');
      expect(desk.contacts).toHaveLength(4);
      // A later change does not replace the address that people see.
      await delivered([person(1, { company: 'Later' })]);
      await delivered([person(1, { company: 'Still later' })]);
      expect(kept.values.get('email')).toBe('kept@example.com');
      expect(kept.values.get('company')).toBe('Still later');
    },
  );

  it('that two items share have the values of the later one, which is no difference', async () => {
    await open([{ ...contacts, match: ['member_no'], properties: { member_no: 'item.no', company: 'item.company' } }]);
    const [one, two] = [person(1, { no: '7', company: 'One' }), person(2, { no: '7', company: 'Two' })];
    await delivered([one, two]);
    expect(await desk.audit([one])).toEqual({});
    expect(await desk.audit([two])).toEqual({});
    await delivered([one]);
    expect(await desk.audit([one, two])).toEqual({});
    edit(0, { company: 'Three' });
    expect(await desk.audit([one, two])).toMatchObject({ '1': { names: ['contacts.company'] } });
    await repaired([one, two]);
    expect(contact(0).values.get('company')).toBe('One');
  });

  it('have values in the forms that HubSpot stores', async () => {
    const properties = {
      email: 'item.Email',
      seats: '"5.0"',
      next_call: '"1795305600000"',
      topics: '"b;a"',
      phone: '"030 1234567"',
    };
    await open([{ ...contacts, properties }]);
    await delivered([person(1)]);
    edit(0, { seats: '5', topics: 'a;b' });
    expect(await desk.audit([person(1)])).toEqual({});
    edit(0, { seats: '6', topics: 'a;b;c' });
    expect(await desk.audit([person(1)])).toMatchObject({ '1': { names: ['contacts.seats', 'contacts.topics'] } });
  });

  it('cannot be read without the scope, or if a property was renamed', async () => {
    await open([contacts]);
    await delivered(people);
    const { properties } = desk.account.contacts;
    const company = properties.get('company')!;
    properties.delete('company');
    expect(await desk.audit([people[0]!])).toEqual({ '1': 'hubspot:PROPERTY_DOESNT_EXIST:company' });
    properties.set('company', company);
    desk.account.tokens.set('hubspot-token', []);
    expect(await desk.audit([people[0]!])).toEqual({ '1': 'hubspot:not-readable' });
  });

  it('leave lists that the mapping names', async () => {
    await open([{ ...contacts, lists: ['"7"'] }]);
    await delivered(people);
    desk.account.lists.get('7')!.members.delete(contact(0).id);
    desk.account.lists.get('8')!.members.add(contact(1).id);
    expect(await desk.audit(people)).toEqual({ '1': { names: ['contacts.list 7'] } });
    await repaired(people);
    expect(desk.account.lists.get('8')!.members.size).toBe(1);
  });

  it.each(['clear-our-fields', 'delete', 'manual'] as const)(
    'of an erased person are extra while they have our values (onForget: %s)',
    async (onForget) => {
      await open([contacts], { environment: { onForget } });
      await delivered(people);
      const erased = removed(people[0]!, 'erased');
      const found = await desk.audit([erased, removed(people[1]!, 'deleted')]);
      expect(found).toEqual({ '1': { names: [onForget === 'manual' ? 'extra' : 'contacts'] } });
      if (onForget === 'manual') desk.account.portal.archive(contact(0));
      else await desk.repair([erased]);
      expect(await desk.audit([erased])).toEqual({});
      expect(desk.contacts).toHaveLength(onForget === 'clear-our-fields' ? 5 : 4);
    },
  );
});

describe('registrations', () => {
  const people = Array.from({ length: 12 }, (_, key) =>
    person(key, key % 2 === 0 ? { signInTime: '2026-11-21T08:00:00Z' } : {}),
  );

  it('that were cancelled, deleted or never recorded differ; others, and the no-shows of HubSpot, agree', async () => {
    await open([contacts, registrations]);
    await delivered(people);
    const before = desk.hubspot.requests.length;
    expect(await desk.audit(people)).toEqual({});
    expect(desk.hubspot.requests.length - before).toBe(2);
    const { marketingEvents } = desk.account;
    const [event] = marketingEvents.all();
    const idOf = (key: number): string =>
      desk.contacts.find(({ values }) => values.get('email') === `p${key}@example.com`)!.id;
    marketingEvents.record(event!, idOf(0), 'CANCELLED', desk.clock.nowMs);
    marketingEvents.record(event!, idOf(1), 'CANCELLED', desk.clock.nowMs);
    marketingEvents.record(event!, idOf(3), 'ATTENDED', desk.clock.nowMs);
    const names = ['marketing-event.attendance'];
    expect(await desk.audit(people)).toEqual({ '0': { names }, '1': { names } });
    await repaired(people);
    marketingEvents.remove(event!);
    expect(Object.keys(await desk.audit(people))).toHaveLength(12);
    await repaired(people);
  });

  it('of a merged contact are found at the other one', async () => {
    await open([registrations]);
    const one = person(1);
    await delivered([one]);
    const kept = desk.createContact({ email: 'kept@example.com' });
    desk.account.mergeContacts(kept, contact(0));
    expect(await desk.audit([one])).toEqual({});
  });

  it('of a merged contact are sent for the other one in a repair', async () => {
    await open([contacts, registrations]);
    const one = person(1);
    await delivered([one]);
    const kept = desk.createContact({ email: 'kept@example.com', company: 'Other' });
    desk.account.mergeContacts(kept, contact(0));
    expect(await desk.audit([one])).toMatchObject({ '1': { names: expect.arrayContaining(['contacts.id']) } });
    await repaired([one]);
    expect(desk.objectOf(one)).toMatchObject({ 'marketing-event': { contactId: kept.id } });
  });

  it('of an erased person are extra until they are cancelled', async () => {
    await open([registrations]);
    const one = person(1);
    await delivered([one]);
    const erased = removed(one, 'erased');
    expect(await desk.audit([erased])).toEqual({ '1': { names: ['marketing-event'] } });
    await desk.repair([erased]);
    expect(desk.participations).toEqual(['CANCELLED']);
  });

  it('cannot be read without the scope', async () => {
    await open([registrations], {
      tokens: { 'hubspot-token': ALL_SCOPES },
    });
    await delivered([person(1)]);
    desk.account.tokens.set(
      'hubspot-token',
      ALL_SCOPES.filter((scope) => scope !== 'crm.objects.marketing_events.read'),
    );
    expect(await desk.audit([person(1)])).toEqual({ '1': 'hubspot:not-readable' });
  });
});

describe('notes', () => {
  const asked = [1, 2, 3, 4].map((key) => question(key, { content: `When & where <${key}>?\nToday` }));
  const note = (at: number) => desk.account.portal.all(desk.account.type('notes'))[at]!;

  it('that were edited or deleted differ, and copies by a user are found by their mark', async () => {
    await open([notes]);
    await delivered(asked);
    expect(await desk.audit(asked)).toEqual({});
    const body = note(0).values.get('hs_note_body')!;
    desk.account.portal.update(note(0), {
      hs_note_body: body.replace('<p>', '<div><b>').replace('</p>', '</b></div>'),
    });
    expect(await desk.audit(asked)).toEqual({});
    desk.account.portal.update(note(1), { hs_note_body: body.replace('When', 'Who') });
    const { associations, portal } = desk.account;
    const copy = portal.create(desk.account.type('notes'), Object.fromEntries(note(3).values));
    const other = portal.create(desk.account.type('notes'), { hs_timestamp: '0', hs_note_body: 'mine' });
    for (const { id } of [copy, other]) {
      associations.add({
        fromType: 'notes',
        fromId: id,
        toType: 'contacts',
        toId: contact(0).id,
        category: 'HUBSPOT_DEFINED',
        typeId: 202,
      });
    }
    portal.archive(note(2));
    expect(await desk.audit(asked)).toEqual({
      '2': { names: ['notes.hs_note_body'], changedBy: 'CRM_UI 7001' },
      '3': 'missing',
      '4': { copies: 1 },
    });
    await repaired(asked);
    const left = portal.all(desk.account.type('notes'));
    expect(left).toHaveLength(5);
    expect(left).toContain(other);
    expect(left).not.toContain(copy);
  });

  it('of a withdrawn question are extra until they are removed', async () => {
    await open([notes]);
    await delivered(asked);
    const gone = removed(asked[0]!, 'deleted');
    expect(await desk.audit([gone])).toEqual({ '1': { names: ['notes'] } });
    await desk.repair([gone]);
    expect(await desk.audit([gone])).toEqual({});
  });
});

describe('records of custom objects', () => {
  it('that were edited, deleted or parted from their contact differ', async () => {
    await open([votes]);
    const all = [vote(1, 'A'), vote(2, 'B'), vote(3, 'C')];
    await delivered(all);
    expect(await desk.audit(all)).toEqual({});
    const type = desk.account.type('vote');
    const [one, two, three] = desk.account.portal.all(type);
    desk.account.portal.update(one!, { choice: 'Z' });
    desk.account.associations.removeBetween('vote', two!.id, 'contacts', contact(0).id);
    desk.account.portal.archive(three!);
    expect(await desk.audit(all)).toEqual({
      v1: { names: ['vote.choice'], changedBy: 'CRM_UI 7001' },
      v2: { names: ['vote.contact'] },
      v3: 'missing',
    });
    await repaired(all);
    const kept = desk.createContact({ email: 'kept@example.com' });
    desk.account.mergeContacts(kept, contact(0));
    expect(await desk.audit(all)).toEqual({});
  });
});
