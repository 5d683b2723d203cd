import type { CreateKeys } from './config.js';
import type { Fields, Operation, Outcome, Result } from '../sink.js';

interface Left {
  /** The student's id in Canvas. */
  readonly userId: number;
  /** `stateHash` of the submission as this sink left it. */
  readonly state: string;
}

/** One grade of one student. */
export interface GradeStep {
  readonly course: string;
  readonly assignment: string;
  /** The student's reference from the mapping, or the student's id in Canvas if only that is known. */
  readonly user: string;
  /** The grade in Canvas' format; empty to remove the grade. */
  readonly grade: string;
  /** `sentHash` of this grade. */
  readonly sent: string;
  /** The submission as this sink last left it in this assignment; null if this sink has set no grade there. */
  readonly left: Left | null;
  readonly overwrite: boolean;
  /** The settings with which the assignment is created if none has this name. Absent: it is not created. */
  readonly create?: CreateKeys | undefined;
}

export interface CanvasOperation extends Operation {
  readonly steps: readonly GradeStep[];
  /** The grades that this sink has already set for the item. */
  readonly made: readonly MadeGrade[];
}

/**
 * A grade that this sink has set, as the ledger stores it. It contains references, ids and hashes, never the grade or
 * the name of a person.
 */
export interface MadeGrade {
  readonly course: string;
  readonly assignment: string;
  readonly sent: string;
  readonly left: Left;
}

/** Reads the grades from the object that an outcome of this sink stored. */
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

/** One grade in progress, with its result so far. */
export class GradeTask {
  #result: Result | undefined;
  #made: MadeGrade | undefined;

  constructor(readonly step: GradeStep) {}

  get isSettled(): boolean {
    return this.#result !== undefined;
  }

  /** Sets the result; only the first call has an effect. */
  settle(result: Result): void {
    this.#result ??= result;
  }

  /** Records that the grade was set. @param made the grade that Canvas now has */
  deliver(made: MadeGrade, detail: string): void {
    this.#made = made;
    this.settle({ kind: 'delivered', detail });
  }

  get result(): Result {
    return this.#result ?? { kind: 'unsent' };
  }

  get made(): MadeGrade | undefined {
    return this.#made;
  }
}

/** The kinds of results, worst first. If an operation has several grades, its outcome is the worst result. */
const order: readonly Result['kind'][] = ['pause', 'unknown', 'retry', 'unsent', 'rejected', 'delivered'];

/** Returns the outcome of an operation from the results of its grades. */
export function outcomeOf(operation: CanvasOperation, tasks: readonly GradeTask[]): Outcome {
  const results = tasks.map(({ result }) => result);
  const worst = order.flatMap((kind) => results.filter((result) => result.kind === kind))[0] ?? { kind: 'unsent' };
  const fresh = tasks.flatMap(({ made }) => (made === undefined ? [] : [made]));
  if (fresh.length === 0) return worst;
  return { ...worst, object: objectOf(operation, tasks, fresh) };
}

function objectOf({ made }: CanvasOperation, tasks: readonly GradeTask[], fresh: readonly MadeGrade[]): Fields | null {
  const cleared = tasks.flatMap((task) => (task.step.grade === '' && task.made !== undefined ? [task.made] : []));
  const grades = [...made.filter((old) => !fresh.some((each) => isSameAssignment(each, old))), ...fresh].filter(
    (each) => !cleared.includes(each),
  );
  return grades.length === 0 ? null : { grades };
}
