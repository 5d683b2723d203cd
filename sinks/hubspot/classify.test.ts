import { classifyAnswer, problemOf } from './classify.js';

const verdictOf = (status: number, more: Partial<Parameters<typeof classifyAnswer>[0]> = {}) =>
  classifyAnswer({
    status,
    body: {},
    retryAfter: undefined,
    requestId: 'c-1',
    answeredAtMs: Date.parse('2026-11-21T09:30:00Z'),
    ...more,
  });

describe('a response from HubSpot', () => {
  it.each([200, 201, 202, 204, 207])('with HTTP %d is read record by record', (status) => {
    expect(verdictOf(status)).toEqual({ kind: 'ok', status, body: {} });
  });

  it.each([
    [423, undefined, 2000],
    [477, '90', 90_000],
    [477, undefined, 60_000],
  ])('with HTTP %d and Retry-After %s is retried after %d ms, and was not processed', (status, retryAfter, afterMs) => {
    expect(verdictOf(status, { retryAfter })).toMatchObject({
      kind: 'failed',
      processed: 'no',
      result: { kind: 'retry', afterMs },
    });
  });

  it.each([408, 500, 502, 503, 504, 521, 524, 302])(
    'with HTTP %d is retried, and may have been processed',
    (status) => {
      expect(verdictOf(status)).toMatchObject({
        kind: 'failed',
        processed: 'maybe',
        result: { kind: 'retry', detail: `HubSpot answered HTTP ${status} (correlation id c-1)` },
      });
    },
  );

  it('with HTTP 503 uses Retry-After', () => {
    expect(verdictOf(503, { retryAfter: '30' })).toMatchObject({ result: { afterMs: 30_000 } });
  });

  it('with HTTP 401 pauses the sink because of its token', () => {
    expect(verdictOf(401)).toMatchObject({ kind: 'failed', result: { kind: 'pause', cause: 'credential' } });
  });

  it('with HTTP 403 holds back the kind of record and names the missing scope', () => {
    const body = {
      category: 'MISSING_SCOPES',
      errors: [{ context: { requiredGranularScopes: ['crm.objects.contacts.write'] } }],
    };
    expect(verdictOf(403, { body })).toMatchObject({
      result: {
        kind: 'unsent',
        afterMs: 600_000,
        detail:
          'HubSpot refused (HTTP 403): the key lacks the scope crm.objects.contacts.write. Add it to the service key in HubSpot (correlation id c-1)',
      },
    });
  });

  it.each([
    ['DAILY', 'daily'],
    ['TEN_SECONDLY_ROLLING', 'short'],
    ['SECONDLY', 'short'],
    [undefined, 'short'],
  ])('with HTTP 429 and policy %s is the %s limit', (policyName, limit) => {
    const body = { errorType: 'RATE_LIMIT', policyName };
    expect(verdictOf(429, { body })).toMatchObject({ kind: 'limited', limit });
  });

  it.each([400, 404, 409, 413, 415])('with HTTP %d is a refusal of the request', (status) => {
    expect(verdictOf(status)).toMatchObject({ kind: 'refused' });
  });
});

describe('a problem reported by HubSpot', () => {
  it.each([
    [
      'from errors',
      { category: 'VALIDATION_ERROR', errors: [{ code: 'INVALID_OPTION', context: { propertyName: ['status'] } }] },
      { category: 'VALIDATION_ERROR', code: 'INVALID_OPTION', properties: ['status'] },
    ],
    [
      'from JSON inside the message',
      {
        category: 'VALIDATION_ERROR',
        message:
          'Property values were not valid: [{"message":"ada@x is invalid","error":"INVALID_EMAIL","name":"email"}]',
      },
      { category: 'VALIDATION_ERROR', code: 'INVALID_EMAIL', properties: ['email'] },
    ],
    ['from a truncated message', { message: 'Property values were not valid: [{"na' }, { code: '', properties: [] }],
    [
      'from a sub-category',
      { category: 'VALIDATION_ERROR', subCategory: 'crm.DUPLICATE_UNIQUE' },
      { code: 'DUPLICATE_UNIQUE', properties: [] },
    ],
    ['from something other than an object', 'Bad Request', { category: '', code: '', properties: [] }],
  ])('is read %s', (_, body, problem) => expect(problemOf(body)).toMatchObject(problem));

  it('contains only what has the form of a code or a name', () => {
    const body = {
      category: 'Ada Lovelace said no',
      message: 'ada@example.com is taken',
      errors: [{ code: 'ada@example.com', context: { propertyName: ['Ada Lovelace', 'e-mail'] } }],
    };
    expect(problemOf(body)).toEqual({ category: '', code: '', properties: [], missingScopes: [] });
  });
});
