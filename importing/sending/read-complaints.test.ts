import { type Complaints, readComplaints } from './read-complaints.js';

const taken = 'has already been taken';

function read(fields: readonly (readonly [field: string, message: string])[], count = 20, base: 0 | 1 | null = null) {
  return readComplaints(
    fields.map(([field, message]) => ({ field, message })),
    null,
    count,
    base,
  );
}

function places({ named }: Complaints): (readonly [number, string | null | undefined])[] {
  return [...named].map(([index, complaints]) => [index, complaints[0]?.field] as const);
}

describe('a complaint that names its row', () => {
  it.each([
    ['data[12].attendeeCode', 'attendeeCode'],
    ['data.12.attendeeCode', 'attendeeCode'],
    ['12.attendeeCode', 'attendeeCode'],
    ['[12].attendeeCode', 'attendeeCode'],
    ['/data/12/attendeeCode', 'attendeeCode'],
    ['registrants[12].Job title', 'Job title'],
    ['data[12]["Name"]', '"Name"'],
    ['body.data[12].a.b', 'a.b'],
    ['data[12]', null],
  ])('is found in %s', (field, name) => {
    expect(places(read([[field, taken]], 20, 0))).toEqual([[12, name]]);
  });

  it('can contain the row in its message', () => {
    expect(places(read([['attendeeCode', `Row 12: ${taken}`]], 20, 0))).toEqual([[12, 'attendeeCode']]);
  });

  it.each([
    ['the numbers include 0', ['data[0].Name', 'data[3].Name'], 20, 0, [0, 3]],
    ['the numbers include the row count', ['data[3].Name', 'data[20].Name'], 20, 1, [2, 19]],
    ['one row was sent, and its number is 0', ['data[0].Name'], 1, 0, [0]],
    ['one row was sent, and its number is 1', ['data[1].Name'], 1, 1, [0]],
    ['the numbers show neither, so no row is named', ['data[3].Name'], 20, null, []],
    ['a number fits neither, so no row is named', ['data[0].Name', 'data[21].Name'], 20, null, []],
  ] as const)('counts rows from 0 or from 1: %s', (_, fields, count, base, expected) => {
    const complaints = read(
      fields.map((field) => [field, 'is wrong'] as const),
      count,
    );
    expect(complaints.indexBase).toBe(base);
    expect([...complaints.named.keys()]).toEqual(expected);
  });

  it('leaves two candidates if it may count from 0 or from 1', () => {
    expect(read([['data[3].Name', 'is wrong']])).toMatchObject({ candidates: [2, 3], indexBase: null });
    expect(read([['data[21].Name', 'is wrong']])).toMatchObject({ candidates: [], indexBase: null });
  });

  it('does not exist if a profile field is called by a number beyond the rows', () => {
    expect(read([['2024', 'is too long']], 20, 0).named.size).toBe(0);
  });
});

describe('the meaning of a complaint about a code', () => {
  it.each([
    ['attendeeCode', taken, 'duplicate'],
    ['attendeeCode', 'must be unique', 'duplicate'],
    ['attendeeCode', 'already exists', 'duplicate'],
    ['attendee_code', 'Duplicate entry', 'duplicate'],
    ['attendeeCode', 'ist bereits vergeben', 'duplicate'],
    ['attendeeCode', 'is required', 'value'],
    ['attendeeCode', 'must have at most 255 characters', 'value'],
    ['attendeeCode', 'rejeté', 'unclear'],
    ['Name', 'already exists', 'value'],
    ['Notes', 'is wrong', 'value'],
    ['data', 'holds attendee codes that have already been taken', 'duplicate'],
  ])('in %s: "%s" means %s', (field, message, meaning) => {
    expect(read([[field, message]]).nameless[0]).toMatchObject({ meaning });
  });
});

describe('a complaint about the number of rows', () => {
  it.each([
    ['data', 'must hold at most 1000 registrants', true],
    ['data', 'too many items', true],
    ['body', 'exceeds the limit', true],
    ['data', 'holds codes that exist, at most once each', false],
    ['data', 'is invalid', false],
    ['Name', 'must have at most 255 characters', false],
  ])('is recognized in %s: "%s": %s', (field, message, tooMany) => {
    expect(read([[field, message]]).tooMany).toBe(tooMany);
  });

  it('is recognized in the message of a response without errors, as is a duplicate', () => {
    expect(readComplaints([], 'too many registrants', 5, null)).toMatchObject({ tooMany: true });
    expect(readComplaints([], 'Duplicate attendee code', 5, null).nameless).toMatchObject([{ meaning: 'duplicate' }]);
    expect(readComplaints([], 'Invalid format or value', 5, null).nameless).toEqual([]);
  });
});
