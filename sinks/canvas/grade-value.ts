import { FailedMapping } from '../mapping/failed-mapping.js';

/** Canvas shows two decimals, and a grade that differed beyond them would look changed when it is read again. */
const DECIMALS = 2;

/**
 * A grade as Canvas takes it: a number is points, a text is taken as it stands (`85%`, `A-`, `pass`); null: none.
 * @throws {FailedMapping} naming the kind of the value, never the value
 */
export function gradeValue(value: unknown, key: string): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && Number.isFinite(value)) return String(Number(value.toFixed(DECIMALS)));
  if (typeof value === 'string' && value.trim().length <= 100) return value.trim() || null;
  throw new FailedMapping(key, 'not-a-grade', 'gave something that is no grade: it takes a number or a short text');
}

/**
 * What names a course, an assignment or a user; null: nothing does, as where `"sis_user_id:" & attendee.attendeeCode`
 * has no code to add.
 * @throws {FailedMapping}
 */
export function referenceValue(value: unknown, key: string): string | null {
  if (value === undefined || value === null) return null;
  const text = typeof value === 'number' ? String(value) : value;
  // half of a surrogate pair stands in no path
  if (typeof text !== 'string' || text.length > 255 || /\p{Surrogate}/u.test(text) || /^\s*\.+\s*$/.test(text)) {
    throw new FailedMapping(key, 'not-an-id', 'gave something that is no id: it takes a number or a text');
  }
  const reference = text.trim();
  return reference === '' || reference.endsWith(':') ? null : reference;
}

/** Stands before the whole name of an assignment. */
export const namePrefix = 'name:';

/**
 * What names an assignment that is created where it is missing.
 * @throws {FailedMapping}
 */
export function nameValue(value: unknown, key: string): string | null {
  const reference = referenceValue(value, key);
  if (reference === null || reference.startsWith(namePrefix)) return reference;
  throw new FailedMapping(key, 'not-a-name', 'gave no name: "createAssignment" needs one, as in "name:Attendance"');
}

/**
 * An id as part of a path. Ids of a student system may hold what a path may not; Canvas takes those in hexadecimal.
 * Source: Canvas LMS, "Object IDs, SIS IDs, and special IDs".
 */
export function pathPart(reference: string): string {
  const [, prefix, id] = /^([a-z_]+):(.*)$/s.exec(reference) ?? [];
  if (prefix === undefined || id === undefined) return encodeURIComponent(reference);
  if (/^[\w~-]+$/.test(id)) return `${prefix}:${id}`;
  return `hex:${prefix}:${Buffer.from(id, 'utf8').toString('hex')}`;
}
