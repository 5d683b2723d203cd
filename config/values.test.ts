import * as fc from 'fast-check';
import type { z } from 'zod';
import { Secret } from './secret.js';
import {
  baseUrl,
  day,
  duration,
  filePath,
  folder,
  formatDuration,
  identifier,
  interval,
  listOf,
  name,
  nonEmptyText,
  oneOf,
  parseDurationMs,
  percent,
  serviceUrl,
  regularExpression,
  secret,
  wholeNumber,
} from './values.js';
import { isLoopback } from '../base/loopback.js';
import { randomBytes } from 'node:crypto';
import { isGuessable } from './schema/process.js';

function messageOf(schema: z.ZodType, found: unknown): string | undefined {
  return schema.safeParse(found).error?.issues[0]?.message;
}

describe('a duration', () => {
  it.each([
    ['500ms', 500],
    ['5s', 5_000],
    ['30m', 1_800_000],
    ['6h', 21_600_000],
    ['400d', 34_560_000_000],
  ])('%s means %d ms', (written, durationMs) => {
    expect(duration().parse(written)).toBe(durationMs);
  });

  it.each([
    '5x',
    '5',
    '',
    's',
    '1.5h',
    '-5s',
    '5 s',
    '5S',
    '1h30m',
    '٥s',
    '99999999999999999s',
    '999999999999999d',
    5,
    null,
  ])('cannot be %j', (found) => {
    expect(messageOf(duration(), found)).toBe('allowed: a duration such as 5s, 30m, 6h');
  });

  it('keeps its length when it is formatted and parsed', () => {
    const lengths = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
    fc.assert(fc.property(lengths, (durationMs) => parseDurationMs(formatDuration(durationMs)) === durationMs));
  });

  it('is formatted with the largest unit that fits', () => {
    const unit = fc.constantFrom(
      ...([
        ['ms', 1, 1000],
        ['s', 1_000, 60],
        ['m', 60_000, 60],
        ['h', 3_600_000, 24],
      ] as const),
    );
    const count = fc.integer({ min: 1, max: 999 });
    fc.assert(
      fc.property(unit, count, ([letters, lengthMs, perNext], times) => {
        fc.pre(times % perNext !== 0);
        return formatDuration(times * lengthMs) === `${times}${letters}`;
      }),
    );
  });

  it('is accepted only within its range', () => {
    const range = fc.tuple(
      fc.integer({ min: 1, max: 1e9 }),
      fc.integer({ min: 0, max: 1e9 }),
      fc.integer({ min: 0, max: 3e9 }),
    );
    fc.assert(
      fc.property(range, ([minMs, more, foundMs]) => {
        const schema = duration({ minMs, maxMs: minMs + more });
        return schema.safeParse(`${foundMs}ms`).success === (foundMs >= minMs && foundMs <= minMs + more);
      }),
    );
  });
});

describe('an interval', () => {
  it.each(['1s', '30d'])('can be %s', (written) => {
    expect(interval().safeParse(written).success).toBe(true);
  });

  it.each(['999ms', '0s', '31d'])('cannot be %s', (written) => {
    expect(messageOf(interval(), written)).toBe('allowed: a duration from 1s to 30d');
  });
});

describe('a percentage', () => {
  it.each([
    ['0%', 0],
    ['5%', 0.05],
    ['0.5%', 0.005],
    ['100%', 1],
  ])('%s means %d', (written, share) => {
    expect(percent().parse(written)).toBeCloseTo(share, 12);
  });

  it.each(['101%', '5', '-1%', '%', '5 %', 0.05])('cannot be %j', (found) => {
    expect(messageOf(percent(), found)).toBe('allowed: a percentage from 0% to 100%, such as 5%');
  });
});

describe('a key that requires a secret', () => {
  it('accepts a secret unchanged', () => {
    const found = new Secret('hunter2');
    expect(secret().parse(found)).toBe(found);
  });

  it.each(['hunter2', 42, true])('refuses the literal %j without repeating it', (found) => {
    expect(messageOf(secret(), found)).toBe(
      'a secret must not be in this file: put it into an environment variable and write ${NAME} here, or into a file and write ${file:/path}',
    );
  });

  it('describes the allowed forms if it is missing', () => {
    expect(messageOf(secret(), undefined)).toBe('allowed: a secret, written as ${NAME} or ${file:/path}');
  });
});

