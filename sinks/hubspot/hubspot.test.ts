import { subjectOf } from '../plan-of.test-kit.js';
import { sampleChange } from '../sample-change.test-kit.js';
import type { Subject } from '../sink.js';
import { Desk, type DeskOptions } from './fake-account.test-kit.js';

let desk: Desk;
afterEach(async () => desk.close());

const contacts = {
  from: 'attendees',
  object: 'contacts',
  match: ['email'],
  properties: { email: 'item.Email', firstname: 'item.Name' },
};

async function openDesk(records: readonly object[], options: DeskOptions = {}): Promise<Desk> {
  desk = await Desk.open(records, options);
  return desk;
}

function attendee(key: number, data: Record<string, unknown> | null, around: Partial<Subject> = {}): Subject {
  return subjectOf(
    sampleChange({ id: `change-${key}`, list: 'attendees', key: String(key), type: 'attendees.updated', data }),
    around,
  );
}

const people = (count: number): Subject[] =>
  Array.from({ length: count }, (_, n) => attendee(n, { Email: `P${n}@Example.com`, Name: `P${n}` }));

const kinds = (outcomes: readonly { kind: string }[]): string[] => outcomes.map(({ kind }) => kind);

/** A whole call that is refused because of one of its records. */
const invalidEmail = (bad: string) => ({
  status: 400,
  body: {
    status: 'error',
    message: `Property values were not valid: [{"isValid":false,"message":"Email address ${bad} is invalid","error":"INVALID_EMAIL","name":"email"}]`,
    correlationId: 'aeb5f871-7f07-4993-9211-075dc63e7cbf',
    category: 'VALIDATION_ERROR',
  },
});

