import { classifyAnswer, holdBackMs, type CanvasAnswer } from './classify.js';

const answer = (status: number, more: Partial<CanvasAnswer> = {}): CanvasAnswer => ({
  status,
  body: {},
  text: '{}',
  retryAfter: undefined,
  requestId: undefined,
  answeredAtMs: 0,
  ...more,
});

describe('a response from Canvas', () => {
  it.each<[string, CanvasAnswer, object]>([
    ['200', answer(200), { kind: 'ok' }],
    ['404 with JSON', answer(404), { kind: 'not-found' }],
    ['404 with a page', answer(404, { body: undefined }), { kind: 'failed', result: { kind: 'retry' } }],
    [
      '401 for a token',
      answer(401, { body: { errors: [{ message: 'Invalid access token.' }] } }),
      { kind: 'failed', result: { kind: 'pause', cause: 'credential' } },
    ],
    ['401 without a token', answer(401, { body: { status: 'unauthenticated' } }), { result: { kind: 'pause' } }],
    ['401 for a user without permission', answer(401, { body: { status: 'unauthorized' } }), { kind: 'forbidden' }],
    ['403', answer(403), { kind: 'forbidden' }],
    [
      '403 for too many requests',
      answer(403, { body: undefined, text: '403 Forbidden (Rate Limit Exceeded)' }),
      { kind: 'throttled', afterMs: 15_000 },
    ],
    ['429 with a wait', answer(429, { retryAfter: '7' }), { kind: 'throttled', afterMs: 7_000 }],
    ['400', answer(400), { kind: 'refused' }],
    ['422', answer(422), { kind: 'refused' }],
    ['413 with a page', answer(413, { body: undefined }), { kind: 'refused' }],
    ['405 with a page', answer(405, { body: undefined }), { kind: 'failed', result: { kind: 'retry' } }],
    ['500', answer(500), { kind: 'failed', processed: 'maybe', result: { kind: 'retry' } }],
    ['503 with a page', answer(503, { body: undefined }), { kind: 'failed', result: { kind: 'retry' } }],
    ['200 with a page', answer(200, { body: undefined }), { kind: 'failed', result: { kind: 'retry' } }],
    ['a redirect', answer(302), { kind: 'failed', result: { kind: 'retry' } }],
  ])('with %s has the expected outcome', (_, given, expected) => expect(classifyAnswer(given)).toMatchObject(expected));

  it.each([
    [undefined, 0],
    ['700.0', 0],
    ['200', 0],
    ['150.5', 4_950],
    ['0', 20_000],
    ['-3', 0],
    ['many', 0],
  ])('with %s units left delays the next request by %d ms', (header, waitMs) =>
    expect(holdBackMs(header)).toBe(waitMs),
  );
});
