import { KeyedHash } from './keyed-hash.js';
import {
  type DroppedFields,
  type LinkedAttendee,
  registrantKey,
  registrantRules,
  toRegistrantItem,
} from './registrant-item.js';

const key = Buffer.alloc(32, 1);
const hash = new KeyedHash({ hash: key, subject: key, fingerprint: key });
const registrant = { codeHash: hash.attendeeCode('001'), profile: '{"Name":"Ann","attendeeCode":"001"}' };

function attendee(attendeeId: number, more: Partial<LinkedAttendee> = {}): LinkedAttendee {
  return { attendeeId, registrantId: null, signedInAt: null, consent: 'obtained', ...more };
}

function itemOf(
  attendees: readonly LinkedAttendee[],
  { profile = registrant.profile, drop = {} as Partial<DroppedFields> } = {},
) {
  const rules = registrantRules({ attendees: [], registrants: [], ...drop });
  return toRegistrantItem({ hash, ref: 7, rules }, { ...registrant, profile }, attendees);
}

const at = (second: number): string => `2026-11-21T08:00:0${second}Z`;

describe('a registrant as an item', () => {
  it('exists without an attendee, and the consent is not known', () => {
    expect(itemOf([])).toMatchObject({
      attendeeId: null,
      consent: 'not-known',
      fields: {
        attendeeCode: '001',
        Name: 'Ann',
        registrantId: null,
        attendeeId: null,
        attendees: 0,
        signedIn: false,
        signedInAt: null,
        consent: 'not-known',
      },
    });
  });

  it.each<[string, LinkedAttendee[], Record<string, unknown>]>([
    [
      'a record without a sign-in',
      [attendee(5, { consent: 'not-asked', registrantId: 9 })],
      { attendeeId: 5, registrantId: 9, attendees: 1, signedIn: false, signedInAt: null, consent: 'not-asked' },
    ],
    [
      'several sign-ins: the first counts',
      [attendee(5, { signedInAt: at(3) }), attendee(6, { signedInAt: at(1) }), attendee(7, { signedInAt: at(2) })],
      { attendeeId: 6, attendees: 3, signedInAt: at(1) },
    ],
    [
      'the earliest sign-in counts, whatever the format of its time',
      [attendee(5, { signedInAt: '2026-11-21T08:00:00Z' }), attendee(6, { signedInAt: '2026-11-21T08:30:00+01:00' })],
      { attendeeId: 6, signedInAt: '2026-11-21T08:30:00+01:00' },
    ],
    [
      'an invalid time comes last',
      [attendee(5, { signedInAt: 'soon' }), attendee(6, { signedInAt: at(1) })],
      { attendeeId: 6, signedInAt: at(1) },
    ],
    [
      'the attendee who refused consent counts, even without a sign-in',
      [attendee(5, { signedInAt: at(1) }), attendee(6, { consent: 'refused' })],
      { attendeeId: 6, consent: 'refused', signedIn: true, signedInAt: at(1) },
    ],
    [
      'an attendee who signed in comes before one who did not',
      [attendee(5, { consent: 'not-asked' }), attendee(6, { signedInAt: at(1) })],
      { attendeeId: 6, consent: 'obtained' },
    ],
    [
      'of those who signed in, the one with the most restrictive consent counts',
      [
        attendee(5, { signedInAt: at(1) }),
        attendee(6, { signedInAt: at(2), consent: 'not-asked' }),
        attendee(7, { signedInAt: at(3), consent: 'not-known' }),
      ],
      { attendeeId: 7, consent: 'not-known', signedInAt: at(1) },
    ],
  ])('%s', (_, attendees, expected) => {
    expect(itemOf(attendees).fields).toMatchObject(expected);
    expect(itemOf(attendees.toReversed())).toEqual(itemOf(attendees));
    expect(itemOf(attendees)).toMatchObject({ attendeeId: expected['attendeeId'], consent: null });
  });

  it('has the fields of pigeonpost, even if the profile has fields of the same names', () => {
    const profile = '{"attendeeCode":"001","consent":"yes","signedInAt":"noon","attendeeId":"3"}';
    expect(itemOf([], { profile }).fields).toMatchObject({ consent: 'not-known', signedInAt: null, attendeeId: null });
  });

  it.each<[Partial<DroppedFields>, string[]]>([
    [
      { attendees: ['Name'] },
      ['attendeeCode', 'registrantId', 'attendeeId', 'attendees', 'signedIn', 'signedInAt', 'consent'],
    ],
    [{ attendees: ['signInTime'] }, ['attendeeCode', 'Name', 'registrantId', 'attendeeId', 'attendees', 'consent']],
    [{ attendees: ['attendeeCode'] }, ['Name']],
    [
      { registrants: ['attendeeCode', 'consent'] },
      ['Name', 'registrantId', 'attendeeId', 'attendees', 'signedIn', 'signedInAt'],
    ],
    [
      { attendees: ['consent'] },
      ['attendeeCode', 'Name', 'registrantId', 'attendeeId', 'attendees', 'signedIn', 'signedInAt'],
    ],
  ])('has no field that would reveal a dropped field (%j)', (drop, left) => {
    expect(Object.keys(itemOf([attendee(5, { signedInAt: at(1) })], { drop }).fields).toSorted()).toEqual(
      left.toSorted(),
    );
  });

  it('has a key that differs between pigeonholes and does not contain the code', () => {
    const keys = [7, 8].map((ref) => registrantKey(hash, ref, registrant.codeHash));
    expect(new Set(keys).size).toBe(2);
    expect(keys.join()).not.toContain(registrant.codeHash.toString('hex'));
  });
});
