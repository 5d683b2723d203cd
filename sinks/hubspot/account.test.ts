import { subjectOf } from '../plan-of.test-kit.js';
import { sampleChange } from '../sample-change.test-kit.js';
import { Desk, type DeskOptions } from './fake-account.test-kit.js';

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

const person = (key = 1) =>
  subjectOf(
    sampleChange({ list: 'attendees', key: String(key), data: { Email: `ada${key}@example.com`, Name: 'Ada' } }),
  );

const limited = (policyName: string) => ({
  status: 429,
  body: { status: 'error', errorType: 'RATE_LIMIT', policyName, message: 'Ada' },
});

describe('the account', () => {
  it('whose day is used up is asked nothing more until its midnight, by none of its lanes', async () => {
    const { account } = await openDesk();
    account.script = ({ path }) => (path.includes('upsert') ? limited('DAILY') : undefined);
    const [outcome] = await desk.deliver([person()]);
    // 09:30 UTC is 04:30 in New York.
    expect(outcome).toMatchObject({ kind: 'retry', afterMs: 19.5 * 3_600_000 });
    account.script = () => undefined;
    const asked = account.requests.length;
    expect(await desk.deliver([person(2)])).toMatchObject([{ kind: 'retry', afterMs: 19.5 * 3_600_000 }]);
    expect(account.requests).toHaveLength(asked);
    account.nowMs += 19.5 * 3_600_000;
    expect(await desk.deliver([person(2)])).toMatchObject([{ kind: 'delivered' }]);
  });

  it('that was asked too often is asked again after what it says', async () => {
    const { account } = await openDesk();
    account.script = ({ path }) =>
      path.includes('upsert') ? { ...limited('TEN_SECONDLY_ROLLING'), headers: { 'retry-after': '3' } } : undefined;
    expect(await desk.deliver([person()])).toMatchObject([{ kind: 'retry', afterMs: 3000 }]);
  });

  it('is waited for by all lanes together, never beyond its limit', async () => {
    const { account } = await openDesk({ tuning: { limit: { limit: 5, windowMs: 300 } } });
    const at: number[] = [];
    account.script = () => void at.push(performance.now());
    await Promise.all(
      Array.from({ length: 6 }, async (_, lane) => {
        for (let n = 0; n < 3; n += 1) await desk.deliver([person(lane * 10 + n)]);
      }),
    );
    expect(at.length).toBeGreaterThanOrEqual(18);
    at.forEach((from) => expect(at.filter((time) => time >= from && time < from + 300).length).toBeLessThanOrEqual(5));
  });

  it('leaves the permit to other lanes when it is not granted in time', async () => {
    await openDesk({ tuning: { limit: { limit: 1, windowMs: 60_000 }, sendBudgetMs: 200 } });
    expect(await desk.deliver([person()])).toEqual([{ kind: 'unsent' }]); // its time zone took the only turn
    expect(desk.account.requests).toHaveLength(1);
  });

  it('that refuses the key pauses the sink', async () => {
    const { account } = await openDesk();
    account.script = () => ({ status: 401, body: {} });
    const [outcome] = await desk.deliver([person()]);
    expect(outcome).toMatchObject({
      kind: 'pause',
      cause: 'credential',
      detail: expect.stringContaining('create a service key') as string,
    });
  });

  it('that does not allow a kind of record holds that record back for ten minutes, and names the scope', async () => {
    const { account } = await openDesk();
    account.script = () => ({
      status: 403,
      body: { category: 'MISSING_SCOPES', context: { requiredGranularScopes: ['crm.objects.contacts.write'] } },
    });
    expect(await desk.deliver([person()])).toEqual([
      { kind: 'unsent', afterMs: 600_000, detail: expect.stringContaining('crm.objects.contacts.write') as string },
    ]);
  });

  it('that cannot be reached fails all, without its token', async () => {
    const { account } = await openDesk();
    account.script = () => ({ status: 0, cut: true });
    const outcomes = await desk.deliver([person(1), person(2)]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['retry', 'retry']);
    expect(JSON.stringify(outcomes)).not.toContain('pat-test');
  });

  it('is asked nothing once the sink is stopped', async () => {
    const { account } = await openDesk();
    expect(await desk.deliver([person()], 'send', AbortSignal.abort())).toEqual([{ kind: 'unsent' }]);
    expect(account.requests).toEqual([]);
  });
});

