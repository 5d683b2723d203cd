import { property } from '../../sandbox/hubspot/object-type.js';
import { attendee, Desk, type DeskOptions, kinds, people } from './desk.test-kit.js';

let desk: Desk;
afterEach(async () => desk.close());

const contacts = {
  from: 'attendees',
  object: 'contacts',
  match: ['email'],
  properties: { email: 'item.Email', firstname: 'item.Name' },
};

async function openDesk(records: readonly object[], options: DeskOptions = {}): Promise<Desk> {
  desk = await Desk.open(records, {
    contactProperties: [
      property('member_no', { hasUniqueValue: true }),
      property('last_event'),
      property('tier', { options: ['gold', 'silver'] }),
    ],
    ...options,
  });
  return desk;
}

const ada = { Email: 'ada@example.com', Name: 'Ada' };

describe('contacts', () => {
  it('are created by one upsert of a hundred, with e-mail addresses in lower case', async () => {
    await openDesk([contacts]);
    expect(kinds(await desk.deliver(people(100)))).toEqual(people(100).map(() => 'delivered'));
    expect(desk.paths('/batch/')).toEqual(['/crm/objects/2026-09/contacts/batch/upsert']);
    expect(desk.valuesOf('contacts').map(({ email }) => email)).toContain('p7@example.com');
    expect(desk.contacts).toHaveLength(100);
  });

  it('are updated by id when an e-mail address changes, and not created again', async () => {
    await openDesk([contacts]);
    await desk.deliver([attendee(1, ada)]);
    await desk.deliver([attendee(1, { ...ada, Email: 'countess@example.com' })]);
    expect(desk.valuesOf('contacts')).toEqual([{ email: 'countess@example.com', firstname: 'Ada' }]);
  });

  it('that belong to two attendees are written once, for both', async () => {
    await openDesk([contacts]);
    const both = [attendee(1, ada), attendee(2, { Email: 'ADA@example.com', Name: 'Ada L.' })];
    expect(kinds(await desk.deliver(both))).toEqual(['delivered', 'delivered']);
    expect(desk.paths('/batch/')).toHaveLength(1);
    expect(desk.valuesOf('contacts')).toMatchObject([{ firstname: 'Ada L.' }]);
    const { id } = desk.contacts[0]!;
    for (const each of both) expect(desk.objectOf(each)).toMatchObject({ contacts: { id } });
  });

  it.each(['upsert', 'update'])(
    'shared by two attendees of whom one is rejected get the values of the other: by %s',
    async (call) => {
      await openDesk([{ ...contacts, properties: { ...contacts.properties, tier: 'item.Tier' } }]);
      if (call === 'update') await desk.deliver([1, 2].map((key) => attendee(key, { ...ada, Name: 'A' })));
      const outcomes = await desk.deliver([attendee(1, ada), attendee(2, { ...ada, Name: 'Eve', Tier: 'tin' })]);
      expect(outcomes).toMatchObject([
        { kind: 'delivered' },
        { kind: 'rejected', cause: 'hubspot:INVALID_OPTION:tier' },
      ]);
      expect(desk.valuesOf('contacts')).toEqual([{ email: 'ada@example.com', firstname: 'Ada' }]);
    },
  );

  it('whose mapping names an unknown property are rejected with one request, not with 199', async () => {
    await openDesk([{ ...contacts, properties: { ...contacts.properties, nosuch: 'item.Name' } }]);
    const outcomes = await desk.deliver(people(100));
    expect(new Set(outcomes.map((outcome) => 'cause' in outcome && outcome.cause))).toEqual(
      new Set(['hubspot:PROPERTY_DOESNT_EXIST:nosuch']),
    );
    expect(desk.paths('upsert')).toHaveLength(1);
  });

  it.each(['in-200', 'multi-status'] as const)(
    'have one outcome each if errors are reported as %s',
    async (batchErrors) => {
      await openDesk([contacts], { batchErrors });
      await desk.deliver(people(3));
      desk.createContact({ email: 'lovelace@example.com' });
      const taken = attendee(0, { Email: 'lovelace@example.com', Name: 'P0' });
      const outcomes = await desk.deliver([taken, ...people(3).slice(1)]);
      expect(kinds(outcomes)).toEqual(['rejected', 'delivered', 'delivered']);
      expect(outcomes[0]).toMatchObject({ cause: 'hubspot:CONFLICTING_UNIQUE_VALUE:email' });
      expect(JSON.stringify(outcomes)).not.toContain('lovelace');
    },
  );

  it('that were merged or deleted are found again by their match', async () => {
    await openDesk([contacts]);
    await desk.deliver([attendee(1, ada)]);
    desk.account.portal.erase(desk.contacts[0]!);
    const kept = desk.createContact({ email: 'ada@example.com', firstname: 'A.' });
    expect(kinds(await desk.deliver([attendee(1, ada)]))).toEqual(['delivered']);
    expect(desk.contacts).toEqual([kept]);
    expect(kept.values.get('firstname')).toBe('Ada');
  });

  describe.each([
    ['found by an additional address', 'found'],
    ['merged, with an old id that redirects', 'redirected'],
    ['merged, with an old id that is gone', 'gone'],
  ])('%s', (_, how) => {
    const prepare = async (properties: object): Promise<void> => {
      await openDesk([{ ...contacts, properties }]);
      const kept = desk.createContact({ email: 'office@example.com' });
      if (how === 'found') {
        desk.account.portal.merge(kept, desk.createContact({ email: 'ada@example.com' }), false);
        await desk.deliver([attendee(1, ada)]);
      } else {
        await desk.deliver([attendee(1, ada)]);
        desk.account.portal.merge(
          kept,
          desk.contacts.find(({ id }) => id !== kept.id)!,
          how === 'redirected',
        );
      }
    };
    const seen = (): (string | undefined)[] => desk.contacts.map(({ values }) => values.get('email'));

    it('keep their primary address, whatever changes later', async () => {
      await prepare(contacts.properties);
      await desk.deliver([attendee(1, { ...ada, Name: 'Ada L.' })]);
      await desk.deliver([attendee(1, { ...ada, Name: 'Countess' })]);
      await desk.restart();
      await desk.deliver([attendee(1, { Email: 'countess@example.com', Name: 'Countess' })]);
      expect(seen()).toEqual(['office@example.com']);
      expect(desk.contacts[0]!.values.get('firstname')).toBe('Countess');
    });

    it('get the address if the mapping states "always"', async () => {
      await prepare({ ...contacts.properties, email: { value: 'item.Email', write: 'always' } });
      await desk.deliver([attendee(1, { ...ada, Name: 'Ada L.' })]);
      await desk.deliver([attendee(1, { ...ada, Name: 'Countess' })]);
      expect(seen()).toEqual(['ada@example.com']);
    });
  });

  it('are found by the first property with a match, and created by the first property with a value', async () => {
    const properties = { member_no: 'item.Member', ...contacts.properties };
    await openDesk([{ ...contacts, match: ['member_no', 'email'], properties }]);
    desk.createContact({ member_no: '7', email: 'old@example.com' });
    desk.createContact({ email: 'bob@example.com' });
    await desk.deliver([
      attendee(1, { Member: '7', ...ada }),
      attendee(2, { Member: '8', Email: 'bob@example.com', Name: 'Bob' }),
      attendee(3, { Member: '9', Email: 'eve@example.com', Name: 'Eve' }),
    ]);
    expect(desk.valuesOf('contacts')).toEqual([
      { member_no: '7', email: 'ada@example.com', firstname: 'Ada' },
      { member_no: '8', email: 'bob@example.com', firstname: 'Bob' },
      { member_no: '9', email: 'eve@example.com', firstname: 'Eve' },
    ]);
  });

  it('are updated and never created if create is false', async () => {
    await openDesk([{ ...contacts, create: false }]);
    const bob = desk.createContact({ email: 'bob@example.com' });
    const outcomes = await desk.deliver([attendee(1, ada), attendee(2, { Email: 'bob@example.com', Name: 'Bob' })]);
    expect(outcomes).toMatchObject([
      { kind: 'delivered', detail: 'no contacts record matches and "create" is false, so none was written' },
      { kind: 'delivered', object: { contacts: { id: bob.id } } },
    ]);
    expect(desk.valuesOf('contacts')).toEqual([{ email: 'bob@example.com', firstname: 'Bob' }]);
  });

  it('are filled if empty, and keep values of newer events', async () => {
    const properties = {
      email: 'item.Email',
      firstname: { value: 'item.Name', write: 'if-empty' },
      last_event: { value: 'pigeonhole.name', write: 'if-newer' },
    };
    await openDesk([{ ...contacts, properties }]);
    const { nowMs } = desk.clock;
    desk.clock.nowMs = Date.parse('2026-06-01T00:00:00Z');
    desk.createContact({ email: 'ada@example.com', firstname: 'Countess', last_event: 'X' });
    desk.clock.nowMs = nowMs;
    const after = async (key: number, name: string, startDate: string) => {
      await desk.deliver([attendee(key, ada, { pigeonhole: { name, startDate } })]);
      return desk.valuesOf('contacts')[0];
    };
    expect(await after(1, 'Spring', '2026-05-01')).toMatchObject({ firstname: 'Countess', last_event: 'X' });
    expect(await after(2, 'Autumn', '2026-11-01')).toMatchObject({ last_event: 'Autumn' });
    // Written just now, about an event before this one, because history is imported in any order.
    expect(await after(3, 'Winter', '2026-11-20')).toMatchObject({ last_event: 'Winter' });
    expect(await after(4, 'Summer', '2026-08-01')).toMatchObject({ last_event: 'Winter' });
  });

  it('compare the events of values, even if another process wrote the value', async () => {
    const properties = { ...contacts.properties, last_event: { value: 'pigeonhole.name', write: 'if-newer' } };
    await openDesk([{ ...contacts, properties }]);
    const after = async (key: number, name: string, startDate: string) => {
      await desk.deliver([attendee(key, ada, { pigeonhole: { name, startDate } })]);
      desk.clock.nowMs += 60_000;
      await desk.restart();
      return desk.valuesOf('contacts').map(({ last_event: event }) => event);
    };
    expect(await after(1, 'Spring', '2026-05-01')).toEqual(['Spring']); // written now, for an event in May
    expect(await after(2, 'Autumn', '2026-11-01')).toEqual(['Autumn']);
    expect(await after(3, 'Summer', '2026-08-01')).toEqual(['Autumn']);
  });

  it('keep values that an item no longer has, and lose values that the mapping clears', async () => {
    await openDesk([
      { ...contacts, properties: { ...contacts.properties, city: 'item.City = "" ? null : item.City' } },
    ]);
    await desk.deliver([attendee(1, { ...ada, City: 'London' })]);
    expect(desk.valuesOf('contacts')).toMatchObject([{ city: 'London' }]);
    await desk.deliver([attendee(1, { ...ada, Name: '', City: '' })]);
    expect(desk.valuesOf('contacts')).toEqual([{ email: 'ada@example.com', firstname: 'Ada' }]);
  });

  it('are not looked up without a value to match by', async () => {
    await openDesk([contacts]);
    expect(await desk.deliver([attendee(1, { Name: 'Ada' }), attendee(2, { Email: 'n/a' })])).toEqual([
      { kind: 'nothing', reason: 'no-match' },
      { kind: 'unplannable', cause: 'hubspot:INVALID_EMAIL:email', detail: expect.any(String) as string },
    ]);
    expect(desk.paths('contacts')).toEqual([]);
  });

  it('remain if the attendee is deleted in the service', async () => {
    await openDesk([contacts]);
    await desk.deliver(people(1));
    expect(await desk.deliver([attendee(0, null)])).toEqual([{ kind: 'nothing', reason: 'kept' }]);
    expect(desk.contacts).toHaveLength(1);
  });
});

