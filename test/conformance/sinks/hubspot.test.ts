import { Secret } from '../../../config/secret.js';
import { hubspotConfigSchema } from '../../../sinks/hubspot/config.js';
import { createHubSpotSink, type HubSpotTuning, hubspotSinkType } from '../../../sinks/hubspot/hubspot.js';
import { subjectOf } from '../../../sinks/plan-of.test-kit.js';
import { sampleChange } from '../../../sinks/sample-change.test-kit.js';
import type { Sink, Subject } from '../../../sinks/sink.js';
import type { HubSpotOptions } from '../../../sandbox/hubspot/account.js';
import {
  hubSpotFaults,
  type HubSpotDouble,
  startHubSpotDouble,
} from '../../../sandbox/hubspot/start-hubspot-double.js';
import { property } from '../../../sandbox/hubspot/object-type.js';
import { PERSONAL_DATA } from './generated-changes.js';
import { SteppedClock } from '../../kit/stepped-clock.js';
import { StateCourier, type StateDestination } from './state-destination.js';
import { describeStateSink } from './state-sink-conformance.js';
import { environmentOf } from '../../../sinks/sink-environment.test-kit.js';

const token = 'hubspot-token';

const records = [
  {
    from: 'attendees',
    object: 'contacts',
    match: ['engagement_id', 'email'],
    properties: {
      engagement_id: '$string(item.id)',
      email: 'item.Email',
      firstname: 'item.Name',
      lifecyclestage: '"lead"',
      last_event: { value: 'pigeonhole.name', write: 'if-newer' },
    },
  },
  {
    from: 'attendees',
    object: 'marketing-event',
    event: { name: 'pigeonhole.name', organizer: '"ACME"' },
    attendance: 'item.signInTime ? "attend" : "register"',
    email: 'item.Email',
  },
  {
    from: 'qna-questions',
    object: 'notes',
    email: 'attendee.Email',
    properties: { hs_note_body: 'item.content' },
    contactProperties: { firstname: '"Guest"' },
  },
  {
    from: 'poll-mcq-votes',
    object: 'vote',
    match: ['vote_id'],
    email: 'attendee.Email',
    properties: { vote_id: '$string(item.id)', choice: 'item.option.content' },
    contactProperties: { firstname: '"Guest"' },
  },
];

interface HubSpotDestination extends StateDestination {
  readonly double: HubSpotDouble;
  sink(tuning?: HubSpotTuning, keys?: object): Sink;
}

async function startHubSpot(options: HubSpotOptions = {}): Promise<HubSpotDestination> {
  const double = await startHubSpotDouble({
    per10s: 10_000,
    timeZone: 'US/Eastern',
    contactProperties: [property('engagement_id', { hasUniqueValue: true }), property('last_event')],
    customObjects: [{ name: 'vote', properties: [property('vote_id', { hasUniqueValue: true }), property('choice')] }],
    ...options,
  });
  const sink = (tuning: HubSpotTuning = {}, keys: object = {}): Sink => {
    const config = hubspotConfigSchema.parse({ token: new Secret(token), baseUrl: double.url, records, ...keys });
    return createHubSpotSink(config, environmentOf('crm', { requestTimeoutMs: 60_000 }), {
      limit: { limit: 10_000, windowMs: 10_000 },
      ...tuning,
    });
  };
  const { account } = double;
  return {
    double,
    sink,
    open: () => sink(),
    requests: () => double.requests.length,
    secrets: [token],
    state: () =>
      [
        ...account.types.flatMap((type) =>
          account.portal
            .all(type)
            .map(({ values }) => `${type.name} ${JSON.stringify([...values].sort(([a], [b]) => a.localeCompare(b)))}`),
        ),
        ...account.marketingEvents
          .all()
          .flatMap((event) => [
            `event ${JSON.stringify(event.fields)}`,
            ...account.marketingEvents
              .participationsOf(event)
              .map(
                ({ contactId, state }) =>
                  `${state} ${account.portal.byId(account.contacts, contactId)?.values.get('email')}`,
              ),
          ]),
        ...['notes', 'vote'].flatMap((name) =>
          account.portal
            .all(account.type(name))
            .map(({ id }) => `${name} of ${account.associations.of(name, id, 'contacts').length} contact`),
        ),
      ].sort(),
    fail: (how, requestNumber) =>
      double.faults.add({
        skip: requestNumber,
        effect:
          how === 'answer-lost'
            ? { kind: 'dropAfter' }
            : how === 'never-arrives'
              ? { kind: 'dropBefore' }
              : hubSpotFaults['badGatewayAfter']!,
      }),
    begin: (refusal) =>
      double.faults.add({
        times: 1_000,
        effect:
          refusal === 'cut'
            ? { kind: 'dropBefore' }
            : hubSpotFaults[{ auth: 'unauthorized', overload: 'migration', outage: 'serverError' }[refusal]]!,
      }),
    repair: () => double.faults.clear(),
    close: () => double.close(),
  };
}

