import { inventedAttendee, type InventedList, inventedItem, inventedLists, type Invention } from './invented-item.js';

const mark = 123_456_789_012_345;
const invention: Invention = { mark, at: '2026-11-21T08:00:00.000Z', consent: 'obtained', fields: [] };

describe('an invented item', () => {
  it.each<InventedList>([...inventedLists])('of %s differs from every real one in each of its ids', (list) => {
    const ids = [
      ...JSON.stringify(inventedItem(list, invention)).matchAll(/"(?:id|attendeeId|registrantId)":([^,}]+)/g),
    ];
    expect(ids.length).toBeGreaterThan(0);
    for (const [, id] of ids) expect(id).toBe(String(-mark));
  });

  it.each<[string, string | undefined]>([
    ['E-mail address', `pigeonpost-canary-${mark}@example.com`],
    ['Last name', `pigeonpost canary ${mark}`],
    ['Nachname', `pigeonpost canary ${mark}`],
    ['Company', `pigeonpost canary ${mark}`],
    ['Ticket type', undefined],
    ['Country', undefined],
  ])('has in the profile field %s what can stand there', (field, value) => {
    expect(inventedAttendee({ ...invention, fields: [field] })[field]).toBe(value);
  });

  it('keeps its own ids where a mapping reads fields of those names', () => {
    expect(inventedAttendee({ ...invention, fields: ['id', 'attendeeCode', 'consent'] })).toMatchObject({
      id: -mark,
      attendeeCode: `canary-${mark}`,
      consent: { obtained: true },
    });
  });

  it.each([
    ['obtained', { obtained: true, obtainedAt: invention.at }],
    ['refused', { obtained: false }],
    ['not-known', undefined],
  ] as const)('has said about consent what the sink takes: %s', (consent, said) => {
    expect(inventedAttendee({ ...invention, consent })['consent']).toEqual(said);
  });
});
