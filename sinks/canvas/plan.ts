import { forgetsPerson, type Planned, type SinkEnvironment, type Subject, type OnForget } from '../sink.js';
import { mappingView, type MappingView } from '../mapping/expression.js';
import type { GradeKeys } from './config.js';
import { sentHash, gradeValue, nameValue, referenceValue } from './grade-rules.js';
import { type CanvasOperation, type GradeStep, isSameAssignment, type MadeGrade, madeGrades } from './operation.js';

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
    let reason = 'no-record';
    const view = mappingView(subject);
    for (const { keys, path } of this.#entries.filter((entry) => entry.keys.from === change.list)) {
      const step = await stepFor(keys, path, view, made);
      if (typeof step === 'string') reason = step;
      else if (!steps.some((other) => isSameAssignment(other, step))) steps.push(step); // the first record decides
    }
    if (steps.length === 0) return { kind: 'nothing', reason };
    return { kind: 'send', operation: { changeId: change.id, steps, made } };
  }

  /** A grade is a record of the course, so it stays when an item is deleted; it is removed if the attendee must be forgotten. */
  #planRemoval({ change, removal }: Subject, made: readonly MadeGrade[]): Planned<CanvasOperation> {
    if (made.length === 0) return { kind: 'nothing', reason: 'nothing-made' };
    if (!forgetsPerson(removal)) return { kind: 'nothing', reason: 'grade-stays' };
    if (this.#onForget === 'manual') return { kind: 'nothing', reason: 'forget-by-hand' };
    const steps = made.map(({ course, assignment, left }): GradeStep => {
      const step = { course, assignment, user: String(left.userId), grade: '' };
      return { ...step, sent: sentHash(step), left, overwrite: false };
    });
    return { kind: 'send', operation: { changeId: change.id, steps, made } };
  }
}

/** Returns the grade that a record produces for an item, or a code for why it produces none. */
async function stepFor(
  keys: GradeKeys,
  path: string,
  view: MappingView,
  made: readonly MadeGrade[],
): Promise<GradeStep | string> {
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
  if (before?.sent === sent) return 'same-grade';
  const step = { ...target, sent, left: before?.left ?? null, overwrite: keys.overwrite };
  return createAssignment === undefined ? step : { ...step, create: createAssignment };
}
