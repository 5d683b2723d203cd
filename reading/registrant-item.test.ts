import { KeyedHash } from '../ledger/keyed-hash.js';
import { type DroppedFields, registrantRules, toRegistrantItem } from './registrant-item.js';
import type { LinkedAttendee } from '../ledger/sign-ins.js';
import { registrantKey } from '../ledger/registrant-key.js';

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
  return toRegistrantItem({ hash, pigeonholeNumber: 7, rules }, { ...registrant, profile }, attendees);
}

const at = (second: number): string => `2026-11-21T08:00:0${second}Z`;

describe('the item of a registrant', () => {
  it('exists without an attendee, with unknown consent', () => {
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
      'has a record without a sign-in',
      [attendee(5, { consent: 'not-asked', registrantId: 9 })],
      { attendeeId: 5, registrantId: 9, attendees: 1, signedIn: false, signedInAt: null, consent: 'not-asked' },
    ],
    [
      'shows the first of several sign-ins',
      [attendee(5, { signedInAt: at(3) }), attendee(6, { signedInAt: at(1) }), attendee(7, { signedInAt: at(2) })],
      { attendeeId: 6, attendees: 3, signedInAt: at(1) },
    ],
    [
      'shows the earliest sign-in, whatever the format of its time',
      [attendee(5, { signedInAt: '2026-11-21T08:00:00Z' }), attendee(6, { signedInAt: '2026-11-21T08:30:00+01:00' })],
      { attendeeId: 6, signedInAt: '2026-11-21T08:30:00+01:00' },
    ],
    [
      'prefers a valid time to an invalid one',
      [attendee(5, { signedInAt: 'soon' }), attendee(6, { signedInAt: at(1) })],
      { attendeeId: 6, signedInAt: at(1) },
    ],
    [
      'shows an attendee who refused consent, even without a sign-in',
      [attendee(5, { signedInAt: at(1) }), attendee(6, { consent: 'refused' })],
      { attendeeId: 6, consent: 'refused', signedIn: true, signedInAt: at(1) },
    ],
    [
      'prefers an attendee who signed in to one who did not',
      [attendee(5, { consent: 'not-asked' }), attendee(6, { signedInAt: at(1) })],
      { attendeeId: 6, consent: 'obtained' },
    ],
    [
      'shows the most restrictive consent of those who signed in',
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

  it('has its own fields, even if the profile has fields of the same names', () => {
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
  ])('has no field that would reveal the dropped fields %j', (drop, left) => {
    expect(Object.keys(itemOf([attendee(5, { signedInAt: at(1) })], { drop }).fields).toSorted()).toEqual(
      left.toSorted(),
    );
  });

  it('has a key that differs between pigeonholes and does not contain the hash of the code', () => {
    const keys = [7, 8].map((pigeonholeNumber) => registrantKey(hash, pigeonholeNumber, registrant.codeHash));
    expect(new Set(keys).size).toBe(2);
    expect(keys.join()).not.toContain(registrant.codeHash.toString('hex'));
  });
});