describe('contacts', () => {
  it('are made by one upsert of a hundred, with e-mails in lower case', async () => {
    const { account } = await openDesk([contacts]);
    expect(kinds(await desk.deliver(people(100)))).toEqual(people(100).map(() => 'delivered'));
    expect(account.calls('/batch/').map(({ path }) => path)).toEqual(['/crm/objects/2026-09/contacts/batch/upsert']);
    expect([...account.of('contacts').values()].map(({ properties }) => properties.email)).toContain('p7@example.com');
    expect(account.of('contacts').size).toBe(100);
  });

  it.each([
    ['2026-03', '/crm/objects/2026-03/contacts/batch/upsert'],
    ['v3', '/crm/v3/objects/contacts/batch/upsert'],
  ])('are written by the paths of version %s where it is named', async (apiVersion, path) => {
    const { account } = await openDesk([contacts], { apiVersion });
    await desk.deliver(people(1));
    expect(account.calls('/batch/')[0]?.path).toBe(path);
  });

  it('follow a changed e-mail by their id, and are never created again', async () => {
    const { account } = await openDesk([contacts]);
    await desk.deliver([attendee(1, { Email: 'ada@example.com', Name: 'Ada' })]);
    await desk.deliver([attendee(1, { Email: 'countess@example.com', Name: 'Ada' })]);
    expect([...account.of('contacts').values()].map(({ properties }) => properties)).toEqual([
      { email: 'countess@example.com', firstname: 'Ada' },
    ]);
  });

  it('that two attendees turn out to be are written once, for both', async () => {
    const { account } = await openDesk([contacts]);
    const outcomes = await desk.deliver([
      attendee(1, { Email: 'ada@example.com', Name: 'Ada' }),
      attendee(2, { Email: 'ADA@example.com', Name: 'Ada L.' }),
    ]);
    expect(kinds(outcomes)).toEqual(['delivered', 'delivered']);
    expect(account.calls('/batch/')).toHaveLength(1);
    expect([...account.of('contacts').values()].map(({ properties }) => properties.firstname)).toEqual(['Ada L.']);
    const ids = [1, 2].map((key) => desk.objectOf(attendee(key, {})));
    expect(ids[0]).toMatchObject({ contacts: { id: '101' } });
    expect(ids[1]).toMatchObject({ contacts: { id: '101' } });
  });

  it.each(['upsert', 'update'])(
    'that two attendees are, of whom one is refused, take what the other says: by %s',
    async (call) => {
      const { account } = await openDesk([contacts]);
      if (call === 'update') {
        await desk.deliver([1, 2].map((key) => attendee(key, { Email: 'ada@example.com', Name: 'A' })));
      }
      account.script = ({ body }) => (JSON.stringify(body).includes('refused') ? invalidEmail('ada') : undefined);
      const outcomes = await desk.deliver([
        attendee(1, { Email: 'ada@example.com', Name: 'Ada' }),
        attendee(2, { Email: 'ada@example.com', Name: 'refused' }),
      ]);
      expect(kinds(outcomes)).toEqual(['delivered', 'rejected']);
      expect([...account.of('contacts').values()].map(({ properties }) => properties.firstname)).toEqual(['Ada']);
    },
  );

  it('of which one is refused are made all the same, in at most 15 requests, and it is named by code and property', async () => {
    const { account } = await openDesk([contacts]);
    account.script = ({ body }) =>
      JSON.stringify(body).includes('p42@example.com') ? invalidEmail('p42@example.com') : undefined;
    const outcomes = await desk.deliver(people(100));
    expect(kinds(outcomes).filter((kind) => kind === 'delivered')).toHaveLength(99);
    expect(outcomes[42]).toEqual({
      kind: 'rejected',
      cause: 'hubspot:INVALID_EMAIL:email',
      detail: expect.stringContaining('aeb5f871-7f07-4993-9211-075dc63e7cbf') as string,
    });
    expect(JSON.stringify(outcomes)).not.toContain('p42@');
    expect(account.calls('/batch/').length).toBeLessThanOrEqual(15);
  });

  it('whose mapping names a property that does not exist are refused in one request, not in 199', async () => {
    const { account } = await openDesk([contacts]);
    account.script = ({ path }) =>
      path.includes('upsert')
        ? {
            status: 400,
            body: {
              category: 'VALIDATION_ERROR',
              errors: [{ code: 'PROPERTY_DOESNT_EXIST', context: { propertyName: ['firstname'] } }],
            },
          }
        : undefined;
    const outcomes = await desk.deliver(people(100));
    expect(new Set(outcomes.map((outcome) => 'cause' in outcome && outcome.cause))).toEqual(
      new Set(['hubspot:PROPERTY_DOESNT_EXIST:firstname']),
    );
    expect(account.calls('upsert')).toHaveLength(1);
  });

  it.each([200, 207])('have a result each in an answer of %d', async (status) => {
    const { account } = await openDesk([contacts]);
    account.script = ({ path, body }) =>
      path.includes('upsert')
        ? {
            status,
            body: {
              status: 'COMPLETE',
              results: body
                .inputs!.slice(1)
                .map((_, at) => ({ id: String(at + 1), objectWriteTraceId: String(at + 1) })),
              numErrors: 1,
              errors: [
                {
                  status: 'error',
                  category: 'CONFLICT',
                  message: 'Ada Lovelace has it already',
                  context: { objectWriteTraceId: ['0'] },
                },
              ],
            },
          }
        : undefined;
    const outcomes = await desk.deliver(people(3));
    expect(outcomes[0]).toMatchObject({ kind: 'rejected', cause: 'hubspot:CONFLICT' });
    expect(kinds(outcomes.slice(1))).toEqual(['delivered', 'delivered']);
    expect(JSON.stringify(outcomes)).not.toContain('Ada');
  });

  it('that a person has merged or deleted are found again by their match', async () => {
    const { account } = await openDesk([contacts]);
    await desk.deliver([attendee(1, { Email: 'ada@example.com', Name: 'Ada' })]);
    account.of('contacts').clear();
    const kept = account.put('contacts', { email: 'ada@example.com', firstname: 'A.' });
    expect(kinds(await desk.deliver([attendee(1, { Email: 'ada@example.com', Name: 'Ada' })]))).toEqual(['delivered']);
    expect(account.of('contacts').size).toBe(1);
    expect(kept.properties.firstname).toBe('Ada');
  });

  it('are found by the first property that finds one, and made by the first that has a value', async () => {
    const { account } = await openDesk([
      {
        ...contacts,
        match: ['member_no', 'email'],
        properties: { member_no: 'item.Member', email: 'item.Email', firstname: 'item.Name' },
      },
    ]);
    const byNumber = account.put('contacts', { member_no: '7', email: 'old@example.com' });
    const byEmail = account.put('contacts', { email: 'bob@example.com' });
    await desk.deliver([
      attendee(1, { Member: '7', Email: 'ada@example.com', Name: 'Ada' }),
      attendee(2, { Member: '8', Email: 'bob@example.com', Name: 'Bob' }),
      attendee(3, { Member: '9', Email: 'eve@example.com', Name: 'Eve' }),
    ]);
    expect(byNumber.properties).toEqual({ member_no: '7', email: 'ada@example.com', firstname: 'Ada' });
    expect(byEmail.properties).toEqual({ member_no: '8', email: 'bob@example.com', firstname: 'Bob' });
    expect(account.of('contacts').size).toBe(3);
  });

  it('are updated and never made where create is false', async () => {
    const { account } = await openDesk([{ ...contacts, create: false }]);
    const bob = account.put('contacts', { email: 'bob@example.com' });
    const outcomes = await desk.deliver([
      attendee(1, { Email: 'ada@example.com', Name: 'Ada' }),
      attendee(2, { Email: 'bob@example.com', Name: 'Bob' }),
    ]);
    expect(outcomes[0]).toEqual({
      kind: 'delivered',
      detail: 'no contacts record matches, and none is to be created',
    });
    expect(outcomes[1]).toMatchObject({ kind: 'delivered', object: { contacts: { id: bob.id } } });
    expect(account.of('contacts').size).toBe(1);
  });

  it('are filled where they are empty, and keep what is newer', async () => {
    const { account } = await openDesk([
      {
        ...contacts,
        properties: {
          email: 'item.Email',
          firstname: { value: 'item.Name', write: 'if-empty' },
          last_event: { value: 'pigeonhole.name', write: 'if-newer' },
        },
      },
    ]);
    const changedAtMs = Date.parse('2026-06-01T00:00:00Z');
    const ada = account.put(
      'contacts',
      { email: 'ada@example.com', firstname: 'Countess', last_event: 'X' },
      changedAtMs,
    );
    const at = (key: number, name: string, startDate: string) =>
      attendee(key, { Email: 'ada@example.com', Name: 'Ada' }, { pigeonhole: { name, startDate } });
    await desk.deliver([at(1, 'Spring', '2026-05-01')]);
    expect(ada.properties).toMatchObject({ firstname: 'Countess', last_event: 'X' });
    await desk.deliver([at(2, 'Autumn', '2026-11-01')]);
    expect(ada.properties.last_event).toBe('Autumn');
    // Written just now, for an event before this one: history is imported in any order.
    await desk.deliver([at(3, 'Winter', '2026-11-20')]);
    await desk.deliver([at(4, 'Summer', '2026-08-01')]);
    expect(ada.properties.last_event).toBe('Winter');
  });

  it('are compared by what each value tells of, also when another process wrote it', async () => {
    const properties = { email: 'item.Email', last_event: { value: 'pigeonhole.name', write: 'if-newer' } };
    const { account } = await openDesk([{ ...contacts, properties }]);
    const at = (key: number, name: string, startDate: string) =>
      attendee(key, { Email: 'ada@example.com' }, { pigeonhole: { name, startDate } });
    const shown = () => [...account.of('contacts').values()].map((contact) => contact.properties.last_event);
    await desk.deliver([at(1, 'Spring', '2026-05-01')]); // written now, of an event of May
    account.nowMs += 60_000;
    await desk.restart();
    await desk.deliver([at(2, 'Autumn', '2026-11-01')]);
    expect(shown()).toEqual(['Autumn']);
    account.nowMs += 60_000;
    await desk.restart();
    await desk.deliver([at(3, 'Summer', '2026-08-01')]);
    expect(shown()).toEqual(['Autumn']);
  });

  it('keep what the item says no more, and lose what the mapping clears', async () => {
    const { account } = await openDesk([
      { ...contacts, properties: { ...contacts.properties, city: 'item.City = "" ? null : item.City' } },
    ]);
    await desk.deliver([attendee(1, { Email: 'ada@example.com', Name: 'Ada', City: 'London' })]);
    await desk.deliver([attendee(1, { Email: 'ada@example.com', Name: '', City: '' })]);
    expect([...account.of('contacts').values()][0]?.properties).toEqual({
      email: 'ada@example.com',
      firstname: 'Ada',
      city: '',
    });
  });

  it('are not asked for without anything that could find them', async () => {
    const { account } = await openDesk([contacts]);
    expect(await desk.deliver([attendee(1, { Name: 'Ada' }), attendee(2, { Email: 'n/a' })])).toEqual([
      { kind: 'nothing', reason: 'no-match' },
      { kind: 'unplannable', cause: 'hubspot:INVALID_EMAIL:email', detail: expect.any(String) as string },
    ]);
    expect(account.requests.filter(({ path }) => path.includes('contacts'))).toEqual([]);
  });

  it('stay when the attendee is deleted at the source', async () => {
    const { account } = await openDesk([contacts]);
    await desk.deliver(people(1));
    expect(await desk.deliver([attendee(0, null)])).toEqual([{ kind: 'nothing', reason: 'kept' }]);
    expect(account.of('contacts').size).toBe(1);
  });
});

