import fc from 'fast-check';
import { readQuota, readRetryAfterMs, dataSpan } from './response.js';

const date = 'Sat, 21 Nov 2026 09:30:00 GMT';
const serviceMs = Date.parse(date);

describe('the quota headers', () => {
  it('give the limit, the remaining requests and the reset', () => {
    const headers = {
      date,
      'x-ratelimit-limit': '5000',
      'x-ratelimit-remaining': '12',
      'x-ratelimit-reset': String(serviceMs / 1000 + 60),
    };
    expect(readQuota(headers, serviceMs)).toEqual({
      limit: 5000,
      remaining: 12,
      resetInMs: 60_000,
      resetAtMs: serviceMs + 60_000,
    });
  });

  it('give the reset by the service’s clock, so that the local clock may be wrong by an hour', () => {
    const nowMs = serviceMs + 3_600_000;
    const headers = { date, 'x-ratelimit-reset': String(serviceMs / 1000 + 60) };
    expect(readQuota(headers, nowMs)?.resetAtMs).toBe(nowMs + 60_000);
  });

  it('give no wait for a reset that has just passed', () => {
    const headers = { date, 'x-ratelimit-reset': String(serviceMs / 1000 - 60) };
    expect(readQuota(headers, 5)).toMatchObject({ resetInMs: 0, resetAtMs: 5 });
  });

  it.each([
    ['a number of seconds', '60'],
    ['an instant in milliseconds', String(serviceMs + 60_000)],
    ['a year from now', String(serviceMs / 1000 + 365 * 86_400)],
    ['the largest number', '9'.repeat(30)],
  ])('give no reset if it is %s, because it cannot be the end of a window', (_, value) => {
    const headers = { date, 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': value };
    expect(readQuota(headers, serviceMs)).toMatchObject({ remaining: 0, resetInMs: null, resetAtMs: null });
  });

  it.each(['2147483647', '4294967295', '9223372036854775807'])(
    'give %s as a number that the store can add to',
    (value) => {
      const headers = { 'x-ratelimit-limit': value, 'x-ratelimit-remaining': value };
      expect(readQuota(headers, 0)).toMatchObject({ limit: 1_000_000_000, remaining: 1_000_000_000 });
    },
  );

  it('give the reset by the local clock if the answer has no date', () => {
    expect(readQuota({ 'x-ratelimit-reset': String(serviceMs / 1000 + 60) }, serviceMs)?.resetInMs).toBe(60_000);
  });

  it('are null together if all are missing, and one by one if one is malformed', () => {
    expect(readQuota({}, 0)).toBeNull();
    expect(readQuota({ 'x-ratelimit-limit': '-1', 'x-ratelimit-remaining': '3' }, 0)).toEqual({
      limit: null,
      remaining: 3,
      resetInMs: null,
      resetAtMs: null,
    });
  });

  it('are read from the first of repeated headers', () => {
    expect(readQuota({ 'x-ratelimit-remaining': ['3', '4'] }, 0)?.remaining).toBe(3);
  });
});

describe('Retry-After', () => {
  it('is read as seconds', () => {
    expect(readRetryAfterMs({ 'retry-after': '7' }, 0)).toBe(7000);
  });

  it('is read as a date relative to the service’s own date', () => {
    expect(readRetryAfterMs({ date, 'retry-after': 'Sat, 21 Nov 2026 09:30:09 GMT' }, 0)).toBe(9000);
  });

  it('is a wait of a second if its date has passed, so that requests never follow without a pause', () => {
    expect(readRetryAfterMs({ date, 'retry-after': 'Sat, 21 Nov 2026 09:00:00 GMT' }, 0)).toBe(1000);
  });

  it.each(['999999999', 'Fri, 31 Dec 9999 23:59:59 GMT'])('is a day at most, for %p', (value) => {
    expect(readRetryAfterMs({ date, 'retry-after': value }, 0)).toBe(86_400_000);
  });

  it.each([undefined, '', 'soon', '-5'])('is undefined for %p', (value) => {
    expect(readRetryAfterMs({ 'retry-after': value }, 0)).toBeUndefined();
  });
});

const spanOf = (text: string): string | undefined => {
  const span = dataSpan(Buffer.from(text));
  return span === undefined ? undefined : Buffer.from(span).toString();
};

describe('the bytes of data', () => {
  it.each([
    ['{"data":[1,2],"meta":{"nextCursor":"a"}}', '[1,2]'],
    ['{"meta":{"data":[0],"nextCursor":"}\\""},"data":[{"a":"]}\\\\"}],"links":{}}', '[{"a":"]}\\\\"}]'],
    ['\uFEFF{ "links" : {} , "data" :[ 1 ] }', '[ 1 ] '],
    ['{"a":1,"data":2}', '2'],
    ['{"data":1,"data":[3]}', '[3]'],
  ])('of %s are %s', (text, span) => {
    expect(spanOf(text)).toBe(span);
  });

  it.each(['{}', '[]', '"data"', 'null', '{"meta":{"data":[]}}', '{"d\\u0061ta":[1],"data":[2]}'])(
    'cannot be found in %s',
    (text) => {
      expect(spanOf(text)).toBeUndefined();
    },
  );

  it('are those that a parser finds in any object', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true });
    const property = fc.property(object, fc.jsonValue(), fc.nat(3), (around, data, indent) => {
      const members = Object.entries(around).filter(([name]) => name !== 'data');
      const half = Math.floor(members.length / 2);
      const whole = Object.fromEntries([...members.slice(0, half), ['data', data], ...members.slice(half)]);
      const span = spanOf(JSON.stringify(whole, null, indent));
      if (span === undefined) return members.some(([name]) => JSON.stringify(name).includes('\\'));
      return JSON.stringify(JSON.parse(span)) === JSON.stringify(data);
    });
    fc.assert(property, { numRuns: 300 });
  });
});
