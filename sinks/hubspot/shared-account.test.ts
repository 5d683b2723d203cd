import { Secret } from '../../config/secret.js';
import { ALL_SCOPES } from '../../sandbox/hubspot/account.js';
import { type HubSpotDouble, startHubSpotDouble } from '../../sandbox/hubspot/start-hubspot-double.js';
import { SteppedClock } from '../../test/kit/stepped-clock.js';
import { Accounts } from '../network/accounts.js';
import { subjectOf } from '../plan-of.test-kit.js';
import { sampleChange } from '../sample-change.test-kit.js';
import type { Lane, Outcome, Sink } from '../sink.js';
import { createHubSpotSink } from './hubspot.js';
import { loadHubSpotConfig } from './load-config.test-kit.js';
import type { HubSpotOperation } from './operation.js';
import { environmentOf } from '../sink-environment.test-kit.js';

const contacts = {
  from: 'attendees',
  object: 'contacts',
  match: ['email'],
  properties: { email: 'item.Email', firstname: '"Guest"' },
};
/** A window of one minute, so that no permit becomes available while a `send` waits. */
const limit = { limit: 5, windowMs: 60_000 };
const lane = {
  workspace: 'acme',
  pigeonholeId: 101,
  ledgerId: 'l',
  memory: {},
  remember: async () => undefined,
} as Lane;

let account: HubSpotDouble;
let clock: SteppedClock;
const open: Sink[] = [];
beforeEach(async () => {
  clock = new SteppedClock();
  account = await startHubSpotDouble({
    tokens: { 'pat-one': ALL_SCOPES, 'pat-two': ALL_SCOPES },
  });
});
afterEach(async () => {
  for (const sink of open.splice(0)) await sink.close().catch(() => undefined); // one sink is already closed
  await account.close();
  clock.close();
});

function sinkOf(accounts: Accounts, name: string, token = 'pat-one'): Sink<HubSpotOperation> {
  const config = loadHubSpotConfig({ token: new Secret(token), baseUrl: account.url, records: [contacts] });
  const environment = environmentOf(name, { accounts });
  const sink = createHubSpotSink(config, environment, { limit, sendBudgetMs: 500, clock });
  open.push(sink);
  return sink;
}

async function send(sink: Sink<HubSpotOperation>, key: number): Promise<Outcome> {
  const data = { Email: `p${key}@example.com` };
  const subject = subjectOf(sampleChange({ id: `c-${key}`, list: 'attendees', key: String(key), data }));
  const [planned] = await sink.plan([subject]);
  if (planned?.kind !== 'send') throw new Error('nothing is sent');
  const { outcomes } = await sink.send([planned.operation], lane, new AbortController().signal);
  return outcomes[0]!;
}

/** Sends until the limit is used up. */
async function useUp(sink: Sink<HubSpotOperation>): Promise<void> {
  for (let key = 1; account.requests.length < limit.limit && key < 100; key += 1) await send(sink, key);
}

describe('two sinks on one HubSpot account', () => {
  it('share its limit, even if one of them is opened after the first was closed', async () => {
    const accounts = new Accounts();
    const first = sinkOf(accounts, 'crm');
    const second = sinkOf(accounts, 'events');
    await useUp(first);
    expect(account.requests).toHaveLength(limit.limit);
    expect((await send(second, 201)).kind).not.toBe('delivered');
    await first.close();
    expect((await send(sinkOf(accounts, 'crm'), 202)).kind).not.toBe('delivered');
    expect(account.requests).toHaveLength(limit.limit);
  });

  it('do not affect the limit of another account', async () => {
    const accounts = new Accounts();
    await useUp(sinkOf(accounts, 'crm'));
    expect((await send(sinkOf(accounts, 'other', 'pat-two'), 301)).kind).toBe('delivered');
  });
});
