import { Secret } from '../../config/secret.js';
import type { CanvasOptions } from '../../sandbox/canvas/canvas-instance.js';
import { exampleSchool, type Assignment, type SchoolPlan } from '../../sandbox/canvas/school.js';
import { canvasFaults, type CanvasDouble, startCanvasDouble } from '../../sandbox/canvas/start-canvas-double.js';
import type { Change } from '../change.js';
import { hurriedClock } from '../network/hurried-clock.test-kit.js';
import { subjectOf } from '../plan-of.test-kit.js';
import { sampleChange } from '../sample-change.test-kit.js';
import type { Fields, Outcome, Planned, SendResult, Sink, OnForget } from '../sink.js';
import { createCanvasSink } from './canvas.js';
import { canvasConfigSchema } from './config.js';
import type { CanvasOperation } from './plan.js';
import { environmentOf, laneOf } from '../sink-environment.test-kit.js';

const signal = new AbortController().signal;
let double: CanvasDouble;
let memory: Record<string, unknown>;
const sinks: Sink[] = [];

/** Starts a new account of the stand-in, with course 42, assignment 7 and the students S001 to S024. */
async function start(options: CanvasOptions = {}): Promise<void> {
  double = await startCanvasDouble(options);
  memory = {};
}

afterEach(async () => {
  await Promise.all(sinks.splice(0).map((sink) => sink.close()));
  await double.close();
});

/** Returns the example school with a changed assignment. */
function schoolWith(changed: Partial<Assignment>): SchoolPlan {
  const school = exampleSchool();
  const courses = school.courses.map((course) => ({
    ...course,
    assignments: course.assignments.map((assignment) => ({ ...assignment, ...changed })),
  }));
  return { ...school, courses };
}

const lane = () => laneOf(memory);

interface Options {
  readonly record?: Record<string, unknown>;
  readonly token?: string;
  readonly onForget?: OnForget;
  readonly patienceMs?: number;
}

function newSink({
  record,
  token = 'canvas-token',
  onForget,
  patienceMs = 3_600_000,
}: Options = {}): Sink<CanvasOperation> {
  const config = canvasConfigSchema.parse({
    baseUrl: double.url,
    token: new Secret(token),
    records: [
      {
        from: 'engagement',
        when: 'item.scope = "pigeonhole"',
        course: '"42"',
        assignment: '"7"',
        user: '"sis_user_id:" & attendee.attendeeCode',
        grade: 'item.points',
        ...record,
      },
    ],
  });
  const environment = environmentOf('grades', { requestTimeoutMs: 60_000, ...(onForget && { onForget }) });
  const sink = createCanvasSink(config, environment, { clock: hurriedClock, patienceMs });
  sinks.push(sink);
  return sink;
}

interface Graded {
  /** 1 to 24. */
  readonly student: number;
  readonly points: unknown;
  readonly object?: Fields | null;
}

const changeFor = (student: number, points: unknown): Change =>
  sampleChange({ id: `c${student}`, list: 'engagement', key: `e${student}`, data: { scope: 'pigeonhole', points } });

const codeOf = (student: number): string => `S${String(student).padStart(3, '0')}`;
const idOf = (student: number): number => 1000 + student;

const plan = (sink: Sink<CanvasOperation>, grades: readonly Graded[]): Promise<Planned<CanvasOperation>[]> =>
  sink.plan(
    grades.map(({ student, points, object = null }) =>
      subjectOf(changeFor(student, points), {
        object,
        attendee: { attendeeCode: codeOf(student), Name: 'Ada Lovelace' },
      }),
    ),
  );

async function operationsOf(sink: Sink<CanvasOperation>, grades: readonly Graded[]): Promise<CanvasOperation[]> {
  return (await plan(sink, grades)).flatMap((each) => (each.kind === 'send' ? [each.operation] : []));
}

async function commit(result: Promise<SendResult>): Promise<readonly Outcome[]> {
  const { outcomes, memory: more } = await result;
  Object.assign(memory, more);
  return outcomes;
}

