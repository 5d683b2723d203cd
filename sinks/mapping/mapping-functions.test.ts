import { Expression, type MappingView } from './expression.js';
import { viewOf } from './view-of.test-kit.js';
import { fieldKey, findField, instantOf, localTime, nameParts, truncate } from './mapping-functions.js';
import { dayStartMs } from '../../base/instant.js';
import fc from 'fast-check';

const tokyo = { timezone: 'Asia/Tokyo', startDate: '2026-11-21' };

async function valueOf(text: string, view: MappingView): Promise<unknown> {
  return await new Expression(text).evaluate(view, 'crm.x');
}

describe('$field', () => {
  const attendee = { Name: 'from the profile', 'E-mail': 'a@example.com', Company: '' };

  it('searches the profile for each of its names first, and then the item', async () => {
    const view = viewOf({ 'Full name': 'from the item', Company: 'ACME', content: 'text' }, { attendee });
    expect(await valueOf('$field("Full name", "Name")', view)).toBe('from the profile');
    expect(await valueOf('$field("Company")', view)).toBe('ACME');
    expect(await valueOf('$field("content")', view)).toBe('text');
    expect(await valueOf('$field("Phone")', view)).toBeUndefined();
  });

  it('searches an attendee’s own record, and finds nothing if the identity is not visible', async () => {
    expect(await valueOf('$field("Email")', viewOf(attendee))).toBe('a@example.com');
    expect(await valueOf('$field("Email")', viewOf({ anonymous: true }))).toBeUndefined();
    expect(await valueOf('$field("Email")', viewOf(null))).toBeUndefined();
  });

  it('also works inside a step', async () => {
    expect(await valueOf('item.tags.($ & $field("Email"))', viewOf({ tags: ['x'] }, { attendee }))).toBe(
      'xa@example.com',
    );
  });
});

describe('$email', () => {
  it.each([
    [' Maria.Lopez@Example.COM ', 'maria.lopez@example.com'],
    ['\u200bmaria@exam\u00adple.com\u00a0', 'maria@example.com'],
    ['mailto:Maria@example.com?subject=Hi', 'maria@example.com'],
    [`maria@${'example.'.repeat(31)}com`, undefined],
    ['maria@localhost', undefined],
    ['maria', undefined],
    ['a@b.c, d@e.f', undefined],
    ['maria@@example.com', undefined],
    ['maria@example..com', undefined],
    ['', undefined],
    [7, undefined],
    [null, undefined],
  ])('converts %j to %j', async (text, expected) => {
    expect(await valueOf('$email(item.Email)', viewOf({ Email: text }))).toBe(expected);
  });
});

describe.each([
  ['$eventDate', '2026-11-22', '2026-11-21'],
  ['$hubspotDate', Date.UTC(2026, 10, 22), Date.UTC(2026, 10, 21)],
])('%s', (name, expected, ofDay) => {
  const view = viewOf({ at: '2026-11-21T15:00:00Z', atMs: Date.UTC(2026, 10, 21, 15) }, { pigeonhole: tokyo });

  it('returns the day of an instant in the time zone of the event', async () => {
    expect(await valueOf(`${name}(item.at)`, view)).toBe(expected);
    expect(await valueOf(`${name}(item.atMs)`, view)).toBe(expected);
  });

  it('keeps a calendar day unchanged', async () => {
    expect(await valueOf(`${name}(pigeonhole.startDate)`, view)).toBe(ofDay);
  });

  it.each(['item.missing', 'null', '""'])('returns nothing for %s', async (nothing) => {
    expect(await valueOf(`${name}(${nothing})`, view)).toBeUndefined();
  });

  it.each([
    ['"soon"', tokyo, 'not-an-instant'],
    ['true', tokyo, 'not-an-instant'],
    ['item.at', null, 'no-time-zone'],
    ['item.at', {}, 'no-time-zone'],
    ['item.at', { timezone: 'Europe/Atlantis' }, 'no-time-zone'],
  ])('fails instead of guessing for %s with %j', async (value, pigeonhole, code) => {
    await expect(valueOf(`${name}(${value})`, { ...view, pigeonhole })).rejects.toMatchObject({
      causeCode: `mapping: crm.x: ${code}`,
    });
  });
});

