import { Secret } from '../../config/secret.js';
import { ALL_SCOPES, type HubSpotOptions } from '../../sandbox/hubspot/account.js';
import { type HubSpotDouble, startHubSpotDouble } from '../../sandbox/hubspot/start-hubspot-double.js';
import { subjectOf } from '../plan-of.test-kit.js';
import { sampleChange } from '../sample-change.test-kit.js';
import type { Subject } from '../sink.js';
import { Desk, type DeskOptions } from './fake-account.test-kit.js';

const registration = {
  from: 'attendees',
  object: 'marketing-event',
  event: { name: 'pigeonhole.name', organizer: '"ACME"' },
  attendance: 'item.signInTime ? "attend" : "register"',
  email: 'item.Email',
  contactProperties: { firstname: 'item.Name' },
};
const pigeonhole = { id: 101, name: 'Autumn', startDate: '2026-11-20' };

let hubspot: HubSpotDouble;
let desk: Desk;

async function open(records: readonly object[], options: HubSpotOptions & DeskOptions = {}): Promise<Desk> {
  const { tuning, environment, apiVersion, ...account } = options;
  hubspot = await startHubSpotDouble(account);
  desk = await openAgain(records, {
    ...(tuning && { tuning }),
    ...(environment && { environment }),
    ...(apiVersion && { apiVersion }),
  });
  return desk;
}

/** A sink at the same account: with another key, it is another app there. */
async function openAgain(records: readonly object[], options: DeskOptions = {}): Promise<Desk> {
  return await Desk.open(records, { token: new Secret('hubspot-token'), ...options, baseUrl: hubspot.url });
}

afterEach(async () => {
  await desk.close();
  await hubspot.close();
});

function attendee(key: number, data: Record<string, unknown> | null, around: Partial<Subject> = {}): Subject {
  const change = sampleChange({ id: `a-${key}`, list: 'attendees', key: String(key), type: 'attendees.updated', data });
  return subjectOf(change, { pigeonhole, ...around });
}

const ada = { Email: 'ada@example.com', Name: 'Ada' };
const people = () => hubspot.account.portal.all(hubspot.account.contacts);
const participations = () =>
  hubspot.account.marketingEvents
    .all()
    .flatMap((event) => hubspot.account.marketingEvents.participationsOf(event).map(({ state }) => state));
const paths = () => hubspot.requests.map(({ path }) => path);

describe('a marketing event that another app created', () => {
  const tokens = { 'old-app': ALL_SCOPES, 'hubspot-token': ALL_SCOPES };
  const eventsOf = () => hubspot.account.marketingEvents.all();

  /** Registers Ada as a private app did, and returns the state that a service key in its place starts with. */
  async function registerByOldApp(): Promise<void> {
    await open([registration], { tokens });
    const old = await openAgain([registration], { token: new Secret('old-app') });
    await old.deliver([attendee(1, ada)]);
    desk.takeOver(old);
    await old.close();
  }

  it('is kept, and people are registered for it by its objectId', async () => {
    await registerByOldApp();
    await desk.deliver([attendee(2, { Email: 'bob@example.com', Name: 'Bob' })]);
    expect(eventsOf()).toHaveLength(1);
    expect(participations()).toEqual(['REGISTERED', 'REGISTERED']);
    expect(paths().filter((path) => path.includes('externalAccountId'))).toEqual([]);
  });

  it('is found by an account-wide look-up where the ledger knows no objectId', async () => {
    await registerByOldApp();
    desk.forgetEvent();
    await desk.deliver([attendee(2, { Email: 'bob@example.com', Name: 'Bob' })]);
    expect(eventsOf()).toHaveLength(1);
    expect(participations()).toEqual(['REGISTERED', 'REGISTERED']);
  });

  it('loses the registration of a person who withdraws consent', async () => {
    await registerByOldApp();
    desk.forgetEvent();
    expect(await desk.deliver([attendee(1, null, { removal: 'consent-withdrawn' })])).toMatchObject([
      { kind: 'delivered', object: { 'marketing-event': { attendance: 'cancel' } } },
    ]);
    expect(participations()).toEqual(['CANCELLED']);
  });

  it('is changed and not created again when its name changes', async () => {
    await registerByOldApp();
    const renamed = { pigeonhole: { ...pigeonhole, name: 'Winter' } };
    await desk.deliver([attendee(1, { ...ada, signInTime: '2026-11-21T09:00:00Z' }, renamed)]);
    expect(eventsOf().map(({ fields }) => fields.eventName)).toEqual(['Winter']);
    expect(participations()).toEqual(['ATTENDED']);
  });
});