const pigeonhole = { id: 101, name: 'Autumn', startDate: '2026-11-20' };

function attendee(id: number, fields: object): Subject {
  const change = sampleChange({
    id: `a-${id}`,
    type: 'attendees.created',
    list: 'attendees',
    key: String(id),
    data: { id, Name: PERSONAL_DATA[0], ...fields },
  });
  return subjectOf(change, { pigeonhole });
}

function done(list: string, id: number, data: object, email: string): Subject {
  const change = sampleChange({
    id: `${list}-${id}`,
    type: `${list}.created`,
    list,
    key: String(id),
    data: { id, createdAt: '2026-11-20T10:00:00Z', attendee: { id: 1, anonymous: false }, ...data },
  });
  return subjectOf(change, { attendee: { id: 1, Email: email }, pigeonhole });
}

const storyWith = (word: string): Subject[] => [
  attendee(1, { Email: PERSONAL_DATA[1], Name: `${PERSONAL_DATA[0]} ${word}` }),
  attendee(2, { Email: 'Grace@example.com', signInTime: '2026-11-20T09:00:00Z', Name: word }),
  done('qna-questions', 9001, { content: `When is ${word}?` }, PERSONAL_DATA[1]!),
  done('qna-questions', 9002, { content: `Where is ${word}?` }, 'grace@example.com'),
  done('poll-mcq-votes', 5, { option: { content: word } }, 'grace@example.com'),
];

describeStateSink('hubspot', {
  type: hubspotSinkType,
  start: startHubSpot,
  addExisting({ double: { account } }) {
    for (const email of [PERSONAL_DATA[1]!, 'grace@example.com']) {
      account.portal.create(account.contacts, { email, company: 'ACME', firstname: 'Another' });
    }
  },
  story: () => storyWith('lunch'),
  edited: () => storyWith('dinner').filter(({ change }) => change.list !== 'attendees' || change.key === '2'),
  poison: () => attendee(3, { Email: `${PERSONAL_DATA[1]}.-com` }),
  isFoundAgain: ({ change }) => change.list !== 'qna-questions', // a note can be found only by its stored id or by a look-up
  overloadAsksMs: 30_000,
});

describe('the hubspot sink with limits of the account', () => {
  let destination: HubSpotDestination;
  afterEach(() => destination.close());

  const people = (lane: number, count: number): Subject[] =>
    Array.from({ length: count }, (_, n) => attendee(lane * 1000 + n, { Email: `p${lane}-${n}@example.com` }));

  it.each(['v3', '2026-09'])(
    'writes every contact of twenty lanes without exceeding the limit (%s)',
    async (apiVersion) => {
      destination = await startHubSpot({ per10s: 15, windowMs: 250 });
      const sink = destination.sink(
        { limit: { limit: 15, windowMs: 250 } },
        { apiVersion, records: records.slice(0, 1) },
      );
      const lanes = Array.from({ length: 20 }, (_, lane) => {
        const courier = new StateCourier({ ...destination, open: () => sink });
        courier.add(people(lane, 120));
        return courier.sendAll();
      });
      await Promise.all(lanes);
      expect(destination.double.account.portal.all(destination.double.account.contacts)).toHaveLength(2400);
      expect(destination.double.requests.filter(({ status }) => status === 429)).toEqual([]);
      await sink.close();
    },
  );

  it('leaves three quarters of the limit to other programs, and is not refused', async () => {
    const windowMs = 10_000;
    const clock = new SteppedClock();
    destination = await startHubSpot({ per10s: 20, windowMs, now: clock.wallNow });
    const sink = destination.sink({ limit: { limit: 20, windowMs }, clock }, { records: records.slice(0, 1) });
    const { limits } = destination.double.account;
    let isOver = false;
    const useFromElsewhere = (): void => {
      if (isOver) return;
      limits.useFromElsewhere(15, clock.wallNow());
      clock.after(windowMs, useFromElsewhere);
    };
    useFromElsewhere();
    const courier = new StateCourier({ ...destination, open: () => sink });
    courier.add(people(1, 1000));
    await courier.sendAll();
    isOver = true;
    // If the sink ignored the use of others, it would be refused in each window.
    const refused = destination.double.requests.filter(({ status }) => status === 429);
    expect(refused.map(({ path }) => path)).toEqual([]);
    await sink.close();
    clock.close();
  });

  it('learns a limit above the minimum from the answers', async () => {
    destination = await startHubSpot({ per10s: 500, windowMs: 10_000 });
    const sink = destination.sink({ limit: { limit: 5, windowMs: 10_000 } }, { records: records.slice(0, 1) });
    const courier = new StateCourier({ ...destination, open: () => sink });
    courier.add(people(1, 1000));
    await courier.sendAll(); // with five requests in ten seconds, this would take minutes
    expect(destination.requests()).toBeGreaterThan(20);
    await sink.close();
  });
});