describe('$startOfDay', () => {
  it.each([
    ['America/Los_Angeles', '2026-11-21', '2026-11-21T08:00:00.000Z'],
    ['Asia/Tokyo', '2026-11-21', '2026-11-20T15:00:00.000Z'],
    ['UTC', '2026-11-21', '2026-11-21T00:00:00.000Z'],
    ['America/Santiago', '2026-09-06', '2026-09-06T04:00:00.000Z'], // clocks are set forward at midnight
    ['America/New_York', '2026-11-22T03:00:00Z', '2026-11-21T05:00:00.000Z'], // still the 21st there
  ])('in %s is, for %s, %s', async (timezone, startDate, start) => {
    const view = viewOf({}, { pigeonhole: { timezone, startDate } });
    expect(await valueOf('$startOfDay(pigeonhole.startDate)', view)).toBe(start);
    expect(await valueOf('$eventDate($startOfDay(pigeonhole.startDate))', view)).toBe(
      await valueOf('$eventDate(pigeonhole.startDate)', view),
    );
  });

  it('returns nothing for nothing, and fails without a time zone', async () => {
    expect(await valueOf('$startOfDay(item.missing)', viewOf({}, { pigeonhole: tokyo }))).toBeUndefined();
    await expect(valueOf('$startOfDay("2026-11-21")', viewOf({}))).rejects.toMatchObject({
      causeCode: 'mapping: crm.x: no-time-zone',
    });
  });
});

describe('a day that does not exist', () => {
  it.each([
    '$eventDate("2026-02-30")',
    '$eventDate("2026-02-30T09:00:00Z")',
    '$hubspotDate("2026-02-30")',
    '$startOfDay("2026-02-29")',
    '$toMillis("2026-02-30")',
    '$toMillis("2026-04-31T09:00:00Z")',
    '$toMillis("30.02.2026", "[D01].[M01].[Y0001]")',
    '$toMillis("Feb 29, 2026", "[MNn,3-3] [D], [Y0001]")',
  ])('fails instead of becoming another: %s', async (text) => {
    await expect(valueOf(text, viewOf({}, { pigeonhole: tokyo }))).rejects.toMatchObject({
      causeCode: 'mapping: crm.x: not-an-instant',
    });
  });

  it.each([
    ['$toMillis("2024-02-29")', Date.UTC(2024, 1, 29)],
    ['$toMillis("2026-03-02T09:30:31Z")', Date.UTC(2026, 2, 2, 9, 30, 31)],
    ['$toMillis("02.03.2026 09:30", "[D01].[M01].[Y0001] [H01]:[m01]")', Date.UTC(2026, 2, 2, 9, 30)],
    ['$toMillis("02.03.2026 09:30+05:30", "[D01].[M01].[Y0001] [H01]:[m01][Z]")', Date.UTC(2026, 2, 2, 4, 0)],
    ['$toMillis("1/3/2029", "[D]/[M]/[Y0001]")', Date.UTC(2029, 2, 1)],
    ['$toMillis(item.missing)', undefined],
  ])('does not keep others from being read: %s', async (text, atMs) => {
    expect(await valueOf(text, viewOf({}))).toBe(atMs);
  });
});

describe('$eventTime', () => {
  it('returns the time of day in the time zone of the event', async () => {
    const view = viewOf({ at: '2026-11-21T15:05:59Z' }, { pigeonhole: tokyo });
    expect(await valueOf('$eventTime(item.at)', view)).toBe('00:05');
    expect(await valueOf('$eventTime(item.missing)', view)).toBeUndefined();
  });
});

