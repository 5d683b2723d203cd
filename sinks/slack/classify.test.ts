import type { SlackReply } from './client.js';
import { classifyReply, outcomeOf } from './classify.js';

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

describe("Slack's answer", () => {
  it.each([
    ['ok', answered({ body: { ok: true } }), 'ok'],
    ['HTTP 429', answered({ status: 429, retryAfterMs: 7000 }), 'limited'],
    ['ratelimited without HTTP 429', failed('ratelimited'), 'limited'],
    ['rate_limited', failed('rate_limited'), 'limited'],
    ['service_unavailable', failed('service_unavailable'), 'later'],
    ['request_timeout, which says that it did not arrive whole', failed('request_timeout'), 'later'],
    ['internal_error, which may have half happened', failed('internal_error'), 'maybe'],
    ['fatal_error, which may have half happened', failed('fatal_error'), 'maybe'],
    ['HTTP 502 by something before it', answered({ status: 502 }), 'maybe'],
    ['HTTP 200 that cannot be read', answered({}), 'maybe'],
    ['HTTP 404 by something before it', answered({ status: 404 }), 'later'],
    ['HTTP 413 by something before it', answered({ status: 413 }), 'refused'],
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
    ['invalid_blocks', failed('invalid_blocks'), 'refused'],
    ['a code that nobody has heard of', failed('new_code'), 'refused'],
    ['a sentence for a code', failed('Ada Lovelace asked this'), 'refused'],
    ['no connection', { kind: 'no-answer', mayHaveArrived: false, detail: 'd' } as SlackReply, 'later'],
    ['a connection that broke', { kind: 'no-answer', mayHaveArrived: true, detail: 'd' } as SlackReply, 'maybe'],
  ])('%s is %3$s', (_, reply, kind) => {
    expect(classifyReply(reply, 'chat.postMessage').kind).toBe(kind);
  });

  it('that a proxy refuses says nothing about a look-up', () => {
    expect(classifyReply(answered({ status: 400 }), 'conversations.history').kind).toBe('later');
  });

  it('is reported with the method, the code, the missing scope and the request id, but without its own text', () => {
    const reply = failed('missing_scope', { needed: 'chat:write', response_metadata: { messages: ['Ada Lovelace'] } });
    expect(classifyReply(reply, 'chat.update')).toMatchObject({
      code: 'missing_scope',
      detail: 'Slack answered chat.update with missing_scope, needed: chat:write, request req-1',
    });
    expect(JSON.stringify(classifyReply(failed('Ada Lovelace'), 'chat.update'))).not.toContain('Ada');
  });
});

describe('what a failed call means for a change', () => {
  it.each([
    ['limited', { kind: 'limited', afterMs: 7000, detail: 'd' }, { kind: 'retry', afterMs: 7000 }],
    ['later', { kind: 'later', detail: 'd' }, { kind: 'retry' }],
    ['maybe, since repeating an edit does no harm', { kind: 'maybe', detail: 'd' }, { kind: 'retry' }],
    ['credential', { kind: 'credential', code: 'x', detail: 'd' }, { kind: 'pause', cause: 'credential' }],
    [
      'refused',
      { kind: 'refused', code: 'invalid_blocks', detail: 'd' },
      { kind: 'rejected', cause: 'slack:invalid_blocks' },
    ],
  ] as const)('%s', (_, verdict, outcome) => {
    expect(outcomeOf(verdict, true)).toMatchObject(outcome);
    expect(outcomeOf(verdict, false)).toMatchObject(outcome);
  });

  it('a dead channel stops a sink that has no other; beside others, its changes are rejected', () => {
    const verdict = { kind: 'channel', code: 'is_archived', detail: 'd' } as const;
    expect(outcomeOf(verdict, true)).toMatchObject({ kind: 'pause', cause: 'destination' });
    expect(outcomeOf(verdict, false)).toMatchObject({ kind: 'rejected', cause: 'slack:is_archived' });
  });
});
