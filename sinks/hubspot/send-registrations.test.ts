import { ALL_SCOPES } from '../../sandbox/hubspot/account.js';
import { attendee, Desk, type DeskOptions, kinds, people, pigeonhole } from './desk.test-kit.js';

const registration = {
  from: 'attendees',
  object: 'marketing-event',
  event: { name: 'pigeonhole.name', organizer: '"ACME"' },
  attendance: 'item.signInTime ? "attend" : "register"',
  email: 'item.Email',
  contactProperties: { firstname: 'item.Name' },
};

let desk: Desk;
afterEach(async () => desk.close());

async function open(records: readonly object[], options: DeskOptions = {}): Promise<void> {
  desk = await Desk.open(records, options);
}

const ada = { Email: 'ada@example.com', Name: 'Ada' };
const came = attendee(1, { ...ada, signInTime: '2026-11-21T09:00:00Z' });

describe('a marketing event', () => {
  const events = () => desk.account.marketingEvents.all();

  it('is written once, with registrations and attendance', async () => {
    await open([registration]);
    await desk.deliver([
      attendee(1, { ...ada, Email: 'Ada@example.com' }),
      attendee(2, { ...ada, Email: 'bob@example.com' }),
    ]);
    expect(desk.participations).toEqual(['REGISTERED', 'REGISTERED']);
    await desk.deliver([came]);
    expect(desk.paths('events/upsert')).toHaveLength(1);
    expect(events()).toMatchObject([
      {
        externalAccountId: 'pigeonpost-acme',
        externalEventId: '101',
        fields: { eventName: 'Autumn', eventOrganizer: 'ACME' },
      },
    ]);
    expect(desk.participations).toEqual(['ATTENDED', 'REGISTERED']);
    expect(desk.valuesOf('contacts').map(({ email }) => email)).toEqual(['ada@example.com', 'bob@example.com']);
    expect(await desk.deliver([came])).toEqual([{ kind: 'nothing', reason: 'unchanged' }]);
  });

  it('cancels the registration by id, without the e-mail address, if the person withdraws consent', async () => {
    await open([registration]);
    await desk.deliver([attendee(1, ada)]);
    await desk.deliver([attendee(1, null, { removal: 'consent-withdrawn' })]);
    expect(desk.participations).toEqual(['CANCELLED']);
    const cancelling = desk.hubspot.requests.filter(({ path }) => path.includes('/cancel/'));
    expect(cancelling).toHaveLength(1);
    expect(cancelling[0]!.body).not.toContain('@');
    expect(await desk.deliver([attendee(1, null)])).toEqual([{ kind: 'nothing', reason: 'kept' }]);
  });

  it('is created again by the next attempt if it was removed in HubSpot', async () => {
    await open([registration]);
    await desk.deliver([attendee(1, ada)]);
    desk.account.marketingEvents.remove(events()[0]!);
    expect(kinds(await desk.deliver([came]))).toEqual(['retry']);
    expect(kinds(await desk.deliver([came]))).toEqual(['delivered']);
    expect(desk.participations).toEqual(['ATTENDED']);
  });

  it('that was removed is detected with one request for all registrations', async () => {
    await open([registration]);
    await desk.deliver([attendee(1, ada)]);
    desk.account.marketingEvents.remove(events()[0]!);
    expect(new Set(kinds(await desk.deliver(people(50).slice(2))))).toEqual(new Set(['retry']));
    expect(desk.paths('/attendance/')).toHaveLength(2);
  });
});

describe('a registration beside its contact', () => {
  const contact = {
    from: 'attendees',
    object: 'contacts',
    match: ['email'],
    properties: { email: 'item.Email', firstname: 'item.Name' },
  };
  const attending = () => {
    const { marketingEvents } = desk.account;
    return marketingEvents
      .participationsOf(marketingEvents.all()[0]!)
      .map(({ contactId, state }) => [contactId, state]);
  };

  it('is that of the contact which the same attempt creates for one that was deleted in HubSpot', async () => {
    await open([contact, registration]);
    await desk.deliver([attendee(1, ada)]);
    const [deleted] = desk.contacts;
    desk.account.portal.archive(deleted!);
    expect(kinds(await desk.deliver([came]))).toEqual(['delivered']);
    expect(attending()).toContainEqual([desk.contacts[0]!.id, 'ATTENDED']);
    expect(desk.contacts[0]!.id).not.toBe(deleted!.id);
  });

  it('is cancelled for the contact that was registered', async () => {
    await open([contact, { ...registration, attendance: 'item.signInTime ? "register" : "cancel"' }]);
    await desk.deliver([came]);
    desk.account.portal.archive(desk.contacts[0]!);
    expect(kinds(await desk.deliver([attendee(1, ada)]))).toEqual(['delivered']);
    expect(desk.contacts).toHaveLength(1);
    expect(attending().filter(([id]) => id === desk.contacts[0]!.id)).toEqual([]);
  });
});