describe('consent that is withdrawn', () => {
  const withdrawn = (key: number) => attendee(key, null, { removal: 'consent-withdrawn' });

  it('clears what this sink wrote, and leaves what others wrote before and since', async () => {
    const { account } = await openDesk([
      { ...contacts, properties: { ...contacts.properties, city: 'item.City', jobtitle: 'item.Job' } },
    ]);
    const hourAgo = account.nowMs - 3_600_000;
    const ada = account.put('contacts', { email: 'ada@example.com', city: 'London' }, hourAgo);
    await desk.deliver([attendee(1, { Email: 'ada@example.com', Name: 'Ada', City: 'London', Job: 'Analyst' })]);
    account.nowMs += 3_600_000;
    ada.properties.jobtitle = 'Chief';
    ada.changedAtMs.jobtitle = account.nowMs;
    expect(kinds(await desk.deliver([withdrawn(1)]))).toEqual(['delivered']);
    expect(ada.properties).toEqual({ email: 'ada@example.com', firstname: '', city: 'London', jobtitle: 'Chief' });
    expect(desk.objectOf(withdrawn(1))).toBeNull();
  });

  it('clears the e-mail as well of a contact that this sink has made', async () => {
    const { account } = await openDesk([contacts]);
    await desk.deliver([attendee(1, { Email: 'ada@example.com', Name: 'Ada' })]);
    await desk.deliver([withdrawn(1)]);
    expect([...account.of('contacts').values()].map(({ properties }) => properties)).toEqual([
      { email: '', firstname: '' },
    ]);
  });

  it('removes the contact where onForget is delete', async () => {
    const { account } = await openDesk([contacts], { environment: { onForget: 'delete' } });
    await desk.deliver(people(2));
    await desk.deliver([withdrawn(1)]);
    expect([...account.of('contacts').values()].map(({ properties }) => properties.email)).toEqual(['p0@example.com']);
  });

  it('is left to a person where onForget is manual, with the id and nothing personal', async () => {
    await openDesk([contacts], { environment: { onForget: 'manual' } });
    await desk.deliver(people(2));
    const [planned] = await desk.deliver([withdrawn(1)]);
    expect(planned).toMatchObject({ kind: 'unplannable', cause: 'hubspot:forget-by-hand' });
    expect(JSON.stringify(planned)).toContain('(contacts 102)');
    expect(JSON.stringify(planned)).not.toContain('p1@example.com');
  });

  it('has nothing to do for someone who was never sent', async () => {
    await openDesk([contacts]);
    expect(await desk.deliver([withdrawn(9)])).toEqual([{ kind: 'nothing', reason: 'never-sent' }]);
  });
});

