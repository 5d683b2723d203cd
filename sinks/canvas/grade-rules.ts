import { createHash } from 'node:crypto';
import type { GradeStep } from './plan.js';
import { FailedMapping } from '../mapping/mapping-error.js';

/** The submission of one student for one assignment. Source: Canvas LMS, "Submissions", Submission object. */
export interface Submission {
  readonly userId: number;
  /** The entered grade, before deductions for lateness; null if there is none. */
  readonly grade: string | null;
  readonly score: number | null;
  readonly gradedAt: string | null;
  readonly excused: boolean;
  /** The id of the user who graded it, negative for a tool; null if it is not graded. */
  readonly graderId: number | null;
  /** Whether the student cannot see the grade until a teacher posts it. */
  readonly isHidden?: boolean;
}

/** The scale of an assignment's grades. */
export interface Scale {
  /** The maximum points; null if not known. */
  readonly points: number | null;
  /** Whether a number without a percent sign is a percentage and not points. */
  readonly isPercent: boolean;
}

const noScale: Scale = { points: null, isPercent: false };

/** Returns a hash of a grade that must be set. If it is equal to the last one, the grade is not sent again. */
export function sentHash(step: Pick<GradeStep, 'course' | 'assignment' | 'user' | 'grade'>): string {
  return hashOf([step.course, step.assignment, step.user, step.grade]);
}

/** Returns a hash of a submission, which shows whether someone else has changed it. */
export function stateHash({ userId, grade, score, excused }: Submission): string {
  return hashOf([userId, grade, score, excused]);
}

function hashOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22);
}

/**
 * Decides what to do with one grade, depending on the current submission. Pure.
 * - `same`: the grade is already set
 * - `write`: there is no grade, or this sink set the present grade, or the configuration allows it to be replaced
 * - `leave`: someone else has set, changed or cleared the grade, or excused the student
 * @param mayBeOurs whether an earlier attempt with an unknown outcome may have set the current grade
 */
export function decideGrade(
  step: GradeStep,
  found: Submission,
  mayBeOurs: boolean,
  scale = noScale,
): 'same' | 'write' | 'leave' {
  if (holds(found, step.grade, scale)) return 'same';
  if (step.overwrite || mayBeOurs) return 'write';
  // If the mapping now names another student, the submission that this sink left belongs to the earlier student and is
  // not compared.
  if (step.left?.userId === found.userId) return stateHash(found) === step.left.state ? 'write' : 'leave';
  return hasGrade(found) || found.excused ? 'leave' : 'write';
}

/**
 * Whether Canvas has set a grade: either the submission has this grade, or it was graded after the job started (Canvas
 * may convert a letter to points).
 */
export function isSet(
  grade: string,
  before: Pick<Submission, 'gradedAt'>,
  after: Submission,
  scale = noScale,
): boolean {
  if (holds(after, grade, scale)) return true;
  return grade !== '' && hasGrade(after) && after.gradedAt !== before.gradedAt;
}

/** Whether a submission has this grade; an empty grade means none. */
export function holds(found: Submission, grade: string, scale: Scale): boolean {
  if (grade === '') return !hasGrade(found);
  if (found.excused || !hasGrade(found)) return false;
  const points = pointsOf(grade, scale);
  if (points !== undefined) return found.score !== null && Math.abs(found.score - points) < 0.0051;
  return found.grade?.toLowerCase() === grade.toLowerCase();
}

/**
 * Returns the points of a grade; undefined if the grade is not a number, or is a percentage and the maximum points are
 * not known.
 */
function pointsOf(grade: string, { points, isPercent }: Scale): number | undefined {
  const [, number, sign] = /^(-?\d+(?:\.\d+)?)(%?)$/.exec(grade) ?? [];
  if (number === undefined) return undefined;
  if (sign === '' && !isPercent) return Number(number);
  return points === null ? undefined : (Number(number) / 100) * points;
}

export function hasGrade({ grade, score }: Submission): boolean {
  return (grade !== null && grade !== '') || score !== null;
}

/**
 * Grades are rounded to two decimals, as Canvas returns them. Otherwise, a grade would appear to have changed when it
 * is read again.
 */
const DECIMALS = 2;

/**
 * Converts a value to a grade. A number is points, and a text is used unchanged (`85%`, `A-`, `pass`). Null if the
 * value is empty.
 * @throws {FailedMapping} if the value is not a grade; the message does not contain it
 */
export function gradeValue(value: unknown, key: string): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && Number.isFinite(value)) return String(Number(value.toFixed(DECIMALS)));
  if (typeof value === 'string' && value.trim().length <= 100) return value.trim() || null;
  throw new FailedMapping(
    key,
    'not-a-grade',
    'returned a value that is not a grade: it must be a number, or a text of at most 100 characters',
  );
}

/**
 * Converts a value to a reference to a course, an assignment or a user; null if it is empty, for example because
 * `"sis_user_id:" & attendee.attendeeCode` has no code to add.
 * @throws {FailedMapping}
 */
export function referenceValue(value: unknown, key: string): string | null {
  if (value === undefined || value === null) return null;
  const text = typeof value === 'number' ? String(value) : value;
  const refused = (why: string) => new FailedMapping(key, 'not-an-id', `returned a value that is not an id: ${why}`);
  if (typeof text !== 'string' || text.length > 255) {
    throw refused('it must be a number, or a text of at most 255 characters');
  }
  if (/^\s*\.+\s*$/.test(text)) throw refused('it consists only of dots');
  // a path cannot contain a lone surrogate
  if (/\p{Surrogate}/u.test(text)) throw refused('it contains half of a surrogate pair, which is not a character');
  const reference = text.trim();
  return reference === '' || reference.endsWith(':') ? null : reference;
}

/** The prefix of a reference that contains an assignment's whole name. */
export const namePrefix = 'name:';

/**
 * Converts a value to a reference to an assignment that may have to be created, so the reference must be a name.
 * @throws {FailedMapping}
 */
export function nameValue(value: unknown, key: string): string | null {
  const reference = referenceValue(value, key);
  if (reference === null || reference.startsWith(namePrefix)) return reference;
  throw new FailedMapping(key, 'not-a-name', 'returned no name: "createAssignment" needs one, as in "name:Attendance"');
}

/**
 * Encodes an id for a path. Ids of a student system may contain characters that a path cannot contain. Canvas accepts
 * such ids in hexadecimal form. Source: Canvas LMS, "Object IDs, SIS IDs, and special IDs".
 */
export function pathPart(reference: string): string {
  const [, prefix, id] = /^([a-z_]+):(.*)$/s.exec(reference) ?? [];
  if (prefix === undefined || id === undefined) return encodeURIComponent(reference);
  if (/^[\w~-]+$/.test(id)) return `${prefix}:${id}`;
  return `hex:${prefix}:${Buffer.from(id, 'utf8').toString('hex')}`;
}