describe('$truncate', () => {
  it('cuts between characters', async () => {
    const view = viewOf({ text: 'ab👩‍👩‍👧‍👦', n: 7 });
    expect(await valueOf('$truncate(item.text, 5)', view)).toBe('ab');
    expect(await valueOf('$truncate(item.text, 3, "…")', view)).toBe('ab…');
    expect(await valueOf('item.text ~> $truncate(2)', view)).toBe('ab');
    expect(await valueOf('$truncate(item.missing, 2)', view)).toBeUndefined();
  });

  it.each([
    ['$truncate(item.n, 2)', 'not-a-text'],
    ['$truncate(item.text)', 'not-a-length'],
    ['$truncate(item.text, -1)', 'not-a-length'],
    ['$truncate(item.text, 1.5)', 'not-a-length'],
    ['$truncate(item.text, 2, 3)', 'not-a-text'],
  ])('rejects %s', async (text, code) => {
    await expect(valueOf(text, viewOf({ text: 'abc', n: 7 }))).rejects.toMatchObject({
      causeCode: `mapping: crm.x: ${code}`,
    });
  });
});

describe('$pad', () => {
  it('works like JSONata’s $pad up to its limit', async () => {
    expect(await valueOf('$pad(item.n, -3, "0")', viewOf({ n: '7' }))).toBe('007');
    expect(await valueOf('$pad(item.missing, 3)', viewOf({}))).toBeUndefined();
  });
});

describe('a full name', () => {
  it.each([
    ['Ada Lovelace', 'Ada', 'Lovelace'],
    [' Ada  King ', 'Ada', 'King'],
    ['Ada', undefined, 'Ada'],
    ['Lovelace, Ada', 'Ada', 'Lovelace'],
    ['Ludwig van Beethoven', 'Ludwig', 'van Beethoven'],
    ['María de la Cruz', 'María', 'de la Cruz'],
    ['Mary Jane Watson', 'Mary Jane', 'Watson'],
    ['Sammy Davis Jr.', 'Sammy', 'Davis Jr.'],
    ['Ada Lovelace, PhD', 'Ada', 'Lovelace, PhD'],
    ['ada byron lovelace', 'ada byron', 'lovelace'],
    ['van Gogh', 'van', 'Gogh'],
    ['山田太郎', undefined, '山田太郎'],
    ['Ali Ali', 'Ali', 'Ali'],
    ['Jr.', undefined, 'Jr.'],
    [',', undefined, ','],
    ['   ', undefined, undefined],
  ])('%j has the first name %j and the last name %j', (name, first, last) => {
    expect(nameParts(name)).toEqual({ ...(first !== undefined && { first }), ...(last !== undefined && { last }) });
  });
});

const family = '👩‍👩‍👧‍👦';
const graphemesOf = (text: string): string[] =>
  [...new Intl.Segmenter('und', { granularity: 'grapheme' }).segment(text)].map(({ segment }) => segment);

/** Texts with characters of many lengths. */
const texts = fc.string({ unit: fc.oneof(fc.constantFrom(family, '👍🏽', '🇸🇬', 'é', 'か\u3099', '\r\n'), fc.string()) });

