import { Secret } from '../../../config/secret.js';
import { subjectOf } from '../../../sinks/plan-of.test-kit.js';
import { salesforceConfigSchema } from '../../../sinks/salesforce/config.js';
import { createSalesforceSink, salesforceSinkType } from '../../../sinks/salesforce/salesforce.js';
import { sampleChange } from '../../../sinks/sample-change.test-kit.js';
import type { Fields, Outcome, Sink, SinkEnvironment, Subject } from '../../../sinks/sink.js';
import { field } from '../../../sandbox/salesforce/sobject-type.js';
import { lockedRow } from '../../../sandbox/salesforce/record-rules.js';
import {
  salesforceFaults,
  type SalesforceDouble,
  startSalesforceDouble,
} from '../../../sandbox/salesforce/start-salesforce-double.js';
import type { SalesforceOptions } from '../../../sandbox/salesforce/salesforce-org.js';
import { PERSONAL_DATA } from './generated-changes.js';
import { StateCourier, type StateDestination } from './state-destination.js';
import { describeStateSink } from './state-sink-conformance.js';
import { environmentOf } from '../../../sinks/sink-environment.test-kit.js';

const key = (name: string) => field(name, { externalId: true, unique: true });

const records = [
  {
    from: 'attendees',
    object: 'Lead',
    externalId: { Engagement_Id__c: '$string(item.id)' },
    properties: {
      Email: 'item.Email',
      LastName: 'item.Name',
      Company: 'item.Company ? item.Company : "unknown"',
      Last_Event__c: { value: 'pigeonhole.name', write: 'if-newer' },
    },
    campaign: {
      externalId: { Event_Id__c: '$string(pigeonhole.id)' },
      status: { registered: 'Registered', attended: 'Responded' },
    },
  },
  {
    from: 'qna-questions',
    object: 'Lead',
    create: false,
    match: ['contactEmail', 'leadEmail'],
    email: 'attendee.Email',
    properties: { Last_Question__c: 'item.content' },
  },
];

interface SalesforceDestination extends StateDestination {
  readonly double: SalesforceDouble;
  sink(keys?: object, environment?: Partial<SinkEnvironment>): Sink;
}

const own = [field('Last_Event__c'), field('Last_Question__c')];

async function startSalesforce(options: SalesforceOptions = {}): Promise<SalesforceDestination> {
  // The engine waits between two attempts. The sink does not log in for some seconds after a failed login.
  let laterMs = 0;
  const now = (): number => Date.now() + laterMs;
  const double = await startSalesforceDouble({
    now,
    fields: {
      Lead: [key('Engagement_Id__c'), ...own],
      Contact: [key('Engagement_Id__c'), ...own],
      Campaign: [key('Event_Id__c')],
    },
    ...options,
  });
  const privateKey = double.org.privateKey!;
  const sink = (keys: object = {}, environment: Partial<SinkEnvironment> = {}): Sink => {
    const made: Sink = createSalesforceSink(
      salesforceConfigSchema.parse({
        baseUrl: double.url,
        loginUrl: double.url,
        clientId: double.org.clientId,
        username: double.org.username,
        privateKey: new Secret(privateKey),
        records,
        ...keys,
      }),
      environmentOf('salesforce', { now, ...environment }),
    );
    return {
      ...made,
      send: async (...given) => {
        laterMs += 6_000;
        return await made.send(...given);
      },
    };
  };
  return {
    double,
    sink,
    open: () => sink(),
    state: () => stateOf(double),
    requests: () => double.requests.length,
    fail: (how, requestNumber) =>
      double.faults.add({
        skip: requestNumber,
        effect:
          how === 'answer-lost'
            ? { kind: 'dropAfter' }
            : how === 'never-arrives'
              ? { kind: 'dropBefore' }
              : salesforceFaults['badGatewayAfter']!,
      }),
    begin: (refusal) =>
      double.faults.add({
        times: 1_000,
        effect:
          refusal === 'cut'
            ? { kind: 'dropBefore' }
            : refusal === 'overload'
              ? { kind: 'answer', answer: { status: 503, headers: { 'retry-after': '45' }, text: 'busy' } }
              : salesforceFaults[{ auth: 'sessionExpired', outage: 'serverError' }[refusal]]!,
      }),
    repair: () => double.faults.clear(),
    secrets: privateKey.split('\n').filter((line) => line.length > 20),
    close: () => double.close(),
  };
}

const withoutClock = /Date$|^SystemModstamp$|^LastModifiedById$/;

/** Returns all records of the org, duplicates included, with an email address or event id in place of each reference. */
function stateOf({ org: { org } }: SalesforceDouble): string[] {
  const nameOf = (id: unknown): unknown => {
    const values = typeof id === 'string' ? org.byId(id)?.values : undefined;
    return values?.Email ?? values?.Event_Id__c ?? id;
  };
  return org.types
    .flatMap((type) =>
      org.all(type).map(({ values }) => {
        const fields = Object.entries(values)
          .filter(([name, value]) => value !== null && name !== 'Id' && !withoutClock.test(name))
          .map(([name, value]) => `${name}: ${JSON.stringify(name.endsWith('Id') ? nameOf(value) : value)}`);
        return `${type.name} ${fields.toSorted((a, b) => a.localeCompare(b)).join(', ')}`;
      }),
    )
    .toSorted((a, b) => a.localeCompare(b));
}