const send = async (sink: Sink<CanvasOperation>, grades: readonly Graded[]): Promise<readonly Outcome[]> =>
  commit(sink.send(await operationsOf(sink, grades), lane(), signal));

const recover = async (sink: Sink<CanvasOperation>, grades: readonly Graded[]): Promise<readonly Outcome[]> =>
  commit(sink.recover!(await operationsOf(sink, grades), lane(), signal));

/** Sends, as a process that dies before it commits anything. */
const sendAndDie = async (sink: Sink<CanvasOperation>, grades: readonly Graded[]): Promise<void> => {
  await sink.send(await operationsOf(sink, grades), lane(), signal);
};

const kinds = (outcomes: readonly Outcome[]): string[] => outcomes.map(({ kind }) => kind);
const students = (count: number): Graded[] =>
  Array.from({ length: count }, (_, at) => ({ student: at + 1, points: 80 }));
const assignment = (): Assignment => double.canvas.school.courses[0]!.assignments[0]!;
const jobs = (): number => double.canvas.jobs.all().length;

function scoreOf(student: number): number | null {
  double.canvas.jobs.advance();
  return double.canvas.school.submission(assignment(), idOf(student)).score;
}

const teacherGrades = (student: number, grade: string): void =>
  void double.canvas.school.grade(assignment(), idOf(student), grade, 77);

describe('grades in Canvas', () => {
  it('are not sent again while they are the same, and are sent if they change', async () => {
    await start();
    const sink = newSink();
    const [outcome] = await send(sink, [{ student: 1, points: 80 }]);
    const object = outcome!.object!;
    const same = { student: 1, points: 80, object };
    expect(await plan(sink, [same])).toEqual([{ kind: 'nothing', reason: 'same-grade' }]);
    expect(kinds(await send(sink, [{ ...same, points: 85.128 }]))).toEqual(['delivered']);
    expect(scoreOf(1)).toBe(85.13);
  });

  it.each([
    ['points', 66.666666, '66.67', 66.67],
    ['a percentage', '85%', '85%', 85],
    ['a letter', 'A-', 'A-', 93],
    ['zero', 0, '0', 0],
  ])('can be given as %s', async (_, points, posted, score) => {
    await start({ school: schoolWith({ gradingType: posted === 'A-' ? 'letter_grade' : 'points' }) });
    expect(kinds(await send(newSink(), [{ student: 1, points }]))).toEqual(['delivered']);
    const job = double.requests.find(({ method }) => method === 'POST');
    expect(JSON.parse(job!.body)).toEqual({ grade_data: { [idOf(1)]: { posted_grade: posted } } });
    expect(scoreOf(1)).toBe(score);
  });

  it('are not sent for an unknown person, without a grade, or if the condition is false', async () => {
    await start();
    const sink = newSink();
    const nobody = subjectOf(changeFor(1, 80), { attendee: null });
    const session = subjectOf(sampleChange({ list: 'engagement', data: { scope: 'session' } }));
    expect([...(await sink.plan([nobody, session])), ...(await plan(sink, [{ student: 1, points: null }]))]).toEqual([
      { kind: 'nothing', reason: 'no-user' },
      { kind: 'nothing', reason: 'condition' },
      { kind: 'nothing', reason: 'no-grade' },
    ]);
    expect(await plan(sink, [{ student: 1, points: { a: 1 } }])).toMatchObject([{ kind: 'unplannable' }]);
  });
});