describe('a truncated text', () => {
  it.each([
    ['hello', 5, '', 'hello'],
    ['hello', 4, '', 'hell'],
    ['hello', 0, '', ''],
    ['hello world', 6, '…', 'hello…'],
    ['hello', 1, '…', '…'],
    ['hello', 1, '...', 'h'], // no room for the ending
    ['a😀b', 2, '', 'a'],
    ['a😀b', 3, '', 'a😀'],
    [`a${family}b`, 11, '', 'a'],
    [`a${family}b`, 12, '', `a${family}`],
    ['cafe\u0301!', 4, '', 'caf'],
    ['👍🏽👍🏽', 5, '', '👍🏽'],
    ['🇸🇬🇩🇪', 6, '', '🇸🇬'],
    ['a\r\nb', 2, '', 'a'],
  ])('of %j at %d with %j is %j', (text, longest, ending, expected) => {
    expect(truncate(text, longest, ending)).toBe(expected);
  });

  it('is as long as possible, and is cut between two characters', () => {
    fc.assert(
      fc.property(texts, fc.nat({ max: 60 }), (text, longest) => {
        const cut = truncate(text, longest);
        const whole = graphemesOf(text);
        const kept = graphemesOf(cut);
        expect(cut.length).toBeLessThanOrEqual(longest);
        expect(text.startsWith(cut)).toBe(true);
        const next = whole[kept.length];
        // either the next character does not fit, or the first one alone is too long and only its beginning is kept
        if (cut !== text && !(kept.length <= 1 && whole[0]!.length > longest)) {
          expect(kept).toEqual(whole.slice(0, kept.length));
          expect(cut.length + next!.length).toBeGreaterThan(longest);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('never contains half of a surrogate pair that was complete', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat({ max: 40 }), (text, longest) => {
        fc.pre(!/\p{Surrogate}/u.test(text));
        expect(truncate(text, longest, '…')).not.toMatch(/\p{Surrogate}/u);
      }),
    );
  });

  it('contains the beginning of a character that is longer than the limit', () => {
    const zalgo = `a${'\u0301'.repeat(5_000)}`;
    expect(truncate(zalgo, 3_000)).toHaveLength(3_000);
    expect(truncate(`${'x'.repeat(50)}${zalgo}`, 3_000)).toHaveLength(3_000);
    expect(truncate(`😀${'\u0301'.repeat(10)}`, 1)).toBe('');
  });

  it('is cut between characters even in the middle of a very long text', () => {
    const text = `${'x'.repeat(100_000)}${family}${'y'.repeat(100_000)}`;
    expect(truncate(text, 100_005)).toHaveLength(100_000);
    expect(truncate(text, 100_011)).toHaveLength(100_011);
  });
});

describe('a field found by its names', () => {
  it.each([
    [{ 'E-mail': 'a' }, ['Email'], 'a'],
    [{ 'e mail': 'a' }, ['E-Mail'], 'a'],
    [{ job_title: 'CTO' }, ['Job title'], 'CTO'],
    [{ 'Job‑title': 'CTO' }, ['Job title'], 'CTO'], // a non-breaking hyphen
    [{ 'Job\u00a0title': 'CTO' }, ['Job title'], 'CTO'],
    [{ ＥＭＡＩＬ: 'a' }, ['Email'], 'a'],
    [{ email: 'a', Email: 'b' }, ['Email'], 'b'], // the exact name comes first
    [{ Email: '', 'E-mail': 'b' }, ['Email'], 'b'],
    [{ Email: ' ', Mail: 'c' }, ['Email', 'Mail'], 'c'],
    [{ Mail: 'c', Email: 'a' }, ['Email', 'Mail'], 'a'],
    [{ Email: null }, ['Email'], undefined],
    [{ Count: 0, Agreed: false }, ['count'], 0],
    [{ Agreed: false }, ['agreed'], false],
    [{ Emails: 'a' }, ['Email'], undefined],
    [{ Größe: 'L' }, ['grösse'], undefined],
    [{}, ['toString', '__proto__', 'constructor'], undefined],
    [null, ['Email'], undefined],
    [{ Email: 'a' }, [], undefined],
  ])('in %j under %j is %j', (record, names, expected) => {
    expect(findField(record, names)).toBe(expected);
  });

  it('is found regardless of case and separators in its name', () => {
    const words = fc.array(fc.stringMatching(/^[a-z]{1,6}$/), { minLength: 1, maxLength: 3 });
    const joint = fc.constantFrom(' ', '-', '_', '', '  ', ' - ');
    fc.assert(
      fc.property(words, joint, joint, fc.boolean(), (parts, one, other, loud) => {
        const written = parts.join(one);
        const asked = loud ? parts.join(other).toUpperCase() : parts.join(other);
        expect(findField({ [written]: 1 }, [asked])).toBe(1);
        expect(fieldKey(written)).toBe(fieldKey(asked));
      }),
    );
  });
});

const zones = [
  'Asia/Tokyo',
  'Europe/Berlin',
  'America/New_York',
  'America/St_Johns',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
  'Africa/Casablanca',
  'UTC',
];
const fewYears = { min: Date.UTC(1990, 0, 1), max: Date.UTC(2060, 0, 1) };
const hourMs = 3_600_000;

describe('the local time of an instant', () => {
  it.each([
    ['2026-11-21T23:30:00Z', 'Asia/Tokyo', '2026-11-22 08:30'],
    ['2026-11-21T04:59:00Z', 'America/New_York', '2026-11-20 23:59'],
    ['2026-11-21T05:00:00Z', 'America/New_York', '2026-11-21 00:00'],
    ['2026-03-29T00:59:59Z', 'Europe/Berlin', '2026-03-29 01:59'], // the hour from 2 to 3 does not exist
    ['2026-03-29T01:00:00Z', 'Europe/Berlin', '2026-03-29 03:00'],
    ['2026-10-25T00:30:00Z', 'Europe/Berlin', '2026-10-25 02:30'], // and occurs twice
    ['2026-10-25T01:30:00Z', 'Europe/Berlin', '2026-10-25 02:30'],
    ['2026-10-24T22:00:00Z', 'Europe/Berlin', '2026-10-25 00:00'],
    ['2026-01-01T10:00:00Z', 'Pacific/Kiritimati', '2026-01-02 00:00'],
    ['2026-01-01T10:59:00Z', 'Pacific/Pago_Pago', '2025-12-31 23:59'],
    ['2026-11-21T00:00:00Z', 'Asia/Kathmandu', '2026-11-21 05:45'],
    ['2011-12-30T09:59:00Z', 'Pacific/Apia', '2011-12-29 23:59'], // 30 December did not exist there
    ['2011-12-30T10:00:00Z', 'Pacific/Apia', '2011-12-31 00:00'],
    ['0026-05-01T10:00:00Z', 'UTC', '0026-05-01 10:00'], // a typing error must stay visible
  ])('%s in %s is %s', (instant, zone, expected) => {
    const { day, time } = localTime(Date.parse(instant), zone);
    expect(`${day} ${time}`).toBe(expected);
  });

  it('is at most 14 hours ahead of UTC and 12 hours behind, and always on a valid day', () => {
    fc.assert(
      fc.property(fc.integer(fewYears), fc.constantFrom(...zones), (atMs, zone) => {
        const { day, time } = localTime(atMs, zone);
        const midnightMs = dayStartMs(day)!;
        const [hours, minutes] = time.split(':').map(Number);
        const offsetMs = midnightMs + hours! * hourMs + minutes! * 60_000 - Math.floor(atMs / 60_000) * 60_000;
        expect(offsetMs).toBeGreaterThanOrEqual(-12 * hourMs);
        expect(offsetMs).toBeLessThanOrEqual(14 * hourMs);
        expect(Math.abs(offsetMs) % (15 * 60_000)).toBe(0);
      }),
    );
  });

  it('never returns an earlier day for a later instant', () => {
    fc.assert(
      fc.property(
        fc.integer(fewYears),
        fc.integer({ min: 0, max: 48 * hourMs }),
        fc.constantFrom(...zones),
        (atMs, laterMs, zone) => {
          expect(localTime(atMs + laterMs, zone).day >= localTime(atMs, zone).day).toBe(true);
        },
      ),
    );
  });
});

describe('the instant of a value', () => {
  it.each([
    ['2026-11-21T09:30:00Z', '2026-11-21T09:30:00.000Z'],
    ['2026-11-21T09:30:00.123456Z', '2026-11-21T09:30:00.123Z'],
    ['2026-11-21T09:30:00+08:00', '2026-11-21T01:30:00.000Z'],
    ['2026-11-21T09:30+0530', '2026-11-21T04:00:00.000Z'],
    ['2026-11-21T09:30:00', '2026-11-21T09:30:00.000Z'], // UTC, regardless of the machine's time zone
    [' 2026-11-21t09:30:00z ', '2026-11-21T09:30:00.000Z'],
    [0, '1970-01-01T00:00:00.000Z'],
  ])('for %p is %s', (value, expected) => {
    expect(new Date(instantOf(value)!).toISOString()).toBe(expected);
  });

  it.each([
    '',
    'May 1',
    '2026-11-21',
    '21.11.2026',
    '2026-02-30T00:00:00Z',
    '2026-11-21T25:00:00Z',
    '1732181400',
    Number.NaN,
    Number.POSITIVE_INFINITY,
    9e15,
    null,
    true,
    {},
  ])('does not exist for %p', (value) => {
    expect(instantOf(value)).toBeUndefined();
  });

  it('can be read from JavaScript’s ISO format', () => {
    fc.assert(
      fc.property(fc.integer(fewYears), (atMs) => {
        expect(instantOf(new Date(atMs).toISOString())).toBe(atMs);
      }),
    );
  });
});
