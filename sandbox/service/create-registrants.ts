import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { PROFILE_FIELDS } from '../world/attendee-source.js';
import type { Conference } from '../world/conference.js';
import type { Knobs } from './knobs.js';
import { ServiceError, type FieldError } from './service-error.js';

const MAX_TEXT_LENGTH = 255;

/** A registrant that may be created, or what is wrong with it. */
type Checked = { profile: JsonObject & { attendeeCode: string } } | { field: string; message: string };

/**
 * Creates the registrants of a bulk request. Whether one bad registrant spoils the batch, and how it is named, are
 * knobs, since the specification does not say. Codes are unique in a pigeonhole.
 * @throws {ServiceError} 4504, 4507, or 4500 with an entry for each registrant refused
 */
export function createRegistrants(conference: Conference, pigeonholeId: number, body: JsonObject, knobs: Knobs): void {
  const space = conference.space(pigeonholeId);
  if (space === undefined) throw new ServiceError(4504);
  if (conference.pigeonholes.item(pigeonholeId)?.['registrants'] !== true) throw new ServiceError(4507);
  const { data } = body;
  if (!Array.isArray(data) || data.length === 0) {
    throw new ServiceError(4500, { errors: [{ field: 'data', message: 'must be a non-empty array' }] });
  }
  if (data.length > knobs.registrantMaxBatch) {
    const message = `must hold at most ${knobs.registrantMaxBatch} registrants`;
    throw new ServiceError(4500, { errors: [{ field: 'data', message }] });
  }

  const { registrantDuplicates } = knobs;
  const codesInBatch = new Set<string>();
  const isTaken = (code: string): boolean => space.desk.idOf(code) !== undefined;
  if (registrantDuplicates === 'refuse-chunk' && data.some((registrant) => isTaken(codeOf(registrant)))) {
    throw new ServiceError(4500, {
      errors: [{ field: 'data', message: 'holds attendee codes that have already been taken' }],
    });
  }
  const refuses = registrantDuplicates === 'refuse-row' ? isTaken : () => false;
  const checked = data.map((registrant) => checkRegistrant(registrant, refuses, codesInBatch));
  const errors: FieldError[] = [];
  for (const [index, result] of checked.entries()) {
    if ('profile' in result) continue;
    errors.push({ field: placeOf(index, result.field, knobs.registrantErrors), message: result.message });
  }
  if (errors.length === 0 || knobs.registrantAtomicity === 'partial') {
    for (const result of checked) {
      if (!('profile' in result)) continue;
      if (!isTaken(result.profile.attendeeCode)) space.desk.register(result.profile);
      else if (registrantDuplicates === 'upsert') space.desk.replace(result.profile);
    }
  }
  if (errors.length > 0) throw new ServiceError(4500, { errors: knobs.registrantErrors === 'none' ? [] : errors });
}

function placeOf(index: number, field: string, form: Knobs['registrantErrors']): string {
  switch (form) {
    case 'indexed':
      return `data[${index}].${field}`;
    case 'dotted':
      return `data.${index}.${field}`;
    case 'from-one':
      return `registrants[${index + 1}].${field}`;
    default:
      return field;
  }
}

function codeOf(registrant: Json): string {
  const code = isJsonObject(registrant) ? registrant['attendeeCode'] : undefined;
  return typeof code === 'string' ? code : '';
}

/** @param refuses whether a code is refused because it is taken */
function checkRegistrant(registrant: Json, refuses: (code: string) => boolean, codesInBatch: Set<string>): Checked {
  const field = 'attendeeCode';
  if (!isJsonObject(registrant)) return { field, message: 'must be an object with an attendeeCode' };
  const { attendeeCode } = registrant;
  if (attendeeCode === undefined || attendeeCode === null) return { field, message: 'is required' };
  if (typeof attendeeCode !== 'string' || attendeeCode.trim() === '')
    return { field, message: 'must be a non-empty string' };
  if (attendeeCode.length > MAX_TEXT_LENGTH)
    return { field, message: `must have at most ${MAX_TEXT_LENGTH} characters` };
  if (refuses(attendeeCode)) return { field, message: 'has already been taken' };
  if (codesInBatch.has(attendeeCode)) return { field, message: 'is used twice in this request' };
  const profile: JsonObject & { attendeeCode: string } = { attendeeCode };
  for (const name of PROFILE_FIELDS) {
    const value = registrant[name];
    if (value === undefined) continue;
    if (typeof value !== 'string') return { field: name, message: 'must be a string' };
    if (value.length > MAX_TEXT_LENGTH)
      return { field: name, message: `must have at most ${MAX_TEXT_LENGTH} characters` };
    profile[name] = value;
  }
  codesInBatch.add(attendeeCode);
  return { profile };
}