describe('a grade', () => {
  beforeEach(() => start());

  it.each([
    ['that a teacher set before this sink', () => teacherGrades(1, '70')],
    ['that a teacher replaced with an excuse', () => double.canvas.school.excuse(assignment(), idOf(1))],
  ])('%s is left unchanged', async (_, act) => {
    act();
    expect(await send(newSink(), [{ student: 1, points: 80 }])).toMatchObject([{ cause: 'graded-by-somebody-else' }]);
    expect(jobs()).toBe(0);
  });

  it('that a teacher cleared stays cleared', async () => {
    const [outcome] = await send(newSink(), [{ student: 1, points: 80 }]);
    teacherGrades(1, '');
    const again = await send(newSink(), [{ student: 1, points: 81, object: outcome!.object! }]);
    expect(again).toMatchObject([{ kind: 'rejected' }]);
    expect(scoreOf(1)).toBeNull();
  });

  it('that a teacher set to the same value needs no job', async () => {
    teacherGrades(1, '80');
    expect(await send(newSink(), [{ student: 1, points: 80 }])).toMatchObject([{ kind: 'delivered' }]);
    expect(jobs()).toBe(0);
  });
});

describe('a job whose end was not observed', () => {
  beforeEach(() => start());

  it('leaves its grades in doubt until it has ended, and is started only once', async () => {
    double.canvas.jobs.addFaults({ kind: 'stuck' });
    const sink = newSink({ patienceMs: 0 });
    const grades = students(3);
    const doubt = { kind: 'unknown', detail: expect.stringContaining('progress 501') };
    expect(await send(sink, grades)).toMatchObject(grades.map(() => doubt));
    expect(kinds(await recover(sink, grades))).toEqual(grades.map(() => 'unknown'));
    expect(kinds(await send(sink, [{ student: 9, points: 80 }]))).toEqual(['retry']); // not while the first job runs
    double.canvas.jobs.releaseStuck();
    expect(kinds(await recover(newSink(), grades))).toEqual(grades.map(() => 'delivered'));
    expect(jobs()).toBe(1);
  });

  it('is recognized by its effect if its response was lost', async () => {
    double.faults.add({ path: 'update_grades', effect: { kind: 'dropAfter' } });
    expect(kinds(await send(newSink(), students(3)))).toEqual(['unknown', 'unknown', 'unknown']);
    expect(kinds(await recover(newSink(), students(3)))).toEqual(['delivered', 'delivered', 'delivered']);
    expect(jobs()).toBe(1);
  });

  it('is recognized by its effect if the process died, even if Canvas stored the grade in another form', async () => {
    const grades = students(2).map(({ student }) => ({ student, points: 'complete' })); // Canvas stores points
    await sendAndDie(newSink(), grades);
    expect(jobs()).toBe(1);
    expect(kinds(await recover(newSink(), grades))).toEqual(['delivered', 'delivered']);
    expect(jobs()).toBe(1);
  });

  it('is sent again if it had no effect', async () => {
    const sink = newSink();
    double.faults.add({ method: 'POST', effect: { kind: 'dropBefore' } });
    expect(kinds(await send(sink, students(2)))).toEqual(['unknown', 'unknown']);
    expect(kinds(await recover(sink, students(2)))).toEqual(['unsent', 'unsent']);
    expect(kinds(await send(sink, students(2)))).toEqual(['delivered', 'delivered']);
    expect(jobs()).toBe(1);
  });

  it('may have its own grade overwritten by the next grade of the student', async () => {
    const sink = newSink();
    await sendAndDie(sink, [{ student: 1, points: 80 }]);
    expect(kinds(await send(sink, [{ student: 1, points: 90 }]))).toEqual(['delivered']);
    expect(scoreOf(1)).toBe(90);
  });

  it('does not claim a later change by a teacher', async () => {
    const sink = newSink();
    await sendAndDie(sink, [{ student: 1, points: 80 }]);
    const [outcome] = await recover(sink, [{ student: 1, points: 80 }]);
    teacherGrades(1, '95');
    const again = await send(sink, [{ student: 1, points: 81, object: outcome!.object! }]);
    expect(again).toMatchObject([{ kind: 'rejected', cause: 'graded-by-somebody-else' }]);
  });
});