describe('a 404 on cancel', () => {
  const withdrawn = attendee(1, null, { removal: 'consent-withdrawn' });
  const hide = () =>
    hubspot.faults.add({
      path: '/cancel/',
      times: 99,
      effect: { kind: 'answer', answer: { status: 404, json: { category: 'OBJECT_NOT_FOUND' } } },
    });

  it('is not taken for done while the event and the contact are there', async () => {
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
    expect(desk.objectOf(withdrawn)).not.toBeNull();
    hubspot.faults.clear();
    expect(await desk.deliver([withdrawn])).toMatchObject([{ kind: 'delivered' }]);
    expect(participations()).toEqual(['CANCELLED']);
  });

  it('is done when HubSpot lists the events of the account without this one', async () => {
    await open([registration]);
    await desk.deliver([attendee(1, ada)]);
    hubspot.account.marketingEvents.remove(hubspot.account.marketingEvents.all()[0]!);
    expect(await desk.deliver([withdrawn])).toMatchObject([
      { kind: 'delivered', detail: expect.stringContaining('nothing is left to be cancelled') as string, object: null },
    ]);
  });

  it('is done when HubSpot reads the contacts without this one', async () => {
    await open([registration]);
    await desk.deliver([attendee(1, ada)]);
    hubspot.account.portal.erase(people()[0]!);
    expect(await desk.deliver([withdrawn])).toMatchObject([{ kind: 'delivered', object: null }]);
  });
});

describe('attendance', () => {
  it('carries when the person joined and left, with attend only', async () => {
    await open([{ ...registration, joinedAt: 'item.signInTime', leftAt: 'item.left' }]);
    await desk.deliver([attendee(1, ada)]);
    await desk.deliver([attendee(1, { ...ada, signInTime: '2026-11-21T10:00:00+01:00' })]);
    const left = { ...ada, signInTime: '2026-11-21T10:00:00+01:00', left: '2026-11-21T11:30:00Z' };
    await desk.deliver([attendee(1, left)]);
    const [event] = hubspot.account.marketingEvents.all();
    expect(hubspot.account.marketingEvents.participationsOf(event!).map(({ properties }) => properties)).toEqual([
      { joinedAt: '2026-11-21T09:00:00.000Z', leftAt: '2026-11-21T11:30:00.000Z' },
    ]);
    expect(JSON.stringify(desk.objectOf(attendee(1, ada)))).not.toContain('2026');
    expect(await desk.deliver([attendee(1, left)])).toEqual([{ kind: 'nothing', reason: 'unchanged' }]);
  });

  it('whose event HubSpot refuses inside a 200 is a dead letter', async () => {
    await open([registration]);
    const error = { category: 'VALIDATION_ERROR', errors: [{ code: 'INVALID_OPTION' }] };
    hubspot.faults.add({
      path: 'events/upsert',
      effect: { kind: 'answer', answer: { status: 200, json: { status: 'COMPLETE', results: [], errors: [error] } } },
    });
    expect(await desk.deliver([attendee(1, ada)])).toMatchObject([
      { kind: 'rejected', cause: 'hubspot:marketing-event:INVALID_OPTION' },
    ]);
  });
});
