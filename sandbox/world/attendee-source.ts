import type { JsonObject } from '../json.js';
import { ID_STRIDE } from '../store/id-order.js';
import type { ItemSource } from '../store/item-table.js';
import { below, draw, pick } from './random.js';
import { COMPANIES, COUNTRIES, FIRST_NAMES, JOB_TITLES, LAST_NAMES } from './word-pools.js';

/** The profile fields of every pigeonhole: string properties besides the fixed fields of an attendee. */
export const PROFILE_FIELDS = ['Name', 'Email', 'Company', 'Job title', 'Country', 'Dietary needs'] as const;

export interface AttendeeFacts {
  /** Determines the name, company and other profile fields. */
  index: number;
  /** Null for a walk-in without a registration. */
  registrantId: number | null;
  attendeeCode: string;
  signedInAtMs: number;
}

interface AttendeePlan {
  seed: number;
  count: number;
  firstId: number;
  firstRegistrantId: number;
  /** Generated attendees signed in between these instants, in the order of their ids. */
  opensAtMs: number;
  closesAtMs: number;
}

/** Seven of ten people are registered: those whose index ends in 0 to 6. */
const REGISTERED_OF_TEN = 7;

export function registrantCountOf(attendeeCount: number): number {
  return Math.floor(attendeeCount / 10) * REGISTERED_OF_TEN + Math.min(attendeeCount % 10, REGISTERED_OF_TEN);
}

export function attendeeIndexOfRegistrant(index: number): number {
  return Math.floor(index / REGISTERED_OF_TEN) * 10 + (index % REGISTERED_OF_TEN);
}

/** Returns the registrant's index for an attendee's index, or null for a walk-in. */
export function registrantIndexOfAttendee(index: number): number | null {
  if (index % 10 >= REGISTERED_OF_TEN) return null;
  return Math.floor(index / 10) * REGISTERED_OF_TEN + (index % 10);
}

/** Returns the name, e-mail, company and so on of the person with an index. */
export function profileOf(seed: number, index: number): { Name: string; first: string; last: string } & JsonObject {
  const first = pick(FIRST_NAMES, draw(seed, 1, index));
  const last = pick(LAST_NAMES, draw(seed, 2, index));
  const profile: { Name: string; first: string; last: string } & JsonObject = {
    first,
    last,
    Name: `${first} ${last}`,
    Email: `person${index}.${draw(seed, 3, index).toString(36)}@example.com`,
    Company: pick(COMPANIES, draw(seed, 4, index)),
    'Job title': pick(JOB_TITLES, draw(seed, 5, index)),
    Country: pick(COUNTRIES, draw(seed, 6, index)),
  };
  if (draw(seed, 7, index) % 20 === 0) profile['Dietary needs'] = 'vegetarian';
  return profile;
}

/** Creates the source of a pigeonhole's attendees, each about 450 bytes of JSON. */
export function createAttendeeSource(plan: AttendeePlan): ItemSource<AttendeeFacts> {
  const { seed, count, opensAtMs, closesAtMs } = plan;
  return {
    firstId: plan.firstId,
    blocks: [{ sessionId: null, count }],
    facts(index) {
      const registrant = registrantIndexOfAttendee(index);
      return {
        index,
        registrantId: registrant === null ? null : plan.firstRegistrantId + registrant * ID_STRIDE,
        attendeeCode: codeOfIndex(index),
        signedInAtMs: instantAt(seed, index, count, opensAtMs, closesAtMs),
      };
    },
    render: (id, facts) => attendeeItem(seed, id, facts),
  };
}

/** Returns an instant in whole seconds that increases with the index. Some neighbours share one, as in a real rush. */
export function instantAt(seed: number, index: number, count: number, fromMs: number, toMs: number): number {
  const place = (index + draw(seed, 8, index) / 2 ** 32) / Math.max(count, 1);
  return Math.floor((fromMs + Math.min(place, 1) * (toMs - fromMs)) / 1000) * 1000;
}

function attendeeItem(seed: number, id: number, facts: AttendeeFacts): JsonObject {
  const { index } = facts;
  const { first, last, ...profile } = profileOf(seed, index);
  const signInTime = new Date(facts.signedInAtMs).toISOString();
  const item: JsonObject = { id, registrantId: facts.registrantId, attendeeCode: facts.attendeeCode, signInTime };
  // Four states: given, refused, not asked (null, as for single sign-on), and an absent field.
  const consent = draw(seed, 9, index) % 10;
  if (consent < 6) item['consent'] = { obtained: true, obtainedAt: signInTime };
  else if (consent < 8) item['consent'] = { obtained: false, obtainedAt: null };
  else if (consent === 8) item['consent'] = null;
  const social = draw(seed, 10, index);
  const handle = `p${social.toString(36)}`;
  const profileImageUrl = `https://images.example.com/profiles/${handle}/avatar-400x400.jpg`;
  if (social % 5 < 3) {
    item['linkedIn'] = {
      url: `https://www.linkedin.example.com/in/${handle}`,
      firstName: first,
      lastName: last,
      profileImageUrl,
    };
  }
  if (below(draw(seed, 11, index), 10) === 0) item['twitter'] = { screenName: handle, profileImageUrl };
  return Object.assign(item, profile);
}

/**
 * Codes have eight digits, often with leading zeros, because a code is text, and a spreadsheet that treats it as a
 * number damages it. A code is the index multiplied by a prime, plus a constant, modulo 10^8. This is reversible, so
 * that no table of a million codes is needed to find the registrant of a code.
 */
const MODULUS = 100_000_000;
const FACTOR = 7919;
const INVERSE = inverseOf(FACTOR, MODULUS);
const SHIFT = 4217;

export function codeOfIndex(index: number): string {
  return String((index * FACTOR + SHIFT) % MODULUS).padStart(8, '0');
}

/** Returns the index of a code, or null for another format. The index may exceed the number of registrants. */
export function indexOfCode(code: string): number | null {
  if (!/^\d{8}$/.test(code)) return null;
  return Number((BigInt(Number(code) - SHIFT + MODULUS) * INVERSE) % BigInt(MODULUS));
}

function inverseOf(factor: number, modulus: number): bigint {
  let [remainder, next] = [BigInt(modulus), BigInt(factor)];
  let [coefficient, nextCoefficient] = [0n, 1n];
  while (next !== 0n) {
    const quotient = remainder / next;
    [remainder, next] = [next, remainder - quotient * next];
    [coefficient, nextCoefficient] = [nextCoefficient, coefficient - quotient * nextCoefficient];
  }
  return ((coefficient % BigInt(modulus)) + BigInt(modulus)) % BigInt(modulus);
}
