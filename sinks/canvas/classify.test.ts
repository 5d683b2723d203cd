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

describe("Canvas' answer", () => {
  it.each<[string, CanvasAnswer, object]>([
    ['200', answer(200), { kind: 'ok' }],
    ['404 in JSON', answer(404), { kind: 'not-found' }],
    ['404 as a page', answer(404, { body: undefined }), { kind: 'failed', result: { kind: 'retry' } }],
    [
      '401 to a token',
      answer(401, { body: { errors: [{ message: 'Invalid access token.' }] } }),
      { kind: 'failed', result: { kind: 'pause', cause: 'credential' } },
    ],
    ['401 without a token', answer(401, { body: { status: 'unauthenticated' } }), { result: { kind: 'pause' } }],
    ['401 to a user without a right', answer(401, { body: { status: 'unauthorized' } }), { kind: 'forbidden' }],
    ['403', answer(403), { kind: 'forbidden' }],
    [
      '403 for being asked too much',
      answer(403, { body: undefined, text: '403 Forbidden (Rate Limit Exceeded)' }),
      { kind: 'throttled', afterMs: 15_000 },
    ],
    ['429 with a wait', answer(429, { retryAfter: '7' }), { kind: 'throttled', afterMs: 7_000 }],
    ['400', answer(400), { kind: 'refused' }],
    ['422', answer(422), { kind: 'refused' }],
    ['413 as a page', answer(413, { body: undefined }), { kind: 'refused' }],
    ['405 as a page', answer(405, { body: undefined }), { kind: 'failed', result: { kind: 'retry' } }],
    ['500', answer(500), { kind: 'failed', processed: 'maybe', result: { kind: 'retry' } }],
    ['503 as a page', answer(503, { body: undefined }), { kind: 'failed', result: { kind: 'retry' } }],
    ['a page with 200', answer(200, { body: undefined }), { kind: 'failed', result: { kind: 'retry' } }],
    ['a redirect', answer(302), { kind: 'failed', result: { kind: 'retry' } }],
  ])('%s is judged by what it means', (_, given, expected) => expect(classifyAnswer(given)).toMatchObject(expected));

  it.each([
    [undefined, 0],
    ['700.0', 0],
    ['200', 0],
    ['150.5', 4_950],
    ['0', 20_000],
    ['-3', 0],
    ['many', 0],
  ])('with %s units left holds back %d ms', (header, waitMs) => expect(holdBackMs(header)).toBe(waitMs));
});