describe('the hubspot sink with contacts that people edit', () => {
  let destination: HubSpotDestination;
  let courier: StateCourier;
  beforeEach(async () => {
    destination = await startHubSpot();
    courier = new StateCourier(destination);
  });
  afterEach(async () => {
    await courier.close();
    await destination.close();
  });

  const contacts = () => destination.double.account.portal.all(destination.double.account.contacts);

  it.each([true, false])('finds a merged contact whether its old id redirects (%s) or not', async (redirects) => {
    const { account } = destination.double;
    const kept = account.portal.create(account.contacts, { email: 'office@example.com' });
    courier.add([attendee(1, { Email: 'ada@example.com' })]);
    await courier.sendAll();
    account.portal.merge(
      kept,
      contacts().find(({ id }) => id !== kept.id)!,
      redirects,
    );
    courier.add([attendee(1, { Email: 'ada@example.com', Name: 'Countess' })]);
    await courier.sendAll();
    expect(contacts().map(({ values }) => [values.get('email'), values.get('firstname')])).toEqual([
      ['office@example.com', 'Countess'],
    ]);
  });

  it('never moves a lifecycle stage backwards', async () => {
    const { account } = destination.double;
    const ada = account.portal.create(account.contacts, { email: 'ada@example.com', lifecyclestage: 'customer' });
    courier.add([attendee(1, { Email: 'ada@example.com' })]);
    await courier.sendAll();
    expect(ada.values.get('lifecyclestage')).toBe('customer');
    expect(ada.values.get('engagement_id')).toBe('1');
  });

  it('isolates one bad record of a hundred in at most sixteen requests if it makes the whole call fail', async () => {
    const people = Array.from({ length: 100 }, (_, n) => attendee(n, { Email: `p${n}@example.com` }));
    const byEmail = destination.sink(
      {},
      { records: [{ ...records[0]!, match: ['email'], properties: { email: 'item.Email', firstname: 'item.Name' } }] },
    );
    const other = new StateCourier({ ...destination, open: () => byEmail });
    other.add(people.map((subject, n) => (n === 61 ? attendee(n, { Email: 'p61@-example.com' }) : subject)));
    const outcomes = await other.sendOnce();
    expect(outcomes.filter(({ kind }) => kind === 'delivered')).toHaveLength(99);
    expect(outcomes[61]).toMatchObject({
      kind: 'rejected',
      cause: 'hubspot:INVALID_EMAIL:email',
      detail: expect.stringMatching(/correlation id [\w-]+/) as string,
    });
    expect(JSON.stringify(outcomes)).not.toContain('p61@');
    expect(destination.requests()).toBeLessThanOrEqual(16); // one of them requests the account's time zone
    await other.close();
  });

  it('reports the missing scope', async () => {
    const { tokens } = destination.double.account;
    tokens.set(token, ['crm.objects.contacts.read']);
    courier.add([attendee(1, { Email: 'ada@example.com' })]);
    expect(await courier.sendOnce()).toEqual([
      {
        kind: 'unsent',
        afterMs: 600_000,
        detail: expect.stringContaining('lacks the scope crm.objects.contacts.write') as string,
      },
    ]);
    const said = (await courier.check()).map(({ text }) => text);
    expect(said).toContainEqual(expect.stringContaining('crm.objects.contacts.write'));
  });
});
