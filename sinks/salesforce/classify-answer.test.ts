import { classifyAnswer, type Answer } from './classify-answer.js';

const answer = (status: number, code?: string, more: Partial<Answer> = {}): Answer => ({
  status,
  body: code === undefined ? undefined : [{ errorCode: code, message: 'quotes ada@example.com', fields: ['Email'] }],
  answeredAtMs: Date.parse('2026-11-21T10:00:00Z'),
  requestId: 'r1',
  ...more,
});

describe('an answer of Salesforce', () => {
  it.each([
    ['200 with JSON', answer(200, undefined, { body: [] }), { kind: 'answered' }],
    ['204', answer(204), { kind: 'answered' }],
    ['200 with a page', answer(200), { kind: 'failed', result: { kind: 'retry' } }],
    ['401', answer(401, 'INVALID_SESSION_ID'), { kind: 'session-ended' }],
    [
      '403 for the user',
      answer(403, 'API_DISABLED_FOR_ORG'),
      { kind: 'failed', result: { kind: 'pause', cause: 'credential' } },
    ],
    ['403 for the day', answer(403, 'REQUEST_LIMIT_EXCEEDED'), { kind: 'limited', afterMs: 3_600_000 }],
    [
      '403 for the day that says when',
      answer(403, 'REQUEST_LIMIT_EXCEEDED', { retryAfter: '600' }),
      { kind: 'limited', afterMs: 600_000 },
    ],
    [
      '403 for too many at once',
      answer(403, undefined, {
        body: [{ errorCode: 'REQUEST_LIMIT_EXCEEDED', message: 'ConcurrentPerOrgLongTxn Limit exceeded.' }],
      }),
      { kind: 'limited', afterMs: 10_000 },
    ],
    ['400', answer(400, 'JSON_PARSER_ERROR'), { kind: 'refused', code: 'JSON_PARSER_ERROR', fields: ['Email'] }],
    ['400 for a held row', answer(400, 'UNABLE_TO_LOCK_ROW'), { kind: 'failed', result: { kind: 'retry' } }],
    ['400 with a page', answer(400), { kind: 'refused', code: 'HTTP_400' }],
    ['404', answer(404, 'NOT_FOUND'), { kind: 'failed', result: { kind: 'retry' } }],
    ['302', answer(302), { kind: 'failed', result: { kind: 'retry' } }],
    ['500', answer(500, 'UNKNOWN_EXCEPTION'), { kind: 'failed', result: { kind: 'retry' } }],
    ['503', answer(503), { kind: 'failed', result: { kind: 'retry', afterMs: 30_000 } }],
    [
      '503 that says when',
      answer(503, undefined, { retryAfter: '120' }),
      { kind: 'failed', result: { kind: 'retry', afterMs: 120_000 } },
    ],
  ])('%s means what it should', (_, given, expected) => {
    const meaning = classifyAnswer(given);
    expect(meaning).toMatchObject(expected);
    expect(JSON.stringify(meaning)).not.toContain('ada@');
  });

  it('is told with the id of its request', () => {
    expect(classifyAnswer(answer(500))).toMatchObject({ result: { detail: expect.stringContaining('request r1') } });
  });
});