describe('a withdrawal of consent', () => {
  const withdrawn = (key: number) => attendee(key, null, { removal: 'consent-withdrawn' });

  it('clears what this sink wrote, and keeps what others wrote before and afterwards', async () => {
    await openDesk([{ ...contacts, properties: { ...contacts.properties, city: 'item.City', jobtitle: 'item.Job' } }]);
    const contact = desk.createContact({ email: 'ada@example.com', city: 'London' });
    desk.clock.nowMs += 3_600_000;
    await desk.deliver([attendee(1, { ...ada, City: 'London', Job: 'Analyst' })]);
    desk.clock.nowMs += 3_600_000;
    desk.account.portal.update(contact, { jobtitle: 'Chief' });
    expect(kinds(await desk.deliver([withdrawn(1)]))).toEqual(['delivered']);
    expect(desk.valuesOf('contacts')).toEqual([{ email: 'ada@example.com', city: 'London', jobtitle: 'Chief' }]);
    expect(desk.objectOf(withdrawn(1))).toBeNull();
  });

  it('also clears the e-mail address of a contact that this sink created', async () => {
    await openDesk([contacts]);
    await desk.deliver([attendee(1, ada)]);
    await desk.deliver([withdrawn(1)]);
    expect(desk.valuesOf('contacts')).toEqual([{}]);
  });

  it('is left to an operator if the answer to the creation of the contact was lost', async () => {
    await openDesk([contacts]);
    desk.hubspot.faults.add({ effect: { kind: 'dropAfter' }, path: 'contacts/batch/upsert' });
    expect(kinds(await desk.deliver([attendee(1, ada)]))).toEqual(['retry']);
    expect(desk.valuesOf('contacts')).toMatchObject([{ email: 'ada@example.com' }]);
    expect(await desk.deliver([withdrawn(1)])).toMatchObject([
      { kind: 'unplannable', cause: 'hubspot:forget-by-hand', detail: expect.stringMatching(/search for the person$/) },
    ]);
    await desk.deliver([attendee(1, ada)]);
    expect(kinds(await desk.deliver([withdrawn(1)]))).toEqual(['delivered']);
    expect(desk.valuesOf('contacts')).toEqual([{}]);
  });

  it('is left to an operator if the contact was merged into another one', async () => {
    await openDesk([contacts]);
    await desk.deliver(people(2));
    const [gone, erased] = desk.contacts;
    const kept = desk.createContact({ email: 'king@example.com' });
    desk.account.portal.merge(kept, gone!, true);
    desk.account.portal.erase(erased!);
    const outcomes = await desk.deliver([withdrawn(0), withdrawn(1)]);
    expect(outcomes).toMatchObject([
      { kind: 'rejected', cause: 'hubspot:merged', detail: expect.stringContaining(`into ${kept.id}:`) },
      { kind: 'delivered', object: null },
    ]);
  });

  it('removes the contact if onForget is delete', async () => {
    await openDesk([contacts], { environment: { onForget: 'delete' } });
    await desk.deliver(people(2));
    await desk.deliver([withdrawn(1)]);
    expect(desk.valuesOf('contacts')).toMatchObject([{ email: 'p0@example.com' }]);
  });

  it('is left to an operator if onForget is manual, with the id and no personal data', async () => {
    await openDesk([contacts], { environment: { onForget: 'manual' } });
    await desk.deliver(people(2));
    const [planned] = await desk.deliver([withdrawn(1)]);
    expect(planned).toMatchObject({ kind: 'unplannable', cause: 'hubspot:forget-by-hand' });
    expect(JSON.stringify(planned)).toContain(`(contacts ${desk.contacts[1]!.id})`);
    expect(JSON.stringify(planned)).not.toContain('p1@example.com');
  });

  it('needs nothing for a person who was never sent', async () => {
    await openDesk([contacts]);
    expect(await desk.deliver([withdrawn(9)])).toEqual([{ kind: 'nothing', reason: 'never-sent' }]);
  });
});
