import { Secret } from '../../config/secret.js';
import { ROTATING_APP, type SlackDouble, startSlackDouble } from '../../sandbox/slack/start-slack-double.js';
import { KeptInMemory } from '../../test/kit/kept-in-memory.js';
import { RestClient } from '../rest/rest-client.js';
import { callWithToken, type TokenSource } from './client.js';
import { RotatingTokens, fixedToken } from './tokens.js';

const hourMs = 3_600_000;
const { clientId, clientSecret, refreshToken } = ROTATING_APP;

let nowMs: number;
let slack: SlackDouble;
let kept: KeptInMemory;
const closing: (() => Promise<void>)[] = [];

beforeEach(async () => {
  nowMs = Date.UTC(2026, 10, 21, 9);
  slack = await startSlackDouble({ now: () => nowMs, rotation: true });
  kept = new KeptInMemory(() => nowMs);
});
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
  await slack.close();
  expect(slack.workspace.misuses).toEqual([]);
});

function apiOf(aheadMs = 0) {
  const rest = new RestClient({
    url: new URL(slack.url),
    environment: { network: { allowHosts: [] }, now: () => nowMs + aheadMs, requestTimeoutMs: 60_000 },
    allowPrivateAddresses: true,
    connections: 4,
    requestIdHeaders: ['x-slack-req-id'],
  });
  closing.push(() => rest.close());
  return { baseUrl: `${slack.url}/api`, rest, wallNow: () => nowMs + aheadMs };
}

/** Returns another process on the same ledger. @param aheadMs how far its own clock is ahead */
function process(secret = clientSecret, aheadMs = 0): RotatingTokens {
  const rotation = { clientId, clientSecret: new Secret(secret), refreshToken: new Secret(refreshToken) };
  return new RotatingTokens(apiOf(aheadMs), rotation, kept.open());
}

async function authorizes(tokens: TokenSource): Promise<string> {
  const { verdict } = await callWithToken(apiOf(), tokens, { method: 'auth.test' }, new AbortController().signal);
  return verdict.kind === 'ok' ? 'ok' : `${verdict.kind}: ${verdict.detail}`;
}

const exchanges = (): number => slack.workspace.rotation!.issued;