describe('a base address', () => {
  it.each([
    ['https://engagement.example.com', 'https://engagement.example.com'],
    ['https://engagement.example.com/', 'https://engagement.example.com'],
    ['https://example.com:8443/engagement//', 'https://example.com:8443/engagement'],
    ['http://127.0.0.1:9000', 'http://127.0.0.1:9000'],
    ['http://localhost:9000/', 'http://localhost:9000'],
    ['http://[::1]:9000', 'http://[::1]:9000'],
  ])('%s is accepted as %s', (written, taken) => {
    expect(baseUrl().parse(written)).toBe(taken);
  });

  it.each([
    'http://engagement.example.com',
    'http://localhost.example.com',
    'http://127.example.com',
    'ftp://engagement.example.com',
    'https://user:word@engagement.example.com',
    'https://engagement.example.com?a=b',
    'https://engagement.example.com/?',
    'https://engagement.example.com#a',
    'engagement.example.com',
    '',
  ])('cannot be %j', (written) => {
    expect(messageOf(baseUrl(), written)).toBe(
      'allowed: an https address such as https://engagement.example.com (http only for loopback), without user, query or fragment',
    );
  });
});

describe('another value', () => {
  it.each([
    ['a name', name(), ['acme', 'a', '2026', 'a-b-c', 'a'.repeat(63)]],
    ['a folder', folder(), ['./archive', '/var/lib/a b']],
    ['a file', filePath(), ['/etc/ssl/own-ca.pem']],
    ['a text', nonEmptyText(), ['x']],
    ['a word', oneOf(['keep', 'forget']), ['forget']],
    ['a whole number', wholeNumber({ min: 0, max: 65_535 }), [0, 65_535]],
    ['an id', identifier(), [1, Number.MAX_SAFE_INTEGER]],
    ['a day', day(), ['2026-01-01', '2024-02-29']],
    ['a regular expression', regularExpression(), ['^ACME ', 'a|b']],
    ['a list', listOf(identifier(), { allowed: 'ids' }), [[1, 2]]],
    ['a list that may be empty', listOf(identifier(), { allowed: 'ids', atLeast: 0 }), [[]]],
  ])('%s is accepted unchanged', (_, schema: z.ZodType, values: unknown[]) => {
    for (const value of values) expect(schema.parse(value)).toEqual(value);
  });

  it.each([
    ['a name', name(), ['', 'Acme', 'a_b', '-a', 'a-', 'a.b', 'a'.repeat(64), 'ä']],
    ['a folder', folder(), ['', ' ', 'a\0b', 1]],
    ['a file', filePath(), ['', 'a\0b']],
    ['a text', nonEmptyText(), ['', ' \n', 1]],
    ['a word', oneOf(['keep', 'forget']), ['Keep', 'all', 1]],
    ['a whole number', wholeNumber({ min: 0, max: 65_535 }), [-1, 65_536, 1.5, '80', Number.NaN]],
    ['an id', identifier(), [0, -1, 1.5, '1', 2 ** 53]],
    ['a day', day(), ['2026-02-30', '2026-13-01', '2025-02-29', '2026-1-1', '01.02.2026', '2026-01-01T00:00:00Z']],
    ['a regular expression', regularExpression(), ['(', '[a', '']],
    ['a list', listOf(identifier(), { allowed: 'ids' }), [[], [1, 1], 1]],
  ])('%s must have the right form', (_, schema: z.ZodType, values: unknown[]) => {
    for (const value of values)
      expect([value, messageOf(schema, value)]).toEqual([value, expect.stringContaining('allowed: ')]);
  });
});

describe('the address of the API', () => {
  it.each(['', '/', '/v2', '/v2/'])('is the same if it ends in "%s"', (end) => {
    expect(serviceUrl().parse(`https://engagement.example.com/events${end}`)).toBe(
      'https://engagement.example.com/events',
    );
  });
});

describe('a token', () => {
  it.each([
    '1',
    'secret',
    '12345678901234567890123',
    'a'.repeat(40),
    'abcabcabcabcabcabcabcabcabc',
    'passwordpasswordpassword',
    '1234567890'.repeat(4),
  ])('%s is rejected as easy to guess', (token) => {
    expect(isGuessable(token)).toBe(true);
  });

  it.each(['hex', 'base64url'] as const)('of random bytes as %s is accepted', (form) => {
    for (let n = 0; n < 200; n += 1) expect(isGuessable(randomBytes(18).toString(form))).toBe(false);
  });
});

describe('the check for a loopback address', () => {
  it.each(['localhost', 'LOCALHOST', '127.0.0.1', '127.1.2.3', '::1', '[::1]'])('accepts %s', (host) => {
    expect(isLoopback(host)).toBe(true);
  });

  it.each(['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.example.com', '127.x', 'localhost.example.com', 'example.com', ''])(
    'rejects %j',
    (host) => {
      expect(isLoopback(host)).toBe(false);
    },
  );
});
