import { type RawAnswer, readAnswer } from './answer.js';
import { ApiError, type ApiErrorKind, errorKinds } from './api-error.js';

const call = { method: 'GET', path: '/v2/pigeonholes/101/votes' } as const;

function raw(status: number, body: string, headers: Record<string, string> = {}): RawAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json', 'x-request-id': 'req-7', ...headers },
    body: Buffer.from(body),
    requestedAt: 1000,
    answeredAt: 2000,
  };
}

function failureOf(answer: RawAnswer): ApiError {
  try {
    readAnswer(call, answer);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('the answer was taken for a success');
}

describe('an error code in the body', () => {
  const table: [string, number, ApiErrorKind][] = [
    ['invalidFormatOrValue', 4500, 'invalid'],
    ['authenticationFailed', 4501, 'credential'],
    ['notFound', 4502, 'notFound'],
    ['workspaceNotFound', 4503, 'notFound'],
    ['pigeonholeNotFound', 4504, 'pigeonholeNotFound'],
    ['subscriptionNotFound', 4505, 'notFound'],
    ['profileFieldNotFound', 4506, 'notFound'],
    ['registrantsNotAvailable', 4507, 'registrantsOff'],
    ['attendeeProfilesNotAvailable', 4508, 'profilesOff'],
    ['sessionNotFound', 4509, 'sessionNotFound'],
    ['registrantNotFound', 4510, 'notFound'],
    ['oneTimeTokenNotFound', 4511, 'notFound'],
    ['speakerNotFound', 4512, 'notFound'],
    ['internalServerError', 5000, 'transient'],
    ['invalidParameterValue', 6000, 'invalidParameter'],
    ['malformedRequest', 7001, 'malformed'],
    ['requestExceededLimit', 8000, 'quota'],
    ['unsupportedFeature', 9000, 'unsupported'],
  ];

  it('is in this table for every code of the specification', () => {
    expect(table.map(([, code]) => code)).toEqual([...errorKinds.keys()]);
    expect(table).toHaveLength(18);
  });

  it.each(table)('%s, %i, means %s under any HTTP status', (_name, code, kind) => {
    for (const status of [200, 400, 401, 404, 418, 429, 500, 503]) {
      const error = failureOf(raw(status, JSON.stringify({ code, message: 'text' })));
      expect(error).toMatchObject({ kind, code, status, requestId: 'req-7' });
      expect(error.message).toContain(`GET /v2/pigeonholes/101/votes`);
      expect(error.message).toContain(`code ${code}, HTTP ${status}, request req-7`);
    }
  });

  it('leaves it open whether the call took effect only for a server error', () => {
    for (const [, code] of table) {
      expect(failureOf(raw(400, JSON.stringify({ code }))).mayHaveTakenEffect).toBe(code === 5000);
    }
  });

  it('exposes the rejected fields of a validation error, but not in logs', () => {
    const body = {
      code: 4500,
      message: 'Invalid',
      errors: [{ field: 'data.3.Name', message: 'Ann is too short' }, 'odd'],
    };
    const error = failureOf(raw(422, JSON.stringify(body)));
    expect(error.fieldErrors).toEqual([{ field: 'data.3.Name', message: 'Ann is too short' }]);
    expect(JSON.stringify(error) + error.message).not.toContain('Ann');
  });

  it('that is not in the specification is judged by its status, and a 404 then counts as an answer of the service', () => {
    const kindsByStatus = [404, 422, 429, 500, 200].map((status) => failureOf(raw(status, '{"code":4599}')).kind);
    expect(kindsByStatus).toEqual(['notFound', 'invalid', 'quota', 'transient', 'protocol']);
  });
});

describe('an error without a code', () => {
  const table: [status: number, kind: ApiErrorKind][] = [
    [302, 'protocol'],
    [307, 'protocol'],
    [400, 'malformed'],
    [401, 'credential'],
    [403, 'transient'],
    [404, 'transient'],
    [405, 'unsupported'],
    [408, 'transient'],
    [410, 'transient'],
    [413, 'invalid'],
    [422, 'invalid'],
    [429, 'quota'],
    [500, 'transient'],
    [502, 'transient'],
    [503, 'throttled'],
    [504, 'transient'],
  ];

  it.each(table)('and with status %i is %s, as text', (status, kind) => {
    expect(failureOf(raw(status, 'Service Unavailable', { 'content-type': 'text/plain' }))).toMatchObject({
      kind,
      code: null,
    });
  });

  it('is transient for a 503 in JSON, because the service throttles with plain text', () => {
    expect(failureOf(raw(503, '{"message":"x"}')).kind).toBe('transient');
  });

  it.each(['{"code":"4504"}', '{"code":45040}', '{"code":4504', '[4504]', 'null'])(
    'does not accept %s as an error code',
    (body) => {
      expect(failureOf(raw(404, body))).toMatchObject({ kind: 'transient', code: null });
    },
  );

  it('ignores a code in a body that is not declared as JSON', () => {
    expect(failureOf(raw(404, '{"code":4504}', { 'content-type': 'text/html' })).kind).toBe('transient');
  });
});

describe('a success', () => {
  it('returns the parsed body, its size and the quota', () => {
    const answer = readAnswer(call, raw(200, '{"data":["é"]}', { 'x-ratelimit-remaining': '9' }));
    expect(answer).toEqual({
      status: 200,
      body: { data: ['é'] },
      requestId: 'req-7',
      requestedAt: 1000,
      quota: { limit: null, remaining: 9, resetInMs: null, resetAtMs: null },
      bytes: 15,
      // printf '["é"]' | sha256sum
      digest: '0b657be394b1d432f8d1942406ed09c213604cbcd87b299641cf994bcaf84b11',
    });
  });

  it('has a digest of the bytes of its data, not of their meaning', () => {
    const digestOf = (body: string) => readAnswer(call, raw(200, body)).digest;
    expect(digestOf('{"data":[1]}')).toBe(digestOf('{"data":[1]}'));
    expect(digestOf('{"data":[1 ]}')).not.toBe(digestOf('{"data":[1]}'));
  });

  it('has the same digest with another cursor, and a different one with other data', () => {
    const digestOf = (data: string, cursor: string) =>
      readAnswer(
        call,
        raw(200, `{"data":${data},"links":{"next":"?cursor=${cursor}"},"meta":{"nextCursor":"${cursor}"}}`),
      ).digest;
    expect(digestOf('[{"id":1}]', 'a')).toBe(digestOf('[{"id":1}]', 'b'));
    expect(digestOf('[{"id":1}]', 'a')).not.toBe(digestOf('[{"id":2}]', 'a'));
  });

  it('may be empty, whatever its type', () => {
    expect(readAnswer(call, raw(204, '', { 'content-type': 'text/html' })).body).toBeUndefined();
  });

  it('may have a field named code next to its data', () => {
    expect(readAnswer(call, raw(200, '{"data":{},"code":4504}')).status).toBe(200);
  });

  it('of another type breaks the contract', () => {
    const error = failureOf(raw(200, '<p>Ann</p>', { 'content-type': 'text/html; charset=utf-8' }));
    expect(error).toMatchObject({ kind: 'protocol', mayHaveTakenEffect: true });
    expect(error.message).toContain('text/html');
    expect(error.message).not.toContain('Ann');
  });

  it('that is compressed without a request for it breaks the contract', () => {
    expect(failureOf(raw(200, '{"data":[]}', { 'content-encoding': 'gzip' })).kind).toBe('protocol');
  });

  it('that is truncated is transient and quotes none of its text', () => {
    const error = failureOf(raw(200, '{"data":[{"Name":"Ann'));
    expect(error).toMatchObject({ kind: 'transient', mayHaveTakenEffect: true });
    expect(error.cause).toBeUndefined();
    expect(`${error.stack}${JSON.stringify(error)}`).not.toContain('Ann');
  });
});

describe('the request id', () => {
  it('is left out if it is not a plain token', () => {
    expect(failureOf(raw(500, '', { 'x-request-id': 'a b; c' })).requestId).toBeNull();
  });
});
