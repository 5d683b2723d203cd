import { ALL_SCOPES } from '../../sandbox/hubspot/account.js';
import { property } from '../../sandbox/hubspot/object-type.js';
import { hubSpotFaults } from '../../sandbox/hubspot/start-hubspot-double.js';
import { SteppedClock } from '../../test/kit/stepped-clock.js';
import type { Subject } from '../sink.js';
import { Desk, type DeskOptions, kinds, people } from './desk.test-kit.js';

let desk: Desk;
afterEach(async () => desk.close());

const contacts = {
  from: 'attendees',
  object: 'contacts',
  match: ['email'],
  properties: { email: 'item.Email', firstname: 'item.Name' },
};

async function openDesk(options: DeskOptions = {}, records: readonly object[] = [contacts]): Promise<Desk> {
  desk = await Desk.open(records, options);
  return desk;
}

const [ann, bob] = people(2) as [Subject, Subject];

describe('the account', () => {
  const hourMs = 3_600_000;

  it.each([
    // 09:30 UTC is 04:30 in New York. A private app's token can read that time zone.
    ['its midnight', { profile: 'withoutRules', timeZone: 'US/Eastern' }, 19.5 * hourMs],
    ['an hour later, if the key may not read its time zone', {}, hourMs],
  ] as const)('whose daily limit is used up receives no request from any lane until %s', async (_, account, waitMs) => {
    await openDesk({ ...account, perDay: 2 });
    expect(await desk.deliver([ann])).toMatchObject([{ kind: 'delivered' }]); // the other request read the time zone
    expect(await desk.deliver([bob])).toMatchObject([{ kind: 'retry', afterMs: waitMs }]);
    const asked = desk.paths().length;
    expect(await desk.deliver([bob])).toMatchObject([{ kind: 'retry', afterMs: waitMs }]);
    expect(desk.paths()).toHaveLength(asked);
    desk.clock.nowMs += 19.5 * hourMs; // past midnight in UTC as well
    expect(await desk.deliver([bob])).toMatchObject([{ kind: 'delivered' }]);
  });

  it('whose daily limit is used up is used again after the time that HubSpot requests', async () => {
    await openDesk();
    const text = JSON.stringify({ status: 'error', errorType: 'RATE_LIMIT', policyName: 'DAILY' });
    const answer = { status: 429, text, headers: { 'Retry-After': '1800' } };
    desk.hubspot.faults.add({ path: 'upsert', effect: { kind: 'answer', answer } });
    expect(await desk.deliver([ann])).toMatchObject([
      {
        kind: 'retry',
        afterMs: 1_800_000,
        detail: expect.stringMatching(/^the account's daily request limit is reached \(HTTP 429\)/) as string,
      },
    ]);
  });

  it('that received too many requests is used again after the requested time', async () => {
    await openDesk();
    desk.hubspot.faults.add({ path: 'upsert', effect: hubSpotFaults['retryAfter']! });
    expect(await desk.deliver([ann])).toMatchObject([{ kind: 'retry', afterMs: 3000 }]);
  });

  it('that requested a long pause before the write is named as the cause, without a wait for the end of the pause', async () => {
    const clock = new SteppedClock();
    await openDesk({ tuning: { sendBudgetMs: 60_000, clock } });
    const answer = { status: 429, text: '', headers: { 'Retry-After': '1800' } };
    desk.hubspot.faults.add({ path: 'account-info', effect: { kind: 'answer', answer } });
    const refused = [{ kind: 'retry', detail: expect.stringContaining('(HTTP 429)'), afterMs: 1_800_000 }];
    expect(await desk.deliver([ann])).toEqual(refused);
    const asked = desk.paths().length;
    expect(await desk.deliver([ann])).toEqual(refused);
    expect([clock.now(), desk.paths().length]).toEqual([0, asked]);
    clock.close();
  });

  it('leaves the permit to other lanes if it is not granted in time', async () => {
    const clock = new SteppedClock();
    await openDesk({ tuning: { limit: { limit: 1, windowMs: 60_000 }, sendBudgetMs: 200, clock } });
    expect(await desk.deliver([ann])).toEqual([{ kind: 'unsent' }]); // reading the time zone used the only permit
    clock.close();
    expect(desk.paths()).toHaveLength(1);
  });

  it('that rejects the key pauses the sink', async () => {
    await openDesk({ token: 'revoked' });
    expect(await desk.deliver([ann])).toMatchObject([
      { kind: 'pause', cause: 'credential', detail: expect.stringContaining('create a service key') as string },
    ]);
  });

  it('that cannot be reached makes every change retry, without revealing the token', async () => {
    await openDesk();
    desk.hubspot.faults.add({ times: 99, effect: { kind: 'dropBefore' } });
    const outcomes = await desk.deliver([ann, bob]);
    expect(kinds(outcomes)).toEqual(['retry', 'retry']);
    expect(JSON.stringify(outcomes)).not.toContain('hubspot-token');
  });

  it('receives no request after the sink is stopped', async () => {
    await openDesk();
    expect(await desk.deliver([ann], 'send', AbortSignal.abort())).toEqual([{ kind: 'unsent' }]);
    expect(desk.paths()).toEqual([]);
  });
});

describe('the check', () => {
  const registration = {
    from: 'attendees',
    object: 'marketing-event',
    event: { name: '"x"', organizer: '"y"' },
    attendance: '"register"',
    email: 'item.Email',
    contactProperties: { firstname: 'item.Name' },
  };
  /** The options for the token of a private app, whose scopes HubSpot lists. */
  const privateApp = (...scopes: string[]): DeskOptions => ({
    profile: 'withoutRules',
    tokens: { 'hubspot-token': [...scopes, 'crm.objects.contacts.read', 'crm.schemas.contacts.read', 'oauth'] },
  });

  it('finds nothing missing for a private app’s token, and writes nothing', async () => {
    await openDesk({ profile: 'withoutRules' });
    expect(await desk.check()).toEqual({
      failing: [],
      ok: [
        expect.stringMatching(/^127\.0\.0\.1:\d+ accepts the token of account 4242424$/),
        expect.stringMatching(/^crm.*firstname: "always" replaces the name/),
        'crm.records[0] (contacts): HubSpot has every property that this entry writes',
      ],
    });
    const written = desk.hubspot.requests.filter(({ method }) => method !== 'GET');
    expect(written.map(({ path }) => path)).toEqual(['/oauth/v2/private-apps/get/access-token-info']);
  });

  it('reads literals as the mapping does', async () => {
    const kind = property('kind', { options: ['say "hi"'] });
    const properties = { ...contacts.properties, kind: `'say "hi"'` };
    await openDesk({ contactProperties: [kind] }, [{ ...contacts, properties }]);
    expect((await desk.check()).failing).toEqual([]);
  });

  it('names each property that is missing, read-only, not unique, or does not accept a literal', async () => {
    const kindsOfPeople = { options: ['lead', 'customer'] };
    const contactProperties = [
      property('member_no'),
      property('score', { type: 'number', readOnlyValue: true }),
      property('status', kindsOfPeople),
      property('kind', kindsOfPeople),
    ];
    const properties = {
      email: 'item.Email',
      firstname: 'item.Name',
      member_no: 'item.Member',
      nosuch: 'item.Name',
      score: 'item.Score',
      status: '"wrong"',
      kind: '"lead"',
    };
    await openDesk({ contactProperties }, [{ ...contacts, match: ['member_no', 'email'], properties }]);
    expect((await desk.check()).failing).toEqual([
      expect.stringMatching(/^crm\.records\[0\]\.properties\.nosuch: contacts have no such property/),
      expect.stringMatching(/^crm\.records\[0\]\.properties\.score: HubSpot computes this property/),
      'crm.records[0].properties.status: takes only lead, customer',
      expect.stringMatching(/^crm\.records\[0\]\.match: member_no does not require unique values/),
    ]);
  });

  it.each([
    ['contacts', contacts, ['crm.objects.contacts.write']],
    ['a marketing event', registration, ['crm.objects.marketing_events.read', 'crm.objects.marketing_events.write']],
  ])(
    'names the scopes that the token lacks for %s, if HubSpot lists the scopes of a private app',
    async (_, record, missing) => {
      await openDesk(privateApp(), [record]);
      const said = missing.map((scope) => `the key lacks the scope ${scope}: add it in HubSpot`);
      expect((await desk.check()).failing).toEqual(said);
    },
  );

  it('explains a rejected token, a missing scope and an unreachable address', async () => {
    await openDesk();
    const { tokens } = desk.account;
    tokens.delete('hubspot-token');
    expect((await desk.check()).failing).toEqual([expect.stringContaining('create a service key')]);
    tokens.set('hubspot-token', ['crm.schemas.custom.read']);
    expect((await desk.check()).failing).toEqual([expect.stringContaining('crm.schemas.contacts.read')]);
    tokens.set('hubspot-token', ALL_SCOPES);
    desk.hubspot.faults.add({ times: 99, effect: { kind: 'dropBefore' } });
    expect((await desk.check()).failing).toEqual([expect.stringContaining('closed the connection')]);
  });
});