const pigeonhole = { id: 101, name: 'Autumn', startDate: '2026-11-20' };

function attendee(id: number, fields: Fields, around: Partial<Subject> = {}): Subject {
  const change = sampleChange({
    id: `a-${id}`,
    type: 'attendees.created',
    list: 'attendees',
    key: String(id),
    sessionId: null,
    data: { id, Name: PERSONAL_DATA[0], ...fields },
  });
  return subjectOf(change, { pigeonhole, ...around });
}

function question(id: number, content: string, email: string): Subject {
  const change = sampleChange({
    id: `q-${id}`,
    type: 'qna-questions.created',
    list: 'qna-questions',
    key: String(id),
    data: { id, content, createdAt: '2026-11-20T10:00:00Z', attendee: { id: 1, anonymous: false } },
  });
  return subjectOf(change, { attendee: { id: 1, Email: email }, pigeonhole });
}

const storyWith = (word: string): Subject[] => [
  attendee(1, { Email: PERSONAL_DATA[1], Name: `${PERSONAL_DATA[0]} ${word}` }),
  attendee(2, { Email: 'grace@example.com', signInTime: '2026-11-20T09:00:00Z', Name: word }),
  attendee(3, { Email: 'grace@example.com', Name: word }), // the same person with another code
  question(9001, `When is ${word}?`, PERSONAL_DATA[1]!),
];

describeStateSink('salesforce', {
  type: salesforceSinkType,
  start: startSalesforce,
  addExisting({
    double: {
      org: { org },
    },
  }) {
    for (const Email of [PERSONAL_DATA[1]!, 'grace@example.com']) {
      org.create(org.type('Contact'), { Email, LastName: 'Another', Title: 'Boss' });
    }
  },
  story: () => storyWith('lunch'),
  edited: () => storyWith('dinner'),
  poison: () => attendee(4, { Email: `${PERSONAL_DATA[1]}..com` }),
  isFoundAgain: () => true,
  overloadAsksMs: 45_000,
});

