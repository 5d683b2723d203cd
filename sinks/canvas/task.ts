import type { Fields, Outcome, Result } from '../sink.js';
import { type CanvasOperation, type GradeStep, isSameAssignment, type MadeGrade } from './operation.js';

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
