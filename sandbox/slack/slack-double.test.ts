import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { slackTrial, type SlackTrial } from './slack-client.test-kit.js';
import { DEFAULT_CHANNEL as channel, DEFAULT_TOKEN, ROTATING_APP } from './start-slack-double.js';
import { ALL_SCOPES, MANIFEST_SCOPES } from './slack-workspace.js';

let trial: SlackTrial;

beforeEach(async () => {
  trial = await slackTrial({
    channels: [
      { id: channel, name: 'questions' },
      { id: 'C0PUBLIC01', name: 'public', isMember: false },
      { id: 'G0PRIVATE1', name: 'private', isPrivate: true },
      { id: 'G0SECRET01', name: 'secret', isPrivate: true, isMember: false },
    ],
    tokens: [
      { token: DEFAULT_TOKEN, scopes: ALL_SCOPES },
      { token: 'xoxb-poor', scopes: ['chat:write'] },
    ],
    webhooks: [{ path: '/services/T0/B0/secret', channel }],
  });
});
afterEach(async () => {
  await trial.double.close();
});

describe('a token of the Slack double', () => {
  it.each([
    ['an unknown token', 'xoxb-other', 'invalid_auth'],
    ['an empty token', '', 'not_authed'],
  ])('is refused: %s', async (_, token, error) => {
    expect(await trial.call('auth.test', {}, token)).toMatchObject({ status: 200, ok: false, error });
  });

  it('is not accepted in a JSON body', async () => {
    const response = await fetch(`${trial.double.url}/api/auth.test`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: DEFAULT_TOKEN }),
    });
    expect(await response.json()).toEqual({ ok: false, error: 'not_authed' });
  });

  it('is answered with its scopes in a header', async () => {
    const answer = await trial.call('auth.test', {}, 'xoxb-poor');
    expect([answer.ok, answer['team_id'], answer.headers.get('x-oauth-scopes')]).toEqual([
      true,
      'T0DOUBLE01',
      'chat:write',
    ]);
  });

  it('gets an error with the missing scope', async () => {
    expect(await trial.get('conversations.history', { channel }, 'xoxb-poor')).toMatchObject({
      ok: false,
      error: 'missing_scope',
      needed: 'channels:history',
      provided: 'chat:write',
    });
  });

  it('stops working after it was revoked', async () => {
    trial.double.failToken(DEFAULT_TOKEN, 'token_revoked');
    expect(await trial.call('chat.postMessage', { channel, text: 'late' })).toMatchObject({ error: 'token_revoked' });
    expect(trial.double.state().channels[0]!.messages).toEqual([]);
  });
});

describe('a channel of the Slack double', () => {
  it.each([
    ['an unknown channel', { channel: 'C0NOWHERE' }, undefined, 'channel_not_found'],
    ['a private channel without the app', { channel: 'G0SECRET01' }, undefined, 'channel_not_found'],
    [
      'a public channel without the app, for a token without chat:write.public',
      { channel: 'C0PUBLIC01' },
      'xoxb-poor',
      'not_in_channel',
    ],
    ['a request without a channel', {}, undefined, 'invalid_arguments'],
  ])('accepts no message: %s', async (_, args, token, error) => {
    expect(await trial.call('chat.postMessage', { text: 'hello', ...args }, token)).toMatchObject({ ok: false, error });
  });

  it('accepts no message and no edit after it was archived', async () => {
    const ts = await trial.post();
    trial.double.workspace.channels.get(channel)!.isArchived = true;
    trial.pass(5000);
    expect(await trial.call('chat.postMessage', { channel, text: 'late' })).toMatchObject({ error: 'is_archived' });
    expect(await trial.call('chat.update', { channel, ts, text: 'late' })).toMatchObject({ error: 'is_inactive' });
  });

  it('can be read only by a member, and joined if it is public', async () => {
    expect(await trial.get('conversations.history', { channel: 'C0PUBLIC01' })).toMatchObject({
      error: 'not_in_channel',
    });
    expect(await trial.call('conversations.join', { channel: 'C0PUBLIC01' })).toMatchObject({ ok: true });
    expect(await trial.get('conversations.history', { channel: 'C0PUBLIC01' })).toMatchObject({
      ok: true,
      messages: [],
    });
    expect(await trial.call('conversations.join', { channel: 'G0PRIVATE1' })).toMatchObject({
      error: 'method_not_supported_for_channel_type',
    });
  });
});