describe('the salesforce sink with an org that people work in', () => {
  let destination: SalesforceDestination;
  let courier: StateCourier;
  const begin = async (options: SalesforceOptions = {}): Promise<void> => {
    destination = await startSalesforce(options);
    courier = new StateCourier(destination);
  };
  afterEach(async () => {
    await courier.close();
    await destination.close();
  });

  const all = (type: string): Fields[] => {
    const { org } = destination.double.org;
    return org.all(org.type(type)).map(({ values }) => values);
  };
  const add = (type: string, values: Fields) => {
    const { org } = destination.double.org;
    return org.create(org.type(type), values);
  };
  const send = async (...subjects: Subject[]): Promise<readonly Outcome[]> => {
    courier.add(subjects);
    return await courier.sendOnce();
  };
  const kinds = (outcomes: readonly Outcome[]): string[] => outcomes.map(({ kind }) => kind);
  const ada = { Email: 'ada@example.com', Name: 'Lovelace' };

  it('writes 450 people once each, in batches of 200 and few requests', async () => {
    await begin();
    const people = Array.from({ length: 450 }, (_, n) => attendee(n, { Email: `p${n}@example.com`, Name: `N${n}` }));
    courier.add(people);
    await courier.sendAll();
    expect(all('Lead')).toHaveLength(450);
    expect(all('CampaignMember')).toHaveLength(450);
    expect(destination.requests()).toBeLessThan(60);
  });

  it('finds a lead that was converted between two changes, and its membership', async () => {
    await begin();
    await send(attendee(1, ada));
    const { org } = destination.double.org;
    const contact = org.convertLead(org.all(org.type('Lead'))[0]!);
    expect(kinds(await send(attendee(1, { ...ada, Name: 'King', signInTime: '2026-11-20T09:00:00Z' })))).toEqual([
      'delivered',
    ]);
    expect(contact.values).toMatchObject({ LastName: 'King', Last_Event__c: 'Autumn' });
    expect(all('Lead')).toHaveLength(1);
  });

  it('looks up a contact again after it was merged into another', async () => {
    await begin();
    const { org } = destination.double.org;
    const gone = add('Contact', { Email: 'ada@example.com', LastName: 'L.' });
    await send(attendee(1, ada));
    const kept = add('Contact', { Email: 'ada@example.com', LastName: 'L.' });
    org.mergeContacts(kept, gone);
    expect(kinds(await send(attendee(1, { ...ada, Name: 'King' })))).toEqual(['delivered']);
    expect(kept.values).toMatchObject({ LastName: 'King' });
    expect(all('Lead')).toEqual([]);
  });

  it('finds people by values that would break a query without escaping', async () => {
    await begin();
    const lead = add('Lead', { Email: "o'neil@example.com", LastName: 'O', Company: 'ACME' });
    expect(kinds(await send(attendee(1, { Email: "O'Neil@example.com", Name: 'Neil' })))).toEqual(['delivered']);
    expect(lead.values).toMatchObject({ LastName: 'Neil', Engagement_Id__c: '1' });
  });

  it('finds all people if the answer to a query has several pages', async () => {
    await begin({ queryPage: 2 });
    const people = Array.from({ length: 5 }, (_, n) => ({
      Email: `p${n}@example.com`,
      LastName: 'L',
      Company: 'ACME',
    }));
    for (const person of people) add('Lead', person);
    await send(...people.map(({ Email }, n) => attendee(n, { Email, Name: `N${n}` })));
    expect(all('Lead').map(({ LastName }) => LastName)).toEqual(['N0', 'N1', 'N2', 'N3', 'N4']);
  });

  it('retries a locked row, and delivers the others in the meantime', async () => {
    await begin();
    destination.double.org.recordFaults.add(lockedRow('Lead'));
    const people = [attendee(1, ada), attendee(2, { Email: 'bob@example.com', Name: 'Bob' })];
    expect(kinds(await send(...people))).toEqual(['retry', 'delivered']);
    await courier.sendAll();
    expect(all('Lead')).toHaveLength(2);
  });

  it.each(['refuses-itself', 'refuses-request'] as const)(
    'parks what rules of the org refuse by their code, and delivers the others (%s)',
    async (unreadableRecord) => {
      await begin({
        unreadableRecord,
        validationRules: [
          {
            object: 'Lead',
            field: 'Company',
            message: `${PERSONAL_DATA[0]} may not`,
            fails: ({ Company }) => Company === 'Evil',
          },
        ],
        duplicateRules: [{ object: 'Lead', fields: ['LastName'], against: ['Contact'], action: 'block' }],
      });
      add('Contact', { LastName: 'Twin' });
      const outcomes = await send(
        attendee(1, ada),
        attendee(2, { Email: 'e@example.com', Name: 'E', Company: 'Evil' }),
        attendee(3, { Email: 't@example.com', Name: 'Twin' }),
        attendee(4, { Email: 'l@example.com', Name: 'L'.repeat(81) }),
        attendee(5, { Email: 'n@example.com', Name: '' }),
      );
      expect(outcomes.map((outcome) => ('cause' in outcome ? outcome.cause : outcome.kind))).toEqual([
        'delivered',
        'salesforce:FIELD_CUSTOM_VALIDATION_EXCEPTION:Company',
        'salesforce:DUPLICATES_DETECTED',
        'salesforce:STRING_TOO_LONG:LastName',
        'salesforce:REQUIRED_FIELD_MISSING:LastName',
      ]);
      expect(JSON.stringify(outcomes)).not.toMatch(/Ada Lovelace|Twin|example\.com|LLLL/);
    },
  );

  it('logs in once after the session has expired, and continues in the new session', async () => {
    await begin();
    await send(attendee(1, ada));
    destination.double.org.sessions.endAll();
    expect(kinds(await send(attendee(2, { Email: 'bob@example.com', Name: 'Bob' })))).toEqual(['delivered']);
    expect(destination.double.requests.filter(({ path }) => path.endsWith('/oauth2/token'))).toHaveLength(2);
  });

  it('waits an hour without requests if the daily limit is used up', async () => {
    await begin({ dailyRequests: 3 });
    const outcomes = await send(attendee(1, ada));
    expect(outcomes).toMatchObject([{ kind: 'retry', afterMs: 3_600_000 }]);
    const asked = destination.requests();
    await courier.sendOnce();
    expect(destination.requests()).toBe(asked);
  });

  it('reports what an org lacks during a check', async () => {
    await begin({ fields: { Campaign: [field('Event_Id__c', { externalId: true })] } });
    const told = (await courier.check()).filter(({ ok }) => !ok).map(({ text }) => text);
    expect(told).toEqual([
      expect.stringContaining('properties.Last_Event__c: Lead has no such field'),
      expect.stringContaining('externalId: Lead has no field Engagement_Id__c'),
      expect.stringContaining('Campaign.Event_Id__c is not unique'),
      expect.stringContaining('properties.Last_Question__c: Lead has no such field'),
    ]);
  });

  it('clears the data of a person who withdrew consent, or deletes the record if configured', async () => {
    await begin();
    for (const onForget of ['clear-our-fields', 'delete'] as const) {
      const sink = destination.sink({}, { onForget });
      const other = new StateCourier({ ...destination, open: () => sink });
      other.add([attendee(1, ada)]);
      await other.sendAll();
      other.add([
        { ...attendee(1, {}), removal: 'consent-withdrawn', change: { ...attendee(1, {}).change, data: null } },
      ]);
      await other.sendAll();
      expect(all('CampaignMember')).toEqual([]);
      const left = all('Lead').map(({ Email, LastName, Company, Engagement_Id__c }) => [
        Email,
        LastName,
        Company,
        Engagement_Id__c,
      ]);
      expect(left).toEqual(
        onForget === 'delete' ? [[null, 'removed', 'removed', null]] : [[null, 'removed', 'removed', null]],
      );
      await other.close();
    }
  });
});
