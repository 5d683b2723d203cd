import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { PROFILE_FIELDS } from '../world/attendee-source.js';
import type { Conference } from '../world/conference.js';
import type { Knobs } from './knobs.js';
import { ServiceError, type FieldError } from './service-error.js';
import { sessionItem, isSessionType, SESSION_TYPES, DEFAULT_DESCRIPTION } from '../world/conference-plan.js';
import { isTimezone } from '../world/zoned-time.js';

const MAX_TEXT_LENGTH = 255;

/** A valid registrant, or the problem of an invalid one. */
type Checked = { profile: JsonObject & { attendeeCode: string } } | { field: string; message: string };

/**
 * Creates the registrants of a bulk request. Codes are unique in a pigeonhole. The specification does not say whether
 * one bad registrant refuses the batch and how the answer names it, so knobs decide.
 * @throws {ServiceError} 4504, 4507, or 4500 with an entry for each refused registrant
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
  const limits = { codesInBatch, maxText: knobs.registrantMaxText };
  const checked = data.map((registrant) => checkRegistrant(registrant, refuses, limits));
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

/** @param refuses whether a code is refused because it is already in use */
function checkRegistrant(
  registrant: Json,
  refuses: (code: string) => boolean,
  { codesInBatch, maxText }: { readonly codesInBatch: Set<string>; readonly maxText: number },
): Checked {
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
    if (value.length > maxText) return { field: name, message: `must have at most ${maxText} characters` };
    profile[name] = value;
  }
  codesInBatch.add(attendeeCode);
  return { profile };
}

/**
 * Parses a request body.
 * @throws {ServiceError} 7001 if it is not JSON or lacks the content type of JSON; 4500 if it is not an object
 */
export function parseBody(body: string, contentType: string | undefined): JsonObject {
  if (contentType?.split(';')[0]?.trim().toLowerCase() !== 'application/json') {
    throw new ServiceError(7001, { message: 'Malformed request: Content-Type must be application/json' });
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    throw new ServiceError(7001);
  }
  if (isJsonObject(parsed)) return parsed;
  throw new ServiceError(4500, { errors: [{ field: 'body', message: 'must be an object' }] });
}

/** Collects the problems of the fields in a body, so that one answer names all of them. */
class FieldChecks {
  readonly #body: JsonObject;
  readonly #errors: FieldError[] = [];

  constructor(body: JsonObject) {
    this.#body = body;
  }

  fail(field: string, message: string): void {
    this.#errors.push({ field, message });
  }

  /** Returns a required text. Records a problem and returns '' if it is missing or not a text. */
  text(field: string): string {
    const value = this.#body[field];
    if (typeof value === 'string' && value.trim() !== '') return value;
    this.fail(field, value === undefined ? 'is required' : 'must be a non-empty string');
    return '';
  }

  /** Returns a required calendar day, YYYY-MM-DD. */
  date(field: string): string {
    const value = this.text(field);
    const parsed = /^\d{4}-\d{2}-\d{2}$/.test(value) ? new Date(`${value}T00:00:00Z`) : null;
    const exists = parsed !== null && !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(value);
    if (value !== '' && !exists) this.fail(field, 'must be a date, YYYY-MM-DD');
    return value;
  }

  /** Parses an ISO 8601 date-time with Z or an offset to milliseconds; null if it is optional and absent. */
  instantMs(field: string, required: boolean): number | null {
    const value = this.#body[field];
    if (value === undefined || value === null) {
      if (required) this.fail(field, 'is required');
      return null;
    }
    const parsed =
      typeof value === 'string' && /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/.test(value)
        ? Date.parse(value)
        : Number.NaN;
    if (!Number.isNaN(parsed)) return parsed;
    this.fail(field, 'must be an ISO 8601 date-time');
    return null;
  }

  value(field: string): Json | undefined {
    return this.#body[field];
  }

