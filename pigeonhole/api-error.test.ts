import { ApiError } from './api-error.js';

const call = { method: 'GET', path: '/v2/pigeonholes' } as const;

describe('the message of a failed request', () => {
  it('names code, status and request id of an answer', () => {
    const facts = {
      kind: 'credential',
      problem: 'the service refused the API key',
      mayHaveTakenEffect: false,
    } as const;
    const error = new ApiError(call, { ...facts, code: 4501, status: 401, requestId: 'r1' });
    expect(error.message).toBe(
      'GET /v2/pigeonholes: the service refused the API key (code 4501, HTTP 401, request r1); check the API key of this workspace.',
    );
  });

  it('says which of them an answer lacks', () => {
    const facts = { kind: 'transient', problem: 'a proxy answered', mayHaveTakenEffect: true } as const;
    expect(new ApiError(call, { ...facts, status: 502 }).message).toContain('(no code, HTTP 502, no request id)');
  });

  it('names none of them without an answer', () => {
    const problem = 'the connection could not be opened (ECONNREFUSED)';
    expect(new ApiError(call, { kind: 'transient', problem, mayHaveTakenEffect: false }).message).toBe(
      'GET /v2/pigeonholes: the connection could not be opened (ECONNREFUSED); the same request may succeed later.',
    );
  });
});
