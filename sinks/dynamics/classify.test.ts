import { classifyAnswer } from './classify.js';

const answer = (status: number, code?: string, retryAfter?: string) => ({
  status,
  body: code === undefined ? undefined : { error: { code, message: 'the value ada@example.com is refused' } },
  retryAfter,
  requestId: 'r-1',
  answeredAtMs: 0,
});

describe('an answer of Dynamics', () => {
  it.each([
    [answer(204), { kind: 'ok' }],
    [answer(401), { kind: 'token-refused' }],
    [answer(403, '0x80040220'), { kind: 'failed', processed: 'no', result: { kind: 'pause', cause: 'credential' } }],
    [answer(404, '0x80040217'), { kind: 'missing' }],
    [answer(404, '0x8006088a'), { kind: 'failed', processed: 'no', result: { kind: 'retry' } }],
    [answer(404), { kind: 'failed', processed: 'no', result: { kind: 'retry' } }],
    [answer(412, '0x80060882'), { kind: 'exists' }],
    [answer(429, '0x80072322', '20'), { kind: 'failed', processed: 'no', result: { kind: 'retry', afterMs: 20_000 } }],
    [answer(408), { kind: 'failed', processed: 'maybe', result: { kind: 'retry' } }],
    [answer(503), { kind: 'failed', processed: 'maybe', result: { kind: 'retry' } }],
    [answer(302), { kind: 'failed', processed: 'maybe', result: { kind: 'retry' } }],
    [answer(400, '0x80044331'), { kind: 'refused', result: { kind: 'rejected', cause: 'dynamics:0x80044331' } }],
    [answer(400, 'says ada@example.com'), { kind: 'refused', result: { cause: 'dynamics:http-400' } }],
  ])('%j means %j', (given, meaning) => {
    const reply = classifyAnswer(given);
    expect(reply).toMatchObject(meaning);
    expect(JSON.stringify(reply)).not.toContain('ada@');
  });
});
