import { createHash } from 'node:crypto';
import type { GradeStep } from './operation.js';
import { FailedMapping } from '../mapping/mapping-error.js';

/** What Canvas holds for one student and one assignment. Source: Canvas LMS, "Submissions", Submission object. */
export interface Submission {
  readonly userId: number;
  /** As it was entered, before deductions for lateness; null: none. */
  readonly grade: string | null;
  readonly score: number | null;
  readonly gradedAt: string | null;
  readonly excused: boolean;
  /** It is graded, and its student does not see that until a teacher posts it. */
  readonly isHidden?: boolean;
}

/** What a grade is worth in an assignment. */
export interface Scale {
  /** Possible points; null: not known. */
  readonly points: number | null;
  /** A bare number is a percentage, not points. */
  readonly isPercent: boolean;
}

const noScale: Scale = { points: null, isPercent: false };

/** Identifies a grade that is to be set, such that the same again need not be sent. */
export function sentHash({
  course,
  assignment,
  user,
  grade,
}: Pick<GradeStep, 'course' | 'assignment' | 'user' | 'grade'>) {
  return hashOf([course, assignment, user, grade]);
}

/** Identifies what stands in a submission, such that a change by somebody else is noticed. */
export function stateHash({ userId, grade, score, excused }: Submission): string {
  return hashOf([userId, grade, score, excused]);
}

function hashOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22);
}

/**
 * What to do about one grade, from what stands there. Pure.
 * - `same`: it stands there already, whoever has set it.
 * - `write`: nothing stands there yet, what this sink left stands there, or replacing is allowed.
 * - `leave`: somebody else has set, changed, cleared or excused it.
 * @param begun whether an earlier attempt, whose end nobody knows, may have set what stands there
 */
export function decideGrade(
  step: GradeStep,
  found: Submission,
  begun: boolean,
  scale = noScale,
): 'same' | 'write' | 'leave' {
  if (holds(found, step.grade, scale)) return 'same';
  if (step.overwrite || begun) return 'write';
  // Of another student, where the mapping names a new one: what was left there says nothing of this one.
  if (step.left?.userId === found.userId) return stateHash(found) === step.left.state ? 'write' : 'leave';
  return hasGrade(found) || found.excused ? 'leave' : 'write';
}

/** Whether Canvas took a grade: it stands there, or what stands there was graded anew (a letter becomes points, say). */
export function isTaken(
  grade: string,
  before: Pick<Submission, 'gradedAt'>,
  after: Submission,
  scale = noScale,
): boolean {
  if (holds(after, grade, scale)) return true;
  return grade !== '' && hasGrade(after) && after.gradedAt !== before.gradedAt;
}

function holds(found: Submission, grade: string, scale: Scale): boolean {
  if (grade === '') return !hasGrade(found);
  if (found.excused || !hasGrade(found)) return false;
  const points = pointsOf(grade, scale);
  if (points !== undefined) return found.score !== null && Math.abs(found.score - points) < 0.0051;
  return found.grade?.toLowerCase() === grade.toLowerCase();
}

/** Undefined: it is not a number of points, or what a percentage is worth is not known. */
function pointsOf(grade: string, { points, isPercent }: Scale): number | undefined {
  const [, number, sign] = /^(-?\d+(?:\.\d+)?)(%?)$/.exec(grade) ?? [];
  if (number === undefined) return undefined;
  if (sign === '' && !isPercent) return Number(number);
  return points === null ? undefined : (Number(number) / 100) * points;
}

function hasGrade({ grade, score }: Submission): boolean {
  return (grade !== null && grade !== '') || score !== null;
}

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