describe('a refusal by Canvas', () => {
  const one = [{ student: 1, points: 80 }];

  it('of one student does not affect the others', async () => {
    await start();
    double.canvas.jobs.failsAt.add(idOf(13));
    double.canvas.jobs.doesNotFind.add(idOf(20));
    const outcomes = await send(newSink(), students(24));
    expect(outcomes.filter(({ kind }) => kind === 'delivered')).toHaveLength(22);
    expect(outcomes[12]).toMatchObject({ kind: 'rejected', cause: 'grade-not-taken' });
    expect(outcomes[19]).toMatchObject({ kind: 'rejected', cause: 'student-not-gradable' });
    expect(jobs()).toBeLessThanOrEqual(15);
    const said = JSON.stringify([outcomes, memory]);
    for (const text of ['Ada', 'Student', 'S013', 'S020', 'sis_user_id', '"80"']) expect(said).not.toContain(text);
  });

  it('is reported with its cause', async () => {
    await start();
    expect(await send(newSink(), [{ student: 777, points: 80 }])).toMatchObject([{ cause: 'student-not-found' }]);
    const elsewhere = newSink({ record: { assignment: '"8"' } });
    expect(await send(elsewhere, one)).toMatchObject([{ cause: 'assignment-not-found' }]);
    double.canvas.tokens.set('canvas-token', { manageGrades: false });
    expect(await send(newSink(), one)).toMatchObject([{ kind: 'rejected', cause: 'no-permission' }]);
    await double.close();

    await start({ school: schoolWith({ published: false }) });
    expect(await send(newSink(), one)).toMatchObject([{ cause: 'assignment-not-published' }]);
  });

  it('because of too many requests is retried later, and is not treated as a missing permission', async () => {
    await start();
    double.faults.add({ times: 99, effect: canvasFaults['rateLimit']! });
    expect(await send(newSink(), one)).toMatchObject([{ kind: 'retry', afterMs: 15_000 }]);
  });
});

describe('a person who withdraws consent', () => {
  beforeEach(() => start());
  const withdrawn = (sink: Sink<CanvasOperation>, object: Fields) =>
    sink.plan([subjectOf({ ...changeFor(1, 80), data: null }, { object, removal: 'consent-withdrawn' })]);

  it('loses the grade that this sink set', async () => {
    const sink = newSink();
    const [outcome] = await send(sink, [{ student: 1, points: 80 }]);
    const [planned] = await withdrawn(sink, outcome!.object!);
    const operations = planned?.kind === 'send' ? [planned.operation] : [];
    expect(await commit(sink.send(operations, lane(), signal))).toMatchObject([{ kind: 'delivered', object: null }]);
    expect(scoreOf(1)).toBeNull();
  });

  it.each(['dropAfter', 'dropBefore'] as const)('loses a grade whose job was not answered: %s', async (kind) => {
    double.faults.add({ path: 'update_grades', effect: { kind } });
    const sink = newSink();
    const [lost] = await send(sink, [{ student: 1, points: 80 }]);
    expect(lost).toMatchObject({ kind: 'unknown', object: { grades: [{ mayExist: { userId: idOf(1) } }] } });
    expect(scoreOf(1)).toBe(kind === 'dropAfter' ? 80 : null);
    const [planned] = await withdrawn(sink, lost!.object!);
    const operations = planned?.kind === 'send' ? [planned.operation] : [];
    expect(operations).toHaveLength(1);
    await commit(sink.recover!(operations, lane(), signal));
    expect(await commit(sink.send(operations, lane(), signal))).toMatchObject([{ kind: 'delivered', object: null }]);
    expect(scoreOf(1)).toBeNull();
  });

  it('keeps a grade that a teacher set after a job that was not answered, and an operator decides', async () => {
    double.faults.add({ path: 'update_grades', effect: { kind: 'dropBefore' } });
    const sink = newSink();
    const [lost] = await send(sink, [{ student: 1, points: 80 }]);
    memory = {};
    teacherGrades(1, '70');
    const [planned] = await withdrawn(sink, lost!.object!);
    const operations = planned?.kind === 'send' ? [planned.operation] : [];
    expect(await commit(sink.send(operations, lane(), signal))).toMatchObject([{ cause: 'graded-by-somebody-else' }]);
    expect(scoreOf(1)).toBe(70);
  });

  it('has a grade in doubt replaced by the next one', async () => {
    double.faults.add({ path: 'update_grades', effect: { kind: 'dropAfter' } });
    const sink = newSink();
    const [lost] = await send(sink, [{ student: 1, points: 80 }]);
    const [found] = await recover(sink, [{ student: 1, points: 80, object: lost!.object! }]);
    const next = { student: 1, points: 90, object: found!.object! };
    expect(await plan(sink, [{ ...next, points: 80 }])).toMatchObject([{ reason: 'same-grade' }]);
    expect(kinds(await send(sink, [next]))).toEqual(['delivered']);
  });

  it('keeps the grade if an operator has to remove it, and if only the item was deleted', async () => {
    const [outcome] = await send(newSink(), [{ student: 1, points: 80 }]);
    const object = outcome!.object!;
    expect(await withdrawn(newSink({ onForget: 'manual' }), object)).toMatchObject([{ reason: 'forget-by-hand' }]);
    const deleted = subjectOf({ ...changeFor(1, 80), data: null }, { object });
    expect(await newSink().plan([deleted])).toEqual([{ kind: 'nothing', reason: 'grade-stays' }]);
  });
});

