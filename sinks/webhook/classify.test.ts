import { classifyAnswer } from './classify.js';

const answeredAtMs = Date.parse('2026-11-21T09:30:00Z');
const outcomeOf = (status: number, retryAfter?: string) => classifyAnswer({ status, retryAfter, answeredAtMs });

describe('a response from a receiver', () => {
  it.each([200, 201, 202, 204, 299])('with HTTP %d means delivered', (status) => {
    expect(outcomeOf(status)).toEqual({ kind: 'delivered', detail: `HTTP ${status}` });
  });

  it.each([301, 302, 307, 308, 401, 403, 404, 405, 407, 408, 425, 500, 502, 504, 599])(
    'with HTTP %d is retried',
    (status) => {
      expect(outcomeOf(status)).toEqual({ kind: 'retry', detail: expect.stringContaining(`HTTP ${status}`) });
    },
  );

  it.each([429, 503])('with HTTP %d is retried after the time in Retry-After', (status) => {
    expect(outcomeOf(status, '30')).toMatchObject({ kind: 'retry', afterMs: 30_000 });
    expect(outcomeOf(status, 'Sat, 21 Nov 2026 09:30:10 GMT')).toMatchObject({ kind: 'retry', afterMs: 10_000 });
    expect(outcomeOf(status)).not.toHaveProperty('afterMs');
    expect(outcomeOf(status, 'soon')).not.toHaveProperty('afterMs');
  });

  it('with HTTP 410 pauses the sink', () => expect(outcomeOf(410)).toMatchObject({ kind: 'pause', cause: 'gone' }));

  it.each([400, 409, 413, 422, 451])(
    'with HTTP %d rejects the change, with a cause that contains the status',
    (status) => {
      expect(outcomeOf(status)).toMatchObject({ kind: 'rejected', cause: `http:${status}` });
    },
  );
});