describe('a marketing event that another app created', () => {
  const tokens = { 'old-app': ALL_SCOPES, 'hubspot-token': ALL_SCOPES };
  const eventsOf = () => desk.account.marketingEvents.all();

  /** Registers Ada as a private app did, and continues with the state of that app under a service key. */
  async function registerByOldApp(): Promise<void> {
    await open([registration], { tokens });
    const old = desk.another([registration], { token: 'old-app' });
    await old.deliver([attendee(1, ada)]);
    desk.takeOver(old);
    await old.sink.close();
  }

  it('is kept, and people are registered for it by its objectId', async () => {
    await registerByOldApp();
    await desk.deliver([attendee(2, { Email: 'bob@example.com', Name: 'Bob' })]);
    expect(eventsOf()).toHaveLength(1);
    expect(desk.participations).toEqual(['REGISTERED', 'REGISTERED']);
    expect(desk.paths().filter((path) => path.includes('externalAccountId'))).toEqual([]);
  });

  it('is found by an account-wide look-up if the lane does not know it', async () => {
    await registerByOldApp();
    desk.forgetEvent();
    await desk.deliver([attendee(2, { Email: 'bob@example.com', Name: 'Bob' })]);
    expect(eventsOf()).toHaveLength(1);
    expect(desk.participations).toEqual(['REGISTERED', 'REGISTERED']);
  });

  it('cancels the registration of a person who withdraws consent', async () => {
    await registerByOldApp();
    desk.forgetEvent();
    expect(await desk.deliver([attendee(1, null, { removal: 'consent-withdrawn' })])).toMatchObject([
      { cause: 'hubspot:forget-by-hand', object: { 'marketing-event': { attendance: 'cancel' } } },
    ]);
    expect(desk.participations).toEqual(['CANCELLED']);
  });

  it('is updated and not created again if its name changes', async () => {
    await registerByOldApp();
    const renamed = { pigeonhole: { ...pigeonhole, name: 'Winter' } };
    await desk.deliver([attendee(1, { ...ada, signInTime: '2026-11-21T09:00:00Z' }, renamed)]);
    expect(eventsOf().map(({ fields }) => fields.eventName)).toEqual(['Winter']);
    expect(desk.participations).toEqual(['ATTENDED']);
  });
});

describe('a 404 on cancel', () => {
  const withdrawn = attendee(1, null, { removal: 'deleted' });
  const hide = () =>
    desk.hubspot.faults.add({
      path: '/cancel/',
      times: 99,
      effect: { kind: 'answer', answer: { status: 404, json: { category: 'OBJECT_NOT_FOUND' } } },
    });

  it('does not count as success while the event and the contact exist', async () => {
    await open([registration]);
    await desk.deliver([attendee(1, ada)]);
    hide();
    expect(await desk.deliver([withdrawn])).toMatchObject([
      {
        kind: 'rejected',
        cause: 'hubspot:cancel-not-confirmed',
        detail: expect.stringContaining('Cancel it by hand') as string,
      },
    ]);
    expect(desk.objectOf(withdrawn)).toHaveProperty('marketing-event');
    desk.hubspot.faults.clear();
    expect(await desk.deliver([withdrawn])).toMatchObject([{ kind: 'delivered' }]);
    expect(desk.participations).toEqual(['CANCELLED']);
  });

  it('counts as success if HubSpot lists the events of the account without this one', async () => {
    await open([registration]);
    await desk.deliver([attendee(1, ada)]);
    desk.account.marketingEvents.remove(desk.account.marketingEvents.all()[0]!);
    expect(await desk.deliver([withdrawn])).toMatchObject([
      { kind: 'delivered', detail: expect.stringContaining('nothing is left to be cancelled') as string },
    ]);
    expect(desk.objectOf(withdrawn)).not.toHaveProperty('marketing-event');
  });

  it('counts as success if HubSpot returns no such contact', async () => {
    await open([registration]);
    await desk.deliver([attendee(1, ada)]);
    desk.account.portal.erase(desk.contacts[0]!);
    expect(await desk.deliver([withdrawn])).toMatchObject([{ kind: 'delivered' }]);
    expect(desk.objectOf(withdrawn)).not.toHaveProperty('marketing-event');
  });
});

describe('attendance', () => {
  it('contains when the person joined and left, only with attend', async () => {
    await open([{ ...registration, joinedAt: 'item.signInTime', leftAt: 'item.left' }]);
    await desk.deliver([attendee(1, ada)]);
    await desk.deliver([attendee(1, { ...ada, signInTime: '2026-11-21T10:00:00+01:00' })]);
    const left = { ...ada, signInTime: '2026-11-21T10:00:00+01:00', left: '2026-11-21T11:30:00Z' };
    await desk.deliver([attendee(1, left)]);
    const [event] = desk.account.marketingEvents.all();
    expect(desk.account.marketingEvents.participationsOf(event!).map(({ properties }) => properties)).toEqual([
      { joinedAt: '2026-11-21T09:00:00.000Z', leftAt: '2026-11-21T11:30:00.000Z' },
    ]);
    expect(JSON.stringify(desk.objectOf(attendee(1, ada)))).not.toContain('2026');
    expect(await desk.deliver([attendee(1, left)])).toEqual([{ kind: 'nothing', reason: 'unchanged' }]);
  });

  it('is rejected if HubSpot reports an error for its event with HTTP 200', async () => {
    await open([registration]);
    const error = { category: 'VALIDATION_ERROR', errors: [{ code: 'INVALID_OPTION' }] };
    desk.hubspot.faults.add({
      path: 'events/upsert',
      effect: { kind: 'answer', answer: { status: 200, json: { status: 'COMPLETE', results: [], errors: [error] } } },
    });
    expect(await desk.deliver([attendee(1, ada)])).toMatchObject([
      { kind: 'rejected', cause: 'hubspot:marketing-event:INVALID_OPTION' },
    ]);
  });
});