describe('a message in the Slack double', () => {
  it('is stored exactly as it was sent', async () => {
    await trial.post({ text: 'a & b <!channel>' });
    expect(trial.double.state().channels[0]!.messages[0]!.text).toBe('a & b <!channel>');
  });

  it('is posted from a form, with its blocks as a string', async () => {
    const response = await fetch(`${trial.double.url}/api/chat.postMessage`, {
      method: 'POST',
      body: new URLSearchParams({ token: DEFAULT_TOKEN, channel: '#questions', blocks: '[{"type":"divider"}]' }),
    });
    expect(await response.json()).toMatchObject({ ok: true, channel, message: { blocks: [{ type: 'divider' }] } });
  });

  it('has a unique ts even within one millisecond', async () => {
    const posted = await Promise.all([1, 2, 3].map(() => trial.call('chat.postMessage', { channel, text: 'hello' })));
    expect(new Set(posted.map(({ ts }) => ts)).size).toBe(3);
  });

  it('keeps its blocks and metadata when only metadata is edited, and loses the blocks when only text is', async () => {
    const blocks = [{ type: 'section', text: { type: 'plain_text', text: 'Why?' } }];
    const ts = await trial.post({ blocks, metadata: { event_type: 'item', event_payload: { id: 1 } } });
    const metadata = { event_type: 'item', event_payload: { id: 2 } };
    expect(await trial.call('chat.update', { channel, ts, metadata })).toMatchObject({ message: { blocks, metadata } });
    const { message } = await trial.call('chat.update', { channel, ts, text: 'gone' });
    expect(message).toMatchObject({ text: 'gone', metadata });
    expect(message).not.toHaveProperty('blocks');
  });

  it('loses its metadata if an empty object is sent', async () => {
    const ts = await trial.post({ metadata: { event_type: 'item', event_payload: {} } });
    await trial.call('chat.update', { channel, ts, text: 'hello', metadata: {} });
    expect(trial.double.state().channels[0]!.messages[0]).not.toHaveProperty('metadata');
  });

  it.each([
    ['a text of more than 4000 characters', { text: 'x'.repeat(4001) }, 'msg_too_long'],
    ['nothing', {}, 'no_text'],
    ['another message', { ts: '1.000000', text: 'x' }, 'message_not_found'],
  ])('is not edited to %s', async (_, args, error) => {
    const ts = await trial.post();
    expect(await trial.call('chat.update', { channel, ts, ...args })).toMatchObject({ ok: false, error });
  });

  it('can be edited and deleted only by its own app', async () => {
    await fetch(`${trial.double.url}/services/T0/B0/secret`, { method: 'POST', body: '{"text":"from elsewhere"}' });
    const { ts } = trial.double.state().channels[0]!.messages[0]!;
    expect(await trial.call('chat.update', { channel, ts, text: 'x' })).toMatchObject({ error: 'cant_update_message' });
    expect(await trial.call('chat.delete', { channel, ts })).toMatchObject({ error: 'cant_delete_message' });
  });

  it('cannot be edited after the edit window, nor found after a person deleted it', async () => {
    const ts = await trial.post();
    trial.double.workspace.editWindowMs = 60_000;
    trial.pass(61_000);
    expect(await trial.call('chat.update', { channel, ts, text: 'x' })).toMatchObject({ error: 'edit_window_closed' });
    trial.double.deleteAsPerson(channel, ts);
    expect(await trial.call('chat.update', { channel, ts, text: 'x' })).toMatchObject({ error: 'message_not_found' });
    expect(await trial.call('chat.delete', { channel, ts })).toMatchObject({ error: 'message_not_found' });
  });

  it.each([
    ['a value that is not an object', 'x', 'invalid_metadata_format'],
    ['no event type', { event_payload: {} }, 'invalid_metadata_format'],
    ['no payload', { event_type: 'item' }, 'invalid_metadata_schema'],
    [
      'a list of numbers in the payload',
      { event_type: 'item', event_payload: { ids: [1] } },
      'invalid_metadata_schema',
    ],
    ['null in the payload', { event_type: 'item', event_payload: { id: null } }, 'invalid_metadata_schema'],
    ['too much data', { event_type: 'item', event_payload: { id: 'x'.repeat(9000) } }, 'metadata_too_large'],
  ])('is refused for metadata with %s', async (_, metadata, error) => {
    expect(await trial.call('chat.postMessage', { channel, text: 'x', metadata })).toMatchObject({ ok: false, error });
  });
});