  /** @throws {ServiceError} 4500 with every invalid field */
  throwIfAny(): void {
    if (this.#errors.length > 0) throw new ServiceError(4500, { errors: this.#errors });
  }
}

/** Fields that the service sets itself or that have their own checks. */
const NOT_CUSTOM = ['id', 'name', 'type', 'startDate', 'endDate', 'createdAt', 'links', 'parentSessionId'];

/**
 * Creates a session. Only `qna` sessions require times; the requirements of other types are not documented. A request
 * may contain any other field of a session with the correct type.
 * @throws {ServiceError} 4504, or 4500 for fields
 */
export function createSession(
  conference: Conference,
  pigeonholeId: number,
  body: JsonObject,
  nowMs: number,
): JsonObject {
  const space = conference.space(pigeonholeId);
  if (space === undefined) throw new ServiceError(4504);
  const checks = new FieldChecks(body);
  const name = checks.text('name');
  const type = checks.text('type');
  if (type !== '' && !isSessionType(type)) checks.fail('type', `must be one of ${SESSION_TYPES.join(', ')}`);
  const startsAtMs = checks.instantMs('startDate', type === 'qna');
  const endsAtMs = checks.instantMs('endDate', type === 'qna');
  if (startsAtMs !== null && endsAtMs !== null && endsAtMs < startsAtMs) {
    checks.fail('endDate', 'must not be before startDate');
  }
  const parent = checks.value('parentSessionId') ?? null;
  if (parent !== null && (typeof parent !== 'number' || !space.sessions.has(parent))) {
    checks.fail('parentSessionId', 'must be the id of a session of this pigeonhole');
  }
  const timezone = conference.pigeonholes.item(pigeonholeId)?.['timezone'];
  const id = space.sessions.freeId();
  const item = sessionItem(
    {
      id,
      pigeonholeId,
      name,
      type: isSessionType(type) ? type : 'regular',
      timezone: typeof timezone === 'string' ? timezone : 'UTC',
      startsAtMs,
      endsAtMs,
      createdAtMs: nowMs,
      anonymousResponses: true,
      parentSessionId: typeof parent === 'number' ? parent : null,
    },
    space.seed,
  );
  for (const [field, usual] of Object.entries(item)) {
    const sent = checks.value(field);
    if (sent === undefined || NOT_CUSTOM.includes(field)) continue;
    if (typeof sent === typeof usual) item[field] = sent;
    else checks.fail(field, `must be a ${typeof usual}`);
  }
  checks.throwIfAny();
  space.sessions.insert(item, id);
  return item;
}

/**
 * Creates a pigeonhole of status `new`.
 * @param subscriptionField the field of the body with the subscription, which a Team workspace must send
 * @throws {ServiceError} 4500 for fields, 4505 for a subscription that does not exist
 */
export function createPigeonhole(
  conference: Conference,
  body: JsonObject,
  options: { workspaceKind: 'personal' | 'team'; subscriptionField: string },
): JsonObject {
  const checks = new FieldChecks(body);
  const name = checks.text('name');
  const startDate = checks.date('startDate');
  const endDate = checks.date('endDate');
  const timezone = checks.text('timezone');
  if (timezone !== '' && !isTimezone(timezone)) checks.fail('timezone', 'must be an IANA time-zone name');
  if (startDate !== '' && endDate !== '' && endDate < startDate) checks.fail('endDate', 'must not be before startDate');
  const flag = (field: string, fallback: boolean): boolean => {
    const value = checks.value(field) ?? fallback;
    if (typeof value !== 'boolean') checks.fail(field, 'must be true or false');
    return value === true;
  };
  const attendeeProfiles = flag('attendeeProfiles', true);
  const registrants = flag('registrants', false);
  const attendeeCodeRequired = flag('attendeeCodeRequired', false);
  const description = checks.value('description') ?? DEFAULT_DESCRIPTION;
  if (typeof description !== 'string') checks.fail('description', 'must be a string');
  if (options.workspaceKind === 'team') {
    const subscription = checks.value(options.subscriptionField);
    if (subscription === undefined || subscription === null) checks.fail(options.subscriptionField, 'is required');
    else if (typeof subscription !== 'number' || !conference.subscriptions.has(subscription))
      throw new ServiceError(4505);
  }
  checks.throwIfAny();
  return conference.createPigeonhole({
    name,
    description: typeof description === 'string' ? description : '',
    startDate,
    endDate,
    status: 'new',
    timezone,
    attendeeProfiles,
    registrants,
    attendeeCodeRequired,
  });
}
