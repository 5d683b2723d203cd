import type { CreateKeys } from './config.js';
import type { Fields, Operation } from '../sink.js';

export interface Left {
  /** The student's id in Canvas. */
  readonly userId: number;
  /** stateHash of what stood there. */
  readonly state: string;
}

/** One grade of one student. */
export interface GradeStep {
  readonly course: string;
  readonly assignment: string;
  /** As the mapping names them, or their id in Canvas where only that is known. */
  readonly user: string;
  /** As Canvas takes it; empty: the grade is taken away. */
  readonly grade: string;
  /** Identifies what is to be set, for whom. */
  readonly sent: string;
  /** What this sink last left in this assignment, and for which student; null: nothing yet. */
  readonly left: Left | null;
  readonly overwrite: boolean;
  /** The assignment is made where no assignment has its name. */
  readonly create?: CreateKeys | undefined;
}

export interface CanvasOperation extends Operation {
  readonly steps: readonly GradeStep[];
  /** All that this sink has made of the item so far. */
  readonly made: readonly MadeGrade[];
}

/** What this sink has made: ids and hashes, never a grade or a person. */
export interface MadeGrade {
  readonly course: string;
  readonly assignment: string;
  readonly sent: string;
  readonly left: Left;
}

/** What an object says that an outcome of this sink stored. */
export function madeGrades(object: Fields | null): MadeGrade[] {
  const grades = object?.['grades'];
  return Array.isArray(grades) ? (grades as MadeGrade[]) : [];
}

export function isSameAssignment(
  one: Pick<MadeGrade, 'course' | 'assignment'>,
  other: Pick<MadeGrade, 'course' | 'assignment'>,
): boolean {
  return one.course === other.course && one.assignment === other.assignment;
}