describe('the check of a canvas sink', () => {
  const lastLine = async (options?: Options) => (await newSink(options).check(signal)).at(-1);

  it('reports a rejected token, an unpublished assignment and a missing permission', async () => {
    await start({ school: schoolWith({ published: false }) });
    expect(await lastLine({ token: 'another' })).toMatchObject({ ok: false, text: expect.stringContaining('token') });
    expect(await lastLine()).toMatchObject({ ok: false, text: expect.stringContaining('not published') });
    double.canvas.tokens.set('canvas-token', { manageGrades: false });
    expect(await lastLine()).toMatchObject({ ok: false, text: expect.stringContaining('may not edit grades') });
  });

  it('reports that it cannot check names from items', async () => {
    await start();
    const line = await lastLine({ record: { course: '"sis_course_id:" & pigeonhole.name' } });
    expect(line).toMatchObject({ ok: true, text: expect.stringContaining('from each item') });
    const computed = await lastLine({ record: { course: '$lookup($lookup($, "pigeon" & "hole"), "name")' } });
    expect(computed).toMatchObject({ ok: true, text: expect.stringContaining('from each item') });
  });

  it.each([
    [
      { course: '"sis_course_id:"' },
      'records[0].course is empty for every item, so no grade is sent: correct the expression',
    ],
    [
      { assignment: '".."' },
      'records[0].assignment returned a value that is not an id: it consists only of dots. Correct the expression: every item becomes a dead letter',
    ],
    [
      { assignment: '"Attendance"', createAssignment: { points: 10 } },
      'records[0].assignment returned no name: "createAssignment" needs one, as in "name:Attendance". Correct the expression: every item becomes a dead letter',
    ],
    [{ course: '1 + "a"' }, expect.stringMatching(/^records\[0\]\.course failed: T2002, .* becomes a dead letter$/)],
  ])('reports %j, which no item can change', async (record, text) => {
    await start();
    expect(await lastLine({ record })).toEqual({ ok: false, text });
  });
});

describe('a stopped canvas sink', () => {
  it('starts no job', async () => {
    await start();
    const sink = newSink();
    const result = await sink.send(await operationsOf(sink, students(3)), lane(), AbortSignal.abort());
    expect(kinds(result.outcomes)).toEqual(['unsent', 'unsent', 'unsent']);
    expect(double.requests).toEqual([]);
  });
});

describe('the choices of a course', () => {
  it('are the courses in which the user of the token teaches', async () => {
    await start();
    expect(await newSink().choices!('course', signal)).toEqual({
      kind: 'offered',
      items: [{ value: '42', label: 'Conference' }],
      more: false,
    });
  });

  it('are refused with a sentence if the token is not valid', async () => {
    await start();
    const found = await newSink({ token: 'another' }).choices!('course', signal);
    expect(found).toEqual({ kind: 'refused', detail: expect.stringContaining('courses') });
  });
});