describe('marketing events', () => {
  const registration = {
    from: 'attendees',
    object: 'marketing-event',
    event: { name: 'pigeonhole.name', organizer: '"ACME"' },
    attendance: 'item.signInTime ? "attend" : "register"',
    email: 'item.Email',
  };
  const pigeonhole = { name: 'Autumn', startDate: '2026-11-20' };
  const ada = (more: object = {}) => attendee(1, { Email: 'Ada@example.com', ...more }, { pigeonhole });

  it('are written once, and hold who registered and who came', async () => {
    const { account } = await openDesk([registration]);
    await desk.deliver([ada(), attendee(2, { Email: 'bob@example.com' }, { pigeonhole })]);
    await desk.deliver([ada({ signInTime: '2026-11-21T09:00:00Z' })]);
    expect(account.calls('events/upsert')).toHaveLength(1);
    expect([...account.events.values()][0]).toMatchObject({
      eventName: 'Autumn',
      eventOrganizer: 'ACME',
      externalAccountId: 'pigeonpost-acme',
    });
    expect(account.attendances).toEqual([
      { event: '101', state: 'register', who: 'ada@example.com' },
      { event: '101', state: 'register', who: 'bob@example.com' },
      { event: '101', state: 'attend', who: 'ada@example.com' },
    ]);
    expect(await desk.deliver([ada({ signInTime: '2026-11-21T09:00:00Z', Name: 'A' })])).toEqual([
      { kind: 'nothing', reason: 'unchanged' },
    ]);
  });

  it('lose the registration when the attendee goes, by id and without the e-mail', async () => {
    const { account } = await openDesk([registration]);
    await desk.deliver([ada()]);
    await desk.deliver([attendee(1, null, { removal: 'consent-withdrawn' })]);
    expect(account.attendances.at(-1)).toEqual({ event: '101', state: 'cancel', who: 'ada@example.com' });
    expect(JSON.stringify(account.calls('/cancel/')[0]?.body)).not.toContain('@');
    expect(await desk.deliver([attendee(1, null)])).toEqual([{ kind: 'nothing', reason: 'kept' }]);
  });

  it('are written again with the next attempt when they were removed in HubSpot', async () => {
    const { account } = await openDesk([registration]);
    await desk.deliver([ada()]);
    account.events.clear();
    const came = ada({ signInTime: '2026-11-21T09:00:00Z' });
    expect(kinds(await desk.deliver([came]))).toEqual(['retry']);
    expect(kinds(await desk.deliver([came]))).toEqual(['delivered']);
    expect(account.attendances.at(-1)).toMatchObject({ state: 'attend' });
  });

  it('that were removed are found out by one request for all who register', async () => {
    const { account } = await openDesk([registration]);
    await desk.deliver([ada()]);
    account.events.clear();
    const others = people(50)
      .slice(2)
      .map((subject) => ({ ...subject, pigeonhole }));
    expect(new Set(kinds(await desk.deliver(others)))).toEqual(new Set(['retry']));
    expect(account.calls('/attendance/')).toHaveLength(2);
  });
});