describe('a thread in the Slack double', () => {
  it('is read with its parent first, and is not part of the history', async () => {
    const parent = await trial.post({ text: 'session' });
    const first = await trial.post({ thread_ts: parent, text: 'first' });
    const second = await trial.post({ thread_ts: first, text: 'second' });
    const { messages } = await trial.get('conversations.replies', { channel, ts: second });
    expect(messages.map(({ text, thread_ts: threadTs }) => [text, threadTs])).toEqual([
      ['session', parent],
      ['first', parent],
      ['second', parent],
    ]);
    const history = await trial.get('conversations.history', { channel });
    expect(history.messages.map(({ ts }) => ts)).toEqual([parent]);
  });

  it('has a reply that is broadcast later, by a call that does not change its content', async () => {
    const ts = await trial.post({ thread_ts: await trial.post(), text: 'reply' });
    const broadcast = (args: object) => trial.call('chat.update', { channel, ts, reply_broadcast: true, ...args });
    const blocks = [{ type: 'divider' }];
    for (const args of [{ text: 'urgent' }, { text: 'reply', blocks }, { blocks }]) {
      expect(await broadcast(args)).toMatchObject({ ok: false, error: 'no_dual_broadcast_content_update' });
    }
    expect(await broadcast({ text: 'reply' })).toMatchObject({ ok: true });
    expect(await broadcast({ text: 'reply' })).toMatchObject({ error: 'cant_broadcast_message' });
    expect(trial.double.workspace.channels.get(channel)!.find(ts)).toMatchObject({ text: 'reply', broadcast: true });
  });

  it('posts a reply to a missing message in the channel, and returns it without thread_ts', async () => {
    trial.pass(1000);
    const answer = await trial.call('chat.postMessage', { channel, text: 'lost', thread_ts: '1.000000' });
    expect(answer.ok).toBe(true);
    expect(answer['message']).not.toHaveProperty('thread_ts');
  });

  it('continues after its parent was deleted, which leaves a tombstone', async () => {
    const parent = await trial.post({ text: 'session' });
    await trial.post({ thread_ts: parent });
    trial.double.deleteAsPerson(channel, parent);
    await trial.post({ thread_ts: parent });
    const { messages } = await trial.get('conversations.replies', { channel, ts: parent });
    expect(messages.map(({ subtype }) => subtype)).toEqual(['tombstone', undefined, undefined]);
  });

  it('is not found if the message does not exist', async () => {
    expect(await trial.get('conversations.replies', { channel, ts: '1.000000' })).toMatchObject({
      error: 'thread_not_found',
    });
  });

  it('cannot be requested with a JSON body, which this method ignores', async () => {
    const ts = await trial.post();
    expect(await trial.call('conversations.replies', { channel, ts })).toMatchObject({ error: 'invalid_arguments' });
  });
});

