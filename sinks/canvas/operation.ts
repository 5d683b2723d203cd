import type { CreateKeys } from './config.js';
import type { Fields, Operation, Outcome, Result } from '../sink.js';

interface Left {
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

/** One grade on its way. */
export class GradeTask {
  #result: Result | undefined;
  #made: MadeGrade | undefined;

  constructor(readonly step: GradeStep) {}

  get isSettled(): boolean {
    return this.#result !== undefined;
  }

  /** The first word counts. */
  settle(result: Result): void {
    this.#result ??= result;
  }

  /** @param made what stands in Canvas now */
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

/** Worst first: an operation of several grades has come as far as the one that came least far. */
const order: readonly Result['kind'][] = ['pause', 'unknown', 'retry', 'unsent', 'rejected', 'delivered'];

/** What became of an operation, from what became of its grades. */
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