describe('the check', () => {
  const text = (name: string, more: object = {}) => ({ name, type: 'string', ...more });
  const linesOf = async () => await desk.sink.check(new AbortController().signal);

  it('finds nothing missing, and leaves nothing behind', async () => {
    const { account } = await openDesk();
    account.properties = [text('email'), text('firstname')];
    expect(await linesOf()).toEqual([
      { ok: true, text: expect.stringMatching(/^127\.0\.0\.1:\d+ accepts the token of account 7$/) as string },
      { ok: true, text: expect.stringMatching(/^warning: .*firstname: "always" replaces the name/) as string },
      { ok: true, text: 'crm.records[0] (contacts) finds everything that it writes' },
    ]);
    expect(account.requests.filter(({ method }) => method !== 'GET').map(({ path }) => path)).toEqual([
      '/oauth/v2/private-apps/get/access-token-info',
    ]);
  });

  it('names each property that is missing, cannot be written, is not unique, or does not take a literal', async () => {
    const properties = {
      email: 'item.Email',
      member_no: 'item.Member',
      nosuch: 'item.Name',
      score: 'item.Score',
      status: '"wrong"',
      kind: '"lead"',
    };
    const { account } = await openDesk({}, [{ ...contacts, match: ['member_no', 'email'], properties }]);
    const options = ['lead', 'customer'].map((value) => ({ value }));
    account.properties = [
      text('email'),
      text('member_no'),
      text('score', { type: 'number', modificationMetadata: { readOnlyValue: true } }),
      text('status', { type: 'enumeration', options }),
      text('kind', { type: 'enumeration', options }),
    ];
    expect((await linesOf()).filter(({ ok }) => !ok).map((line) => line.text)).toEqual([
      expect.stringMatching(/^crm\.records\[0\]\.properties\.nosuch: contacts have no such property/),
      expect.stringMatching(/^crm\.records\[0\]\.properties\.score: HubSpot computes this property/),
      'crm.records[0].properties.status: takes only lead, customer',
      expect.stringMatching(/^crm\.records\[0\]\.match: member_no does not require unique values/),
    ]);
  });

  it.each([
    ['contacts', contacts, ['crm.objects.contacts.write']],
    [
      'a marketing event',
      {
        from: 'attendees',
        object: 'marketing-event',
        event: { name: '"x"', organizer: '"y"' },
        attendance: '"register"',
        email: 'item.Email',
      },
      ['crm.objects.marketing_events.read', 'crm.objects.marketing_events.write'],
    ],
  ])('names the scopes that %s lacks', async (_, record, missing) => {
    const { account } = await openDesk({}, [record]);
    account.scopes = ['crm.objects.contacts.read', 'crm.schemas.contacts.read'];
    account.properties = [text('email'), text('firstname')];
    const said = (await linesOf()).filter(({ ok }) => !ok).map((line) => line.text);
    expect(said).toEqual(missing.map((scope) => `the key lacks the scope ${scope}: add it in HubSpot`));
  });

  it('says what a refused token, a missing scope or an unreachable address means', async () => {
    const { account } = await openDesk();
    account.script = () => ({ status: 401 });
    expect(await linesOf()).toEqual([{ ok: false, text: expect.stringContaining('create a service key') as string }]);
    account.script = ({ path }) =>
      path.includes('properties')
        ? { status: 403, body: { context: { requiredGranularScopes: ['crm.schemas.contacts.read'] } } }
        : undefined;
    expect((await linesOf()).at(-1)).toEqual({
      ok: false,
      text: expect.stringContaining('crm.schemas.contacts.read') as string,
    });
    account.script = () => ({ status: 0, cut: true });
    expect(await linesOf()).toEqual([{ ok: false, text: expect.stringContaining('closed the connection') as string }]);
  });
});