describe('the history of the Slack double', () => {
  it('is paged by cursor, newest first, and loses no message if others arrive between two pages', async () => {
    const posted = [await trial.post(), await trial.post(), await trial.post()];
    const first = await trial.get('conversations.history', { channel, limit: '2' });
    await trial.post();
    const { next_cursor: cursor } = first['response_metadata'] as { next_cursor: string };
    const second = await trial.get('conversations.history', { channel, limit: '2', cursor });
    expect([...first.messages, ...second.messages].map(({ ts }) => ts)).toEqual(posted.toReversed());
    expect([first['has_more'], second['has_more']]).toEqual([true, false]);
  });

  it('excludes `oldest` and `latest` unless `inclusive` is set', async () => {
    const [first, second, third] = [await trial.post(), await trial.post(), await trial.post()];
    const range = { channel, oldest: first, latest: third };
    const inside = await trial.get('conversations.history', range);
    const included = await trial.get('conversations.history', { ...range, inclusive: 'true' });
    expect(inside.messages.map(({ ts }) => ts)).toEqual([second]);
    expect(included.messages).toHaveLength(3);
  });

  it('shows payloads of metadata only on request and with the scope to read them', async () => {
    const metadata = { event_type: 'item', event_payload: { id: 1 } };
    await trial.post({ metadata });
    const plain = await trial.get('conversations.history', { channel });
    const all = await trial.get('conversations.history', { channel, include_all_metadata: 'true' });
    trial.double.workspace.tokens.set('xoxb-blind', { scopes: ['channels:history'] });
    const blind = await trial.get('conversations.history', { channel, include_all_metadata: 'true' }, 'xoxb-blind');
    const stripped = { event_type: 'item', event_payload: {} };
    expect([plain, all, blind].map(({ messages }) => messages[0]!.metadata)).toEqual([stripped, metadata, stripped]);
  });

  it.each([
    [{ oldest: 'yesterday' }, 'invalid_ts_oldest'],
    [{ latest: '1.0000001' }, 'invalid_ts_latest'],
    [{ cursor: 'made-up' }, 'invalid_cursor'],
    [{ limit: '1000' }, 'invalid_arguments'],
  ])('refuses %j with %s', async (args, error) => {
    expect(await trial.get('conversations.history', { channel, ...args })).toMatchObject({ ok: false, error });
  });
});

describe('a body for the Slack double', () => {
  it.each([
    ['application/json', '{', 'invalid_json'],
    ['application/json', '[]', 'json_not_object'],
    ['text/plain', 'x', 'invalid_post_type'],
  ])('of type %s that is %s is refused', async (type, body, error) => {
    const response = await fetch(`${trial.double.url}/api/chat.postMessage`, {
      method: 'POST',
      headers: { authorization: `Bearer ${DEFAULT_TOKEN}`, 'content-type': type },
      body,
    });
    expect(await response.json()).toEqual({ ok: false, error });
  });

  it('is refused by a method that does not exist', async () => {
    expect(await trial.call('chat.shout', {})).toMatchObject({ ok: false, error: 'unknown_method' });
  });
});

describe('an incoming webhook of the Slack double', () => {
  const send = async (body: string, path = '/services/T0/B0/secret'): Promise<[number, string]> => {
    const response = await fetch(`${trial.double.url}${path}`, { method: 'POST', body });
    return [response.status, await response.text()];
  };

  it('answers a message with ok and nothing else', async () => {
    expect(await send('{"text":"hello"}')).toEqual([200, 'ok']);
    expect(trial.double.state().channels[0]!.messages).toMatchObject([{ text: 'hello', bot: null }]);
  });

  it.each([
    ['a body that is not JSON', 'hello', [400, 'invalid_payload']],
    ['a message without text', '{}', [400, 'no_text']],
    ['invalid blocks', '{"blocks":[{"type":"x"}]}', [400, 'invalid_blocks']],
  ])('refuses %s', async (_, body, answer) => {
    expect(await send(body)).toEqual(answer);
  });

  it('answers 404 if it is unknown, 403 if it is restricted, and 410 if the channel is archived', async () => {
    expect(await send('{"text":"x"}', '/services/T0/B0/other')).toEqual([404, 'no_service']);
    trial.double.workspace.webhooks.get('/services/T0/B0/secret')!.state = 'prohibited';
    expect(await send('{"text":"x"}')).toEqual([403, 'action_prohibited']);
    trial.double.workspace.webhooks.get('/services/T0/B0/secret')!.state = 'active';
    trial.double.workspace.channels.get(channel)!.isArchived = true;
    expect(await send('{"text":"x"}')).toEqual([410, 'channel_is_archived']);
  });

  it('shares the rate limit of its channel and answers 429 above it', async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 4; n += 1) statuses.push((await send('{"text":"x"}'))[0]);
    expect(statuses).toEqual([200, 200, 200, 429]);
  });
});

