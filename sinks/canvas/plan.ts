import {
  type Fields,
  forgetsPerson,
  type OnForget,
  type Operation,
  type Outcome,
  type Planned,
  type Result,
  type SinkEnvironment,
  type Subject,
} from '../sink.js';
import { worstOf } from '../records/worst-result.js';
import { mappingView, type MappingView } from '../mapping/expression.js';
import type { CreateKeys, GradeKeys } from './config.js';
import type { CanvasReason } from './reasons.js';
import { sentHash, gradeValue, nameValue, referenceValue } from './grade-rules.js';

/** Plans the grades of changes. Pure. */
export class Planner {
  readonly #entries: readonly { readonly keys: GradeKeys; readonly path: string }[];
  readonly #onForget: OnForget;

  constructor(records: readonly GradeKeys[], { name, onForget }: Pick<SinkEnvironment, 'name' | 'onForget'>) {
    this.#entries = records.map((keys, index) => ({ keys, path: `${name}.records[${index}]` }));
    this.#onForget = onForget;
  }

  /** @throws {MappingError} */
  async plan(subject: Subject): Promise<Planned<CanvasOperation>> {
    const { change, object, removal } = subject;
    const made = madeGrades(object);
    if (removal !== null || change.data === null) return this.#planRemoval(subject, made);
    const steps: GradeStep[] = [];
    let reason: CanvasReason = 'no-record';
    const view = mappingView(subject);
    for (const { keys, path } of this.#entries.filter((entry) => entry.keys.from === change.list)) {
      const step = await stepFor(keys, path, view, { made, again: subject.again === true });
      if (typeof step === 'string') reason = step;
      else if (!steps.some((other) => isSameAssignment(other, step))) steps.push(step); // the first record decides
    }
    if (steps.length === 0) return nothing(reason);
    return { kind: 'send', operation: { changeId: change.id, steps, made } };
  }

  /**
   * Plans an operation for a change that an earlier attempt may have sent, although nothing of it is planned now. It is
   * never sent, and has no step that could be looked up: `recover` stores that Canvas may have grades of the item.
   */
  planLookUp({ change, object }: Subject): Planned<CanvasOperation> {
    if (!this.#entries.some(({ keys }) => keys.from === change.list)) return nothing('no-record');
    return { kind: 'send', operation: { changeId: change.id, steps: [], made: madeGrades(object) } };
  }

  /** A grade is a record of the course, so it stays when an item is deleted; it is removed if the attendee must be forgotten. */
  #planRemoval({ change, removal, object }: Subject, made: readonly MadeGrade[]): Planned<CanvasOperation> {
    if (forgetsPerson(removal) && object?.['mayExist'] === true) {
      const places = made.map(({ course, assignment }) => `course ${course}, assignment ${assignment}`);
      const known = places.length === 0 ? '' : ` (${places.join('; ')})`;
      return {
        kind: 'unplannable',
        cause: 'canvas:forget-by-hand',
        detail: `a person must be forgotten, and Canvas may have set a grade without answering: look for the student's grades there by hand${known}`,
      };
    }
    if (made.length === 0) return nothing('nothing-made');
    if (!forgetsPerson(removal)) return nothing('grade-stays');
    if (this.#onForget === 'manual') return nothing('forget-by-hand');
    const steps = made.map(({ course, assignment, left, mayExist }): GradeStep => {
      const step = { course, assignment, user: String(mayExist?.userId ?? left?.userId), grade: '' };
      return { ...step, sent: sentHash(step), left, overwrite: false };
    });
    return { kind: 'send', operation: { changeId: change.id, steps, made } };
  }
}

function nothing(reason: CanvasReason): Planned<never> {
  return { kind: 'nothing', reason };
}

/** Returns the grade that a record produces for an item, or the reason why it produces none. */
async function stepFor(
  keys: GradeKeys,
  path: string,
  view: MappingView,
  { made, again }: { readonly made: readonly MadeGrade[]; readonly again: boolean },
): Promise<GradeStep | CanvasReason> {
  if (keys.when !== undefined && !(await keys.when.holds(view, `${path}.when`))) return 'condition';
  const user = await keys.user.evaluate(view, `${path}.user`, referenceValue);
  if (user === null) return 'no-user';
  const course = await keys.course.evaluate(view, `${path}.course`, referenceValue);
  const { createAssignment } = keys;
  const assignmentValue = createAssignment === undefined ? referenceValue : nameValue;
  const assignment = await keys.assignment.evaluate(view, `${path}.assignment`, assignmentValue);
  if (course === null || assignment === null) return 'no-assignment';
  const grade = await keys.grade.evaluate(view, `${path}.grade`, gradeValue);
  if (grade === null) return 'no-grade';
  const target = { course, assignment, user, grade };
  const sent = sentHash(target);
  const before = made.find((each) => isSameAssignment(each, target));
  if (before?.sent === sent && !again) return 'same-grade';
  const step = { ...target, sent, left: before?.left ?? null, overwrite: keys.overwrite };
  return createAssignment === undefined ? step : { ...step, create: createAssignment };
}

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
  /** Null: the outcome of the last grade is unknown. */
  readonly sent: string | null;
  /** Null: no grade is known to be set. */
  readonly left: Left | null;
  /** The student whose grade may have been set without an answer. */
  readonly mayExist?: Pick<Left, 'userId'>;
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
  /** The grade that Canvas now has, once it is delivered. */
  made: MadeGrade | undefined;
  /** The id of the student for whom a job was started in this attempt. */
  startedFor: number | undefined;

  constructor(readonly step: GradeStep) {}

  get isSettled(): boolean {
    return this.#result !== undefined;
  }

  /** Sets the result; only the first call has an effect. */
  settle(result: Result): void {
    this.#result ??= result;
  }

  deliver(made: MadeGrade, detail: string): void {
    this.made = made;
    this.settle({ kind: 'delivered', detail });
  }

  /** Returns the grade that the operation leaves; undefined if nothing is known to have changed. */
  get left(): MadeGrade | undefined {
    if (this.made !== undefined || this.#result?.kind !== 'unknown' || this.startedFor === undefined) return this.made;
    const { course, assignment, left } = this.step;
    const userId = this.startedFor;
    return { course, assignment, sent: null, left: left?.userId === userId ? left : null, mayExist: { userId } };
  }

  get result(): Result {
    return this.#result ?? { kind: 'unsent' };
  }
}

/** Returns the outcome of an operation. If it has several grades, that is the worst result. */
export function outcomeOf(operation: CanvasOperation, tasks: readonly GradeTask[]): Outcome {
  const worst = worstOf(tasks.map(({ result }) => result));
  const fresh = tasks.flatMap(({ left }) => left ?? []);
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
