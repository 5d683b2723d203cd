import { Expression, type MappingView } from './expression.js';
import { viewOf } from './view-of.test-kit.js';
import { nameParts } from './mapping-functions.js';

const tokyo = { timezone: 'Asia/Tokyo', startDate: '2026-11-21' };

async function valueOf(text: string, view: MappingView): Promise<unknown> {
  return await new Expression(text).evaluate(view, 'crm.x');
}

describe('$field', () => {
  const attendee = { Name: 'from the profile', 'E-mail': 'a@example.com', Company: '' };

  it('looks into the profile first, with all its names, then into the item', async () => {
    const view = viewOf({ 'Full name': 'from the item', Company: 'ACME', content: 'text' }, { attendee });
    expect(await valueOf('$field("Full name", "Name")', view)).toBe('from the profile');
    expect(await valueOf('$field("Company")', view)).toBe('ACME');
    expect(await valueOf('$field("content")', view)).toBe('text');
    expect(await valueOf('$field("Phone")', view)).toBeUndefined();
  });

  it('finds them at an attendee’s own record, and none where nobody may be shown', async () => {
    expect(await valueOf('$field("Email")', viewOf(attendee))).toBe('a@example.com');
    expect(await valueOf('$field("Email")', viewOf({ anonymous: true }))).toBeUndefined();
    expect(await valueOf('$field("Email")', viewOf(null))).toBeUndefined();
  });

  it('sees the view from within a step, too', async () => {
    expect(await valueOf('item.tags.($ & $field("Email"))', viewOf({ tags: ['x'] }, { attendee }))).toBe(
      'xa@example.com',
    );
  });
});

describe('$email', () => {
  it.each([
    [' Maria.Lopez@Example.COM ', 'maria.lopez@example.com'],
    ['maria@localhost', undefined],
    ['maria', undefined],
    ['a@b.c, d@e.f', undefined],
    ['maria@@example.com', undefined],
    ['maria@example..com', undefined],
    ['', undefined],
    [7, undefined],
    [null, undefined],
  ])('makes of %j %j', async (text, expected) => {
    expect(await valueOf('$email(item.Email)', viewOf({ Email: text }))).toBe(expected);
  });
});

describe.each([
  ['$eventDate', '2026-11-22', '2026-11-21'],
  ['$hubspotDate', Date.UTC(2026, 10, 22), Date.UTC(2026, 10, 21)],
])('%s', (name, expected, ofDay) => {
  const view = viewOf({ at: '2026-11-21T15:00:00Z', atMs: Date.UTC(2026, 10, 21, 15) }, { pigeonhole: tokyo });

  it('is the day on which an instant fell where the event is', async () => {
    expect(await valueOf(`${name}(item.at)`, view)).toBe(expected);
    expect(await valueOf(`${name}(item.atMs)`, view)).toBe(expected);
  });

  it('leaves a calendar day what it is', async () => {
    expect(await valueOf(`${name}(pigeonhole.startDate)`, view)).toBe(ofDay);
  });

  it.each(['item.missing', 'null', '""'])('is nothing of nothing: %s', async (nothing) => {
    expect(await valueOf(`${name}(${nothing})`, view)).toBeUndefined();
  });

  it.each([
    ['"soon"', tokyo, 'not-an-instant'],
    ['true', tokyo, 'not-an-instant'],
    ['item.at', null, 'no-time-zone'],
    ['item.at', {}, 'no-time-zone'],
    ['item.at', { timezone: 'Europe/Atlantis' }, 'no-time-zone'],
  ])('fails rather than guess: %s with %j', async (value, pigeonhole, code) => {
    await expect(valueOf(`${name}(${value})`, { ...view, pigeonhole })).rejects.toMatchObject({
      causeCode: `mapping: crm.x: ${code}`,
    });
  });
});

describe('$eventTime', () => {
  it('is the time of day where the event is', async () => {
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
  ])('refuses %s', async (text, code) => {
    await expect(valueOf(text, viewOf({ text: 'abc', n: 7 }))).rejects.toMatchObject({
      causeCode: `mapping: crm.x: ${code}`,
    });
  });
});

describe('$pad', () => {
  it('is as JSONata’s own within its bound', async () => {
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