describe('the tokens of a Slack app with token rotation', () => {
  it('are exchanged once in eight hours, and by only one of several processes', async () => {
    const processes = [process(), process(), process()];
    const first = await Promise.all(processes.map(authorizes));
    expect(first.filter((said) => said === 'ok')).toHaveLength(1); // the other processes retry a few seconds later
    for (let hours = 0; hours < 48; hours += 1) {
      nowMs += hourMs;
      for (const tokens of processes) expect(await authorizes(tokens)).toBe('ok');
    }
    expect(exchanges()).toBe(1 + 48 / 8);
    expect(slack.workspace.rotation!.live.length).toBeLessThanOrEqual(2);
  });

  it.each([-20, 20])('are exchanged at the right time by a process whose clock is %i hours ahead', async (hours) => {
    const processes = [process(clientSecret, hours * hourMs), process()];
    expect(await authorizes(processes[0]!)).toBe('ok');
    for (let hour = 0; hour < 48; hour += 1) {
      for (const tokens of processes) expect(await authorizes(tokens)).toBe('ok');
      nowMs += hourMs;
    }
    expect(exchanges()).toBe(48 / 8);
  });

  it('are exchanged three times in two hours if Slack issues them for one hour', async () => {
    const json = { ok: true, access_token: 'short', refresh_token: 'next', expires_in: 3600 };
    slack.faults.add({
      path: 'oauth.v2.access',
      times: 100,
      effect: { kind: 'answer', answer: { status: 200, json } },
    });
    const tokens = process();
    for (let minutes = 0; minutes < 120; minutes += 5) {
      expect(await tokens.current()).toHaveProperty('token');
      nowMs += 5 * 60_000;
    }
    expect(slack.requests).toHaveLength(3);
  });

  it('are read from the ledger, and not from the configuration, by a process that starts days later', async () => {
    await authorizes(process());
    nowMs += 9 * 24 * hourMs;
    expect(await authorizes(process())).toBe('ok');
    expect(exchanges()).toBe(2);
  });

  it('are not exchanged again by a second process that starts', async () => {
    await authorizes(process());
    expect(await authorizes(process())).toBe('ok');
    expect(exchanges()).toBe(1);
  });

  it('remain usable for hours if the response with the next tokens is lost', async () => {
    const tokens = process();
    await authorizes(tokens);
    nowMs += 8.5 * hourMs;
    slack.faults.add({ effect: { kind: 'dropAfter' }, path: 'oauth.v2.access' });
    expect(await authorizes(tokens)).toBe('ok'); // with the token that is about to be replaced
    nowMs += 3 * hourMs;
    expect(await authorizes(tokens)).toBe('ok');
    expect(tokens.trouble()).toMatch(
      /for 0 more hours and does not renew it: .*invalid_refresh_token.*install the app/,
    );
    nowMs += hourMs;
    expect(await authorizes(tokens)).toMatch(/^credential: .*invalid_refresh_token.*"rotation.refreshToken"/);
  });

  it('are renewed after a lost response if Slack accepts the old refresh token once more', async () => {
    const tokens = process();
    await authorizes(tokens);
    nowMs += 8.5 * hourMs;
    slack.workspace.rotation!.graceMs = 60_000;
    slack.faults.add({ effect: { kind: 'dropAfter' }, path: 'oauth.v2.access' });
    await authorizes(tokens);
    nowMs += 10_000;
    expect(await authorizes(tokens)).toBe('ok');
    expect([exchanges(), tokens.trouble()]).toEqual([3, undefined]);
  });

  it('are not exchanged while another process may still exchange them, and the current token stays in use', async () => {
    await authorizes(process());
    nowMs += 8.5 * hourMs;
    const dead = kept.open();
    await dead.claim(JSON.stringify(['slack', `${slack.url}/api`, clientId, refreshToken]), 90_000);
    const tokens = process();
    expect([await authorizes(tokens), exchanges()]).toEqual(['ok', 1]);
    nowMs += 91_000;
    expect([await authorizes(tokens), exchanges()]).toEqual(['ok', 2]);
  });

  it('are stored before the next exchange if the ledger did not answer', async () => {
    kept.failingReplaces = 2;
    const tokens = process();
    for (let n = 0; n < 3; n += 1) {
      expect(await authorizes(tokens)).toBe('ok');
      nowMs += 6000;
    }
    expect(exchanges()).toBe(1);
    expect(kept.texts).toHaveLength(1);
    expect(await authorizes(process())).toBe('ok');
    expect(exchanges()).toBe(1);
  });

  it('are replaced if Slack rejects a token before it expires', async () => {
    const tokens = process();
    await authorizes(tokens);
    slack.failToken(slack.workspace.rotation!.live[0]!, 'token_revoked');
    expect([await authorizes(tokens), exchanges()]).toEqual(['ok', 2]);
  });

  it('lead to the right advice if the installation was revoked or the client secret is wrong', async () => {
    const tokens = process();
    await authorizes(tokens);
    slack.workspace.rotation!.revoke();
    expect(await authorizes(tokens)).toMatch(/^credential: .*invalid_refresh_token.*install the app/);
    kept = new KeptInMemory(() => nowMs);
    expect(await authorizes(process('another'))).toMatch(
      /^credential: .*bad_client_secret.*: compare "rotation.clientId"/,
    );
  });

  it('are exchanged immediately after a refusal when an operator wants to try now', async () => {
    const tokens = process();
    const answer = { status: 200, json: { ok: false, error: 'invalid_client_id' } };
    slack.faults.add({ effect: { kind: 'answer', answer }, path: 'oauth.v2.access' });
    expect(await authorizes(tokens)).toMatch(/^credential: /);
    expect(await authorizes(tokens)).toMatch(/^credential: /); // does not ask Slack again for ten minutes
    tokens.tryNow();
    expect(await authorizes(tokens)).toBe('ok');
  });

  it('are never exchanged without a ledger to store them', async () => {
    const rotation = { clientId, clientSecret: new Secret(clientSecret), refreshToken: new Secret(refreshToken) };
    expect(await authorizes(new RotatingTokens(apiOf(), rotation, undefined))).toMatch(/^later: /);
    expect(slack.requests).toEqual([]);
  });

  it('lead to the advice to set "rotation" if a fixed token expires', async () => {
    await authorizes(process());
    const tokens = fixedToken(new Secret(slack.workspace.rotation!.live[0]!));
    expect([await authorizes(tokens), tokens.trouble!()]).toEqual(['ok', expect.stringContaining('set "rotation"')]);
    nowMs += 12 * hourMs;
    expect(await authorizes(tokens)).toMatch(
      /^credential: .*token_expired.*: the app rotates its tokens. Set "rotation"/,
    );
  });
});