describe('a new account of the Slack double, whose app has token rotation', () => {
  const { clientId, clientSecret, refreshToken } = ROTATING_APP;
  const refresh = async (token: string, more: Record<string, string> = {}) => {
    const body = new URLSearchParams({
      client_id: clientId,
      client_secret: clientSecret,
      grant_type: 'refresh_token',
      refresh_token: token,
      ...more,
    });
    const response = await fetch(`${fresh.double.url}/api/oauth.v2.access`, { method: 'POST', body });
    return (await response.json()) as Readonly<Record<string, string>>;
  };
  let fresh: SlackTrial;
  beforeEach(async () => {
    fresh = await slackTrial({ profile: 'freshAccount', rotation: true });
  });
  afterEach(async () => {
    await fresh.double.close();
  });

  it('returns a pair of tokens for a refresh token, once', async () => {
    const first = await refresh(refreshToken);
    expect(first).toMatchObject({ ok: true, token_type: 'bot', expires_in: 43_200 });
    expect(await refresh(refreshToken)).toEqual({ ok: false, error: 'invalid_refresh_token' });
    expect(await refresh(first['refresh_token']!, { client_secret: 'x' })).toEqual({
      ok: false,
      error: 'bad_client_secret',
    });
    expect(await fresh.call('auth.test', {}, first['access_token'])).toMatchObject({ ok: true });
    fresh.pass(43_200_000);
    expect(await fresh.call('auth.test', {}, first['access_token'])).toMatchObject({ error: 'token_expired' });
  });

  it('has at most two valid access tokens', async () => {
    const tokens = [await refresh(refreshToken)];
    for (let n = 0; n < 2; n += 1) tokens.push(await refresh(tokens.at(-1)!['refresh_token']!));
    const answers = await Promise.all(tokens.map((each) => fresh.call('auth.test', {}, each['access_token'])));
    expect(answers.map(({ error = 'ok' }) => error)).toEqual(['token_revoked', 'ok', 'ok']);
  });

  it('has the app in no channel, and reports misuses', async () => {
    const { access_token: token } = await refresh(refreshToken);
    const text = '<!channel> <https://evil.example|click>';
    expect(await fresh.call('chat.postMessage', { channel, text }, token)).toMatchObject({ error: 'not_in_channel' });
    expect(fresh.double.workspace.misuses).toContain('chat.postMessage: live markup in text');
    await fresh.get('auth.test', { token: token! });
    expect(fresh.double.workspace.misuses.at(-2)).toBe('auth.test: a credential in the address');
  });
});

describe('a new account of the Slack double', () => {
  it('has a token with the scopes of the manifest that does not expire, and the app in no channel', async () => {
    const trial = await slackTrial({ profile: 'freshAccount' });
    trial.pass(30 * 86_400_000);
    const { headers, ...answer } = await trial.call('auth.test', {});
    expect([answer.ok, headers.get('x-oauth-scopes')]).toEqual([true, MANIFEST_SCOPES.join(',')]);
    expect(await trial.call('chat.postMessage', { channel, text: 'x' })).toMatchObject({ error: 'not_in_channel' });
    expect(await trial.call('oauth.v2.access', {})).toMatchObject({ error: 'token_rotation_not_enabled' });
    await trial.double.close();
  });

  it('keeps the rich text of a message', async () => {
    const trial = await slackTrial({
      profile: 'freshAccount',
      channels: [{ id: channel, name: 'questions', isMember: true }],
    });
    const section = { type: 'section', text: { type: 'plain_text', text: 'gone' } };
    const richText = (text: string) => ({
      type: 'rich_text',
      elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text }] }],
    });
    const ts = await trial.post({ blocks: [richText('a'), section] });
    const update = (args: object) => trial.call('chat.update', { channel, ts, ...args });
    for (const args of [{ blocks: [section] }, { text: 'gone' }, { text: 'gone', blocks: [] }]) {
      expect(await update(args)).toMatchObject({ ok: false, error: 'block_mismatch' });
    }
    expect(await update({ text: 'b', blocks: [section, richText('b')] })).toMatchObject({ ok: true });
    trial.double.workspace.richTextStays = false; // as in an established account
    expect(await update({ text: 'gone', blocks: [section] })).toMatchObject({ ok: true });
    await trial.double.close();
  });

  it('has exactly the scopes and the rotation of the manifest in the guide', () => {
    const guide = readFileSync(join(__dirname, '../../docs/sinks/slack.md'), 'utf8');
    const manifest = /^ {3}display_information:\n[^]*?^ {3}```$/m.exec(guide)![0];
    expect([...manifest.matchAll(/^ +- ([\w.]+:[\w.]+)/gm)].map(([, scope]) => scope)).toEqual(MANIFEST_SCOPES);
    expect(manifest).toContain('token_rotation_enabled: false');
  });
});
