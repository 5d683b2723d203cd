import { classifyReply, outcomeOf, type SlackReply } from './classify.js';

const answered = (fields: Partial<Extract<SlackReply, { kind: 'answer' }>>): SlackReply => ({
  kind: 'answer',
  status: 200,
  body: undefined,
  retryAfterMs: undefined,
  requestId: 'req-1',
  scopes: undefined,
  answeredAtMs: 0,
  ...fields,
});

const failed = (error: unknown, more: object = {}): SlackReply => answered({ body: { ok: false, error, ...more } });

describe('a response from Slack', () => {
  it.each([
    ['ok', answered({ body: { ok: true } }), 'ok'],
    ['HTTP 429', answered({ status: 429, retryAfterMs: 7000 }), 'limited'],
    ['ratelimited without HTTP 429', failed('ratelimited'), 'limited'],
    ['rate_limited', failed('rate_limited'), 'limited'],
    ['service_unavailable', failed('service_unavailable'), 'later'],
    ['request_timeout, after which nothing was processed', failed('request_timeout'), 'later'],
    ['internal_error, which may have been processed', failed('internal_error'), 'maybe'],
    ['fatal_error, which may have been processed', failed('fatal_error'), 'maybe'],
    ['HTTP 502 from a proxy', answered({ status: 502 }), 'maybe'],
    ['HTTP 200 with an invalid body', answered({}), 'maybe'],
    ['HTTP 404 from a proxy', answered({ status: 404 }), 'later'],
    ['HTTP 413 from a proxy', answered({ status: 413 }), 'refused'],
    ['HTTP 302', answered({ status: 302 }), 'later'],
    ['token_revoked', failed('token_revoked'), 'credential'],
    ['missing_scope', failed('missing_scope', { needed: 'chat:write' }), 'credential'],
    ['channel_not_found', failed('channel_not_found'), 'channel'],
    ['is_archived', failed('is_archived'), 'channel'],
    ['restricted_action_read_only_channel', failed('restricted_action_read_only_channel'), 'channel'],
    ['not_in_channel', failed('not_in_channel'), 'not-in-channel'],
    ['message_not_found', failed('message_not_found'), 'no-message'],
    ['edit_window_closed', failed('edit_window_closed'), 'fixed'],
    ['cant_update_message', failed('cant_update_message'), 'fixed'],
    ['block_mismatch', failed('block_mismatch'), 'fixed'],
    ['ekm_access_denied, which can be about one channel', failed('ekm_access_denied'), 'channel'],
    ['invalid_blocks', failed('invalid_blocks'), 'refused'],
    ['an unknown code', failed('new_code'), 'refused'],
    ['a sentence instead of a code', failed('Ada Lovelace asked this'), 'refused'],
    ['no connection', { kind: 'no-answer', mayHaveArrived: false, detail: 'd' } as SlackReply, 'later'],
    ['a broken connection', { kind: 'no-answer', mayHaveArrived: true, detail: 'd' } as SlackReply, 'maybe'],
  ])('with %s is classified as %3$s', (_, reply, kind) => {
    expect(classifyReply(reply, 'chat.postMessage').kind).toBe(kind);
  });

  it('with a refusal from a proxy says nothing about a look-up', () => {
    expect(classifyReply(answered({ status: 400 }), 'conversations.history').kind).toBe('later');
  });

  it('is reported with the method, the code, the missing scope and the request id, but without other text', () => {
    const reply = failed('missing_scope', { needed: 'chat:write', response_metadata: { messages: ['Ada Lovelace'] } });
    expect(classifyReply(reply, 'chat.update')).toMatchObject({
      code: 'missing_scope',
      detail: 'Slack answered chat.update with missing_scope, needed: chat:write, request req-1',
    });
    expect(JSON.stringify(classifyReply(failed('Ada Lovelace'), 'chat.update'))).not.toContain('Ada');
  });
});

describe('the outcome of a failed request', () => {
  it.each([
    ['limited', { kind: 'limited', afterMs: 7000, detail: 'd' }, { kind: 'retry', afterMs: 7000 }],
    ['later', { kind: 'later', detail: 'd' }, { kind: 'retry' }],
    ['maybe, because a repeated edit is harmless', { kind: 'maybe', detail: 'd' }, { kind: 'retry' }],
    ['credential', { kind: 'credential', code: 'x', detail: 'd' }, { kind: 'pause', cause: 'credential' }],
    [
      'refused',
      { kind: 'refused', code: 'invalid_blocks', detail: 'd' },
      { kind: 'rejected', cause: 'slack:invalid_blocks' },
    ],
  ] as const)('for the class %s', (_, verdict, outcome) => {
    expect(outcomeOf(verdict, true)).toMatchObject(outcome);
    expect(outcomeOf(verdict, false)).toMatchObject(outcome);
  });

  it('for a dead channel is a pause if the sink has no other channel, and otherwise a rejection', () => {
    const verdict = { kind: 'channel', code: 'is_archived', detail: 'd' } as const;
    expect(outcomeOf(verdict, true)).toMatchObject({ kind: 'pause', cause: 'destination' });
    expect(outcomeOf(verdict, false)).toMatchObject({ kind: 'rejected', cause: 'slack:is_archived' });
  });
});
