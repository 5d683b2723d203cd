import { Secret } from '../../../config/secret.js';
import { canvasSinkType, createCanvasSink } from '../../../sinks/canvas/canvas.js';
import { canvasConfigSchema } from '../../../sinks/canvas/config.js';
import type { CanvasOperation } from '../../../sinks/canvas/plan.js';
import { hurriedClock } from '../../../sinks/network/hurried-clock.test-kit.js';
import { subjectOf } from '../../../sinks/plan-of.test-kit.js';
import { sampleChange } from '../../../sinks/sample-change.test-kit.js';
import type { Fields, Lane, OnForget, Outcome, Sink, Subject } from '../../../sinks/sink.js';
import { canvasFaults, startCanvasDouble, type CanvasDouble } from '../../../sandbox/canvas/start-canvas-double.js';
import type { CanvasOptions } from '../../../sandbox/canvas/canvas-instance.js';
import { exampleSchool } from '../../../sandbox/canvas/school.js';
import type { FaultEffect } from '../../../sandbox/serve/faults.js';
import { environmentOf } from '../../../sinks/sink-environment.test-kit.js';
import { Auditor, type Delivered } from './auditor.js';
import { withDeclaredCodes } from './declared-codes.js';

/*
 * What the delivery engine relies on, for the grades of the Canvas double, which is written from Canvas's documentation
 * and knows nothing of the sink: a repeat of any call is harmless, outcomes are per grade, an invalid grade delays
 * no other, and outcomes contain nothing personal or secret.
 */

const signal = new AbortController().signal;
/** The ids of the students in the stand-in's example school. */
const codes = Array.from({ length: 24 }, (_, index) => `S${String(index + 1).padStart(3, '0')}`);
const assignment = (double: CanvasDouble) => double.canvas.school.courses[0]!.assignments[0]!;

let double: CanvasDouble;
let sink: Sink<CanvasOperation>;
let memory: Record<string, unknown>;
/** The object that the sink created for each item, as the delivery engine stores it. */
let objects: Map<string, Fields | null>;

async function start(options: CanvasOptions = {}, token = 'canvas-token'): Promise<void> {
  double = await startCanvasDouble(options);
  memory = {};
  objects = new Map();
  sink = newSink(token);
}

function newSink(
  token = 'canvas-token',
  overwrite = false,
  record: Readonly<Record<string, unknown>> = {},
): Sink<CanvasOperation> {
  const user = '"sis_user_id:" & attendee.attendeeCode';
  const config = canvasConfigSchema.parse({
    baseUrl: double.url,
    token: new Secret(token),
    records: [
      { from: 'engagement', course: '"42"', assignment: '"7"', user, grade: 'item.points', overwrite, ...record },
    ],
  });
  const environment = environmentOf('grades', { requestTimeoutMs: 60_000 });
  const sink = createCanvasSink(config, environment, { clock: hurriedClock, patienceMs: 3_600_000 });
  return withDeclaredCodes(canvasSinkType, sink);
}

afterEach(async () => {
  await sink.close();
  await double.close();
});

const lane = (): Lane => ({
  workspace: 'acme',
  pigeonholeId: 101,
  ledgerId: 'ledger-1',
  memory: { ...memory },
  remember: (more) => Promise.resolve(void Object.assign(memory, more)),
});

const subjectFor = (code: string, points: unknown): Subject =>
  subjectOf(sampleChange({ id: code, list: 'engagement', key: code, data: { points } }), {
    object: objects.get(code) ?? null,
    attendee: { attendeeCode: code, Name: 'Ada Lovelace' },
  });

/** Grades by the codes of students. */
type Points = ReadonlyMap<string, unknown>;

/** Plans and sends (or looks up) as the engine does. Omits changes that need no operation. */
async function attempt(how: 'send' | 'recover', points: Points): Promise<ReadonlyMap<string, Outcome>> {
  const planned = await sink.plan([...points].map(([code, value]) => subjectFor(code, value)));
  const operations = planned.flatMap((each) => (each.kind === 'send' ? [each.operation] : []));
  const { outcomes, memory: more } = await sink[how]!(operations, lane(), signal);
  Object.assign(memory, more);
  outcomes.forEach(({ object }, at) => object !== undefined && objects.set(operations[at]!.changeId, object));
  return new Map(operations.map(({ changeId }, at) => [changeId, outcomes[at]!]));
}

/** Repeats until everything is settled. Looks up unknown outcomes first. */
async function settle(points: Points): Promise<Map<string, Outcome>> {
  const settled = new Map<string, Outcome>();
  let open = new Map(points);
  let doubtful = new Set<string>();
  for (let round = 0; open.size > 0; round += 1) {
    if (round > 30) throw new Error(`${open.size} grades are still not settled`);
    const asked = new Map([...open].filter(([code]) => doubtful.size === 0 || doubtful.has(code)));
    const outcomes = await attempt(doubtful.size > 0 ? 'recover' : 'send', asked);
    doubtful = new Set([...outcomes].filter(([, { kind }]) => kind === 'unknown').map(([code]) => code));
    for (const [code, outcome] of outcomes)
      if (outcome.kind === 'delivered' || outcome.kind === 'rejected') settled.set(code, outcome);
    open = new Map([...open].filter(([code]) => !settled.has(code)));
  }
  return settled;
}

const all = (points: unknown): Map<string, unknown> => new Map(codes.map((code) => [code, points]));
const scores = (): (number | null)[] => {
  double.canvas.jobs.advance();
  const { school } = double.canvas;
  return codes.map((code) => school.submission(assignment(double), school.user(`sis_user_id:${code}`)!.id).score);
};
const kindsOf = (outcomes: ReadonlyMap<string, Outcome>): string[] => [
  ...new Set([...outcomes.values()].map(({ kind }) => kind)),
];
const jobs = (): number => double.canvas.jobs.all().length;

describe('the canvas sink', () => {
  it('grades a whole course in one job, and in one more job when all grades change', async () => {
    await start({ queuedMs: 20, runningMs: 20 });
    expect(kindsOf(await settle(all(80)))).toEqual(['delivered']);
    expect(scores()).toEqual(codes.map(() => 80));
    expect(Object.values(memory)).toEqual([null]); // no trace of a finished job
    expect((await attempt('send', all(80))).size).toBe(0);
    expect(kindsOf(await settle(all(66.666)))).toEqual(['delivered']);
    expect(scores()).toEqual(codes.map(() => 66.67));
    expect(jobs()).toBe(2);
  });

  it.each(['85%', 'complete', 40, 0])('recognizes the grade %j after Canvas has stored it', async (points) => {
    await start();
    expect(kindsOf(await settle(all(points)))).toEqual(['delivered']);
    expect(jobs()).toBe(1);
  });

  const faults: Record<string, FaultEffect> = {
    'is throttled': canvasFaults['rateLimit']!,
    'fails before the effect': canvasFaults['badGateway']!,
    'fails after the effect': canvasFaults['badGatewayAfter']!,
    'is cut before the effect': { kind: 'dropBefore' },
    'is cut after the effect': { kind: 'dropAfter' },
    'is down for maintenance': canvasFaults['unavailable']!,
  };

  describe.each(Object.keys(faults))('of which a call %s', (name) => {
    it.each(['update_grades', '/progress/', '/submissions/', '/assignments/7'])(
      'grades everyone once after the failure (%s)',
      async (path) => {
        await start();
        double.faults.add({ effect: faults[name]!, path, times: 3 });
        const outcomes = await settle(all(80));
        expect(kindsOf(outcomes)).toEqual(['delivered']);
        expect(outcomes.size).toBe(24);
        expect(scores()).toEqual(codes.map(() => 80));
      },
    );

    it('never overwrites a newer grade with an older one', async () => {
      await start({ queuedMs: 30, runningMs: 30 });
      double.faults.add({ effect: faults[name]!, path: 'update_grades', times: 1 });
      await attempt('send', all(80));
      // superseded: the engine looks the old one up and sends the new one
      const outcomes = await settle(all(90));
      expect(kindsOf(outcomes)).toEqual(['delivered']);
      expect(scores()).toEqual(codes.map(() => 90));
    });
  });

  it('looks up its work after a crash, and does nothing twice', async () => {
    await start({ queuedMs: 30, runningMs: 30 });
    const planned = await sink.plan(codes.map((code) => subjectFor(code, 80)));
    const operations = planned.flatMap((each) => (each.kind === 'send' ? [each.operation] : []));
    await sink.send(operations, lane(), signal); // the process dies before anything is committed
    await sink.close();
    sink = newSink();
    expect(kindsOf(await attempt('recover', all(80)))).toEqual(['delivered']);
    expect(jobs()).toBe(1);
  });

  it('grades all other students if a job fails in the middle', async () => {
    await start();
    double.canvas.jobs.addFaults({ kind: 'fails', afterStudents: 5 });
    expect(kindsOf(await settle(all(80)))).toEqual(['delivered']);
    expect(scores()).toEqual(codes.map(() => 80));
  });

  it('rejects people who are not students of the course, and grades all others in one job', async () => {
    await start();
    const outcomes = await settle(new Map([...all(80), ['S777', 80]]));
    expect(outcomes.get('S777')).toMatchObject({ kind: 'rejected', cause: 'student-not-found' });
    expect(scores()).toEqual(codes.map(() => 80));
    expect(jobs()).toBe(1);
  });

  it("keeps a teacher's grade unless it may replace it", async () => {
    await start();
    await settle(all(80));
    const { school } = double.canvas;
    school.grade(assignment(double), school.user('sis_user_id:S001')!.id, '95', 77);
    const outcomes = await settle(all(81));
    expect(outcomes.get('S001')).toMatchObject({ kind: 'rejected', cause: 'graded-by-somebody-else' });
    expect(scores()).toEqual([95, ...codes.slice(1).map(() => 81)]);
    await sink.close();
    sink = newSink('canvas-token', true);
    expect(kindsOf(await settle(all(82)))).toEqual(['delivered']);
    expect(scores()).toEqual(codes.map(() => 82));
  });

  it.each([401, 403] as const)(
    'distinguishes a missing right (HTTP %d) from an invalid token and from throttling',
    async (status) => {
      await start({ tokens: { weak: { manageGrades: false } }, unauthorizedStatus: status }, 'weak');
      expect([...(await attempt('send', all(80))).values()][0]).toMatchObject({
        kind: 'rejected',
        cause: 'no-permission',
      });
      expect((await sink.check(signal)).map(({ ok }) => ok)).toEqual([true, false]);
      await sink.close();
      sink = newSink('unknown-token');
      expect([...(await attempt('send', all(80))).values()][0]).toMatchObject({ kind: 'pause', cause: 'credential' });
      expect((await sink.check(signal)).map(({ ok }) => ok)).toEqual([false]);
    },
  );

  it('includes no student and no token in an outcome', async () => {
    await start();
    double.canvas.jobs.addFaults({ kind: 'fails', afterStudents: 3 });
    double.faults.add({ effect: canvasFaults['badGatewayAfter']!, path: 'update_grades', skip: 1 });
    const said = JSON.stringify([
      ...(await attempt('send', new Map([...all(81.5), ['S777', 1]]))).values(),
      ...(await sink.check(signal)),
      memory,
    ]);
    for (const text of ['Ada', 'Student', 'S001', 'S777', 'sis_user_id', '81.5', 'canvas-token']) {
      expect(said).not.toContain(text);
    }
  });

  it('sends ids and grades, and no other personal data', async () => {
    await start();
    await settle(all(80));
    const posted = double.requests.filter(({ method }) => method !== 'GET');
    expect(posted.map(({ path }) => path)).toEqual(['/api/v1/courses/42/assignments/7/submissions/update_grades']);
    const { grade_data: grades, ...more } = JSON.parse(posted[0]!.body) as Record<string, Record<string, object>>;
    expect(more).toEqual({});
    expect(new Set(Object.values(grades!).flatMap((grade) => Object.keys(grade)))).toEqual(new Set(['posted_grade']));
    for (const text of ['Ada', 'Lovelace', 'S001']) expect(posted[0]!.body).not.toContain(text);
  });

  it('reports hidden grades if a teacher must post them, as in a new account, and not otherwise', async () => {
    await start();
    const lines = async () => (await sink.check(signal)).map(({ text }) => text);
    expect((await lines())[1]).toMatch(/can be graded.* posting policy is manual: students see grades once/);
    expect([...(await settle(all(80))).values()][0]).toMatchObject({
      detail: 'the grade is set; the student sees it once a teacher posts it',
    });
    await sink.close();
    await double.close();

    const school = exampleSchool();
    const [course] = school.courses;
    const posted = { ...course!, assignments: course!.assignments.map((each) => ({ ...each, postManually: false })) };
    await start({ school: { ...school, courses: [posted] } });
    expect((await lines())[1]).toMatch(
      /can be graded: a number means points out of 100; write a percentage as text, such as "85%"$/,
    );
    expect([...(await settle(all(80))).values()][0]).toMatchObject({ detail: 'the grade is set' });
  });

  it('treats a number as points and a text with % as a percentage, and recognizes a percentage in points', async () => {
    const school = exampleSchool();
    const [course] = school.courses;
    const small = { ...course!, assignments: course!.assignments.map((each) => ({ ...each, pointsPossible: 20 })) };
    await start({ school: { ...school, courses: [small] } });
    const { school: at } = double.canvas;
    at.grade(assignment(double), at.user('sis_user_id:S001')!.id, '17', 77); // a teacher set the same grade first
    expect(kindsOf(await settle(all('85%')))).toEqual(['delivered']);
    expect(scores()).toEqual(codes.map(() => 17));
    await sink.close();
    sink = newSink(); // with a new ledger
    objects.clear();
    expect(kindsOf(await settle(all('85%')))).toEqual(['delivered']);
    expect(jobs()).toBe(1);
  });

  it('grades nobody during a check', async () => {
    await start();
    expect((await sink.check(signal)).map(({ ok }) => ok)).toEqual([true, true]);
    expect(double.requests.map(({ method }) => method)).toEqual(double.requests.map(() => 'GET'));
  });
});

describe('an assignment that is named', () => {
  const record = { assignment: '"name:Attendance"', createAssignment: { points: 100 } };
  const open = async (options: CanvasOptions = {}, more: Readonly<Record<string, unknown>> = {}, token?: string) => {
    await start(options);
    await sink.close();
    sink = newSink(token, false, { ...record, ...more });
  };
  const named = () =>
    double.canvas.school.courses[0]!.assignments.filter(({ name }) => name === 'Attendance').map(
      ({ id, pointsPossible, gradingType, published }) => ({ id, pointsPossible, gradingType, published }),
    );
  const created = { id: 1001, pointsPossible: 100, gradingType: 'points', published: true };

  it('is created and published with the first grades, and found from then on', async () => {
    await open();
    expect((await sink.check(signal)).map(({ ok, text }) => [ok, text])).toEqual([
      [true, expect.stringContaining('accepts the token')],
      [true, expect.stringContaining('does not exist yet: the first grade creates it')],
    ]);
    expect(named()).toEqual([]);
    expect(kindsOf(await settle(all(80)))).toEqual(['delivered']);
    expect(kindsOf(await settle(all(81)))).toEqual(['delivered']);
    expect(named()).toEqual([created]);
    expect((await sink.check(signal))[1]).toMatchObject({ ok: true, text: expect.stringContaining('can be graded') });
    const { school } = double.canvas;
    const student = school.user('sis_user_id:S001')!;
    expect(school.submission(school.assignment(school.courses[0]!, '1001')!, student.id).score).toBe(81);
  });

  it.each(['dropAfter', 'badGatewayAfter', 'dropBefore'])(
    'is created once even if the answer was lost and the process ended: %s',
    async (fault) => {
      await open();
      const effect = fault.startsWith('drop') ? ({ kind: fault } as FaultEffect) : canvasFaults[fault]!;
      double.faults.add({ effect, path: '/api/v1/courses/42/assignments', skip: 1 });
      expect(kindsOf(await attempt('send', all(80)))).toEqual(['retry']);
      await sink.close();
      sink = newSink(undefined, false, record);
      expect(kindsOf(await settle(all(80)))).toEqual(['delivered']);
      expect(named()).toEqual([created]);
    },
  );

  it('is not used while Canvas answers its creation without an id', async () => {
    await open();
    const answer = { status: 200, json: { message: 'Welcome' } };
    double.faults.add({ effect: { kind: 'answer', answer }, method: 'POST', path: '/api/v1/courses/42/assignments' });
    const outcomes = [...(await attempt('send', all(80))).values()];
    expect(outcomes.map(({ kind }) => kind)).toEqual(outcomes.map(() => 'retry'));
    expect(outcomes[0]).toMatchObject({ detail: expect.stringMatching(/did not return its id: correct "baseUrl"$/) });
    expect(kindsOf(await settle(all(80)))).toEqual(['delivered']);
    expect(named()).toEqual([created]);
  });

  it('is created once for several concurrent lanes', async () => {
    await open();
    const halves = [codes.slice(0, 12), codes.slice(12)].map((half) => new Map(half.map((code) => [code, 80])));
    const sent = await Promise.all(halves.map((half) => attempt('send', half)));
    expect(sent.map(kindsOf)).toEqual([['delivered'], ['delivered']]);
    expect(named()).toEqual([created]);
  });

  it('is the existing assignment of the course, the oldest of two, with its grades', async () => {
    await open();
    const { school } = double.canvas;
    const course = school.courses[0]!;
    const [own, other] = [1, 2].map(() =>
      school.addAssignment(course, { name: 'Attendance', pointsPossible: 50, gradingType: 'points', published: true }),
    );
    school.addAssignment(course, { name: 'Attendance II', pointsPossible: 5, gradingType: 'points', published: true });
    const [graded, free] = ['S001', 'S002'].map((code) => school.user(`sis_user_id:${code}`)!.id);
    school.grade(own!, graded!, '12', 77);
    const outcomes = await settle(all(80));
    expect(outcomes.get('S001')).toMatchObject({ kind: 'rejected', cause: 'graded-by-somebody-else', about: 'record' });
    expect(outcomes.get('S002')).toMatchObject({ kind: 'delivered' });
    expect([school.submission(own!, graded!).score, school.submission(own!, free!).score]).toEqual([12, 80]);
    expect(school.submission(other!, free!).score).toBeNull();
    expect(named()).toHaveLength(2);
  });

  it('is created once even if more names contain its name than fit on a page', async () => {
    await open();
    const { assignments } = double.canvas.school.courses[0]!;
    type Assignments = (typeof assignments)[number][];
    const similar = Array.from({ length: 120 }, (_, at) => ({
      ...assignments[0]!,
      id: 2000 + at,
      name: `Attendance ${at}`,
    }));
    (assignments as Assignments).push(...similar);
    expect(kindsOf(await settle(all(80)))).toEqual(['delivered']);
    expect(kindsOf(await settle(all(81)))).toEqual(['delivered']);
    expect(named()).toHaveLength(1);
  });

  it('is not created without the setting or the right to create it', async () => {
    await open({ tokens: { 'canvas-token': { manageGrades: true, manageAssignments: false } } });
    expect([...(await attempt('send', all(80))).values()][0]).toMatchObject({ cause: 'no-permission' });
    await sink.close();
    await double.close();

    await open({}, { createAssignment: undefined });
    expect([...(await attempt('send', all(80))).values()][0]).toMatchObject({ cause: 'assignment-not-found' });
    expect((await sink.check(signal))[1]).toMatchObject({ ok: false });
    expect(named()).toEqual([]);
  });

  it('must be given by name, not by id, to be created', async () => {
    await open({}, { assignment: '"7"' });
    expect(await sink.plan([subjectFor('S001', 80)])).toMatchObject([
      { kind: 'unplannable', detail: expect.stringContaining('"createAssignment" needs one') },
    ]);
  });
});

describe('the grades of a course, read back', () => {
  const count = 300;
  const students = Array.from({ length: count }, (_, index) => `R${index}`);
  const school = {
    users: students.map((sisUserId, index) => ({ id: 5000 + index, name: `Student ${index}`, sisUserId })),
    courses: [
      {
        id: 42,
        name: 'Conference',
        students: students.map((_, index) => 5000 + index),
        assignments: [
          { id: 7, name: 'Attendance', pointsPossible: 100, gradingType: 'points', published: true } as const,
          { id: 8, name: 'Quiz', pointsPossible: 20, gradingType: 'letter_grade', published: true } as const,
        ],
      },
    ],
  };
  let auditor: Auditor;

  async function openSchool(
    overwrite = true,
    tokens?: CanvasOptions['tokens'],
    onForget: OnForget = 'delete',
  ): Promise<void> {
    // The bucket empties as fast as the hurried clock of the sink runs.
    await start({ school, outflowPerSecond: 1000, ...(tokens !== undefined && { tokens }) });
    await sink.close();
    sink = gradesSink(overwrite, onForget);
    auditor = new Auditor(sink);
  }

  function gradesSink(overwrite: boolean, onForget: OnForget): Sink<CanvasOperation> {
    const user = '"sis_user_id:" & attendee.attendeeCode';
    const from = 'engagement';
    const config = canvasConfigSchema.parse({
      baseUrl: double.url,
      token: new Secret('canvas-token'),
      records: [
        { from, course: '"42"', assignment: '"7"', user, grade: 'item.points', overwrite },
        { from, when: 'item.letter', course: '"42"', assignment: '"name:Quiz"', user, grade: 'item.letter', overwrite },
      ],
    });
    const environment = environmentOf('grades', { requestTimeoutMs: 60_000, onForget });
    const sink = createCanvasSink(config, environment, { clock: hurriedClock, patienceMs: 3_600_000 });
    return withDeclaredCodes(canvasSinkType, sink);
  }

  const item = (index: number, points: unknown, more: Fields = {}): Delivered => ({
    subject: subjectOf(
      sampleChange({ id: `i${index}`, list: 'engagement', key: `${index}`, data: { points, ...more } }),
      { attendee: { attendeeCode: students[index]!, Name: 'Ada Lovelace' } },
    ),
  });
  const subjects = (items: readonly Delivered[]): Subject[] => items.map(({ subject }) => subject);
  const course = () => double.canvas.school.courses[0]!;
  const userAt = (index: number): number => 5000 + index;
  const teach = (index: number, grade: string, assignmentAt = 0): void => {
    double.canvas.school.grade(course().assignments[assignmentAt]!, userAt(index), grade, 77);
  };

  it('show every planted difference and no other, and a repair leaves none', async () => {
    await openSchool();
    const grades = (index: number): unknown => [80, '85%', 66.666, 'complete', 0][index % 5];
    const items = students.map((_, index) => item(index, grades(index), index % 10 === 0 ? { letter: 'B+' } : {}));
    expect(await auditor.deliver(subjects(items))).toEqual([]);
    expect(await auditor.differences(items)).toEqual({});

    teach(5, '79'); // edited
    teach(10, 'C', 1); // the letter of an item with two grades
    teach(15, ''); // cleared
    double.canvas.school.excuse(course().assignments[0]!, userAt(20));
    double.canvas.school.grade(course().assignments[0]!, userAt(25), '70', 1); // one revision behind, in a restored Canvas
    teach(30, '80'); // the same grade, entered by a teacher
    const before = new Map(double.canvas.school.graded().map((each) => [`${each.assignmentId} ${each.userId}`, each]));
    expect(await auditor.differences(items)).toEqual({
      5: ['grade'],
      10: ['grade'],
      15: ['missing'],
      20: ['excused'],
      25: ['grade'],
    });
    const [{ result } = { result: undefined }] = await auditor.readBack([items[5]!]);
    expect(result).toMatchObject({
      kind: 'held',
      changedBy: 'user 77',
      changedAt: expect.stringContaining('T') as string,
    });

    expect(await auditor.repair(items)).toEqual([]);
    expect(await auditor.differences(items)).toEqual({});
    const touched = double.canvas.school
      .graded()
      .filter((each) => JSON.stringify(before.get(`${each.assignmentId} ${each.userId}`)) !== JSON.stringify(each))
      .map(({ assignmentId, userId }) => `${assignmentId} ${userId}`);
    expect(touched.toSorted(undefined)).toEqual(['7 5005', '7 5015', '7 5020', '7 5025', '8 5010']);
  });

  it('that a teacher decided are no difference without "overwrite", but a cleared one is', async () => {
    await openSchool(false);
    const items = students.slice(0, 4).map((_, index) => item(index, 80));
    await auditor.deliver(subjects(items));
    teach(0, '79');
    teach(1, '');
    double.canvas.school.excuse(course().assignments[0]!, userAt(2));
    expect(await auditor.differences(items)).toEqual({ 1: ['missing'] });
    expect(await auditor.repair(items)).toEqual([]);
    expect(await auditor.differences(items)).toEqual({});
  });

  it('are missing with their assignment or student, and a repair says which', async () => {
    await openSchool();
    const items = [0, 1].map((index) => item(index, 80));
    await auditor.deliver(subjects(items));
    double.canvas.school.withdraw(course(), userAt(0));
    expect(await auditor.differences(items)).toEqual({ 0: ['missing'] });
    expect(await auditor.repair(items)).toEqual(['student-not-found']);
    double.canvas.school.removeAssignment(course(), 7);
    expect(await auditor.differences(items)).toEqual({ 0: ['missing'], 1: ['missing'] });
  });

  it.each([401, 403] as const)('cannot be read without the right (%i), which the result says', async (status) => {
    const tokens: Record<string, { manageGrades: boolean; viewAllGrades?: boolean }> = {
      'canvas-token': { manageGrades: true },
    };
    await openSchool(true, tokens);
    const items = [item(0, 80)];
    await auditor.deliver(subjects(items));
    double.canvas.tokens.set('canvas-token', { manageGrades: false, viewAllGrades: false });
    (double.canvas as { unauthorizedStatus: 401 | 403 }).unauthorizedStatus = status;
    expect(await auditor.differences(items)).toEqual({ 0: ['unreadable: no-permission'] });
  });

  it('of an erased person are extra while the settings leave them to an operator', async () => {
    await openSchool(true, undefined, 'manual');
    const [delivered] = [item(0, 80)];
    await auditor.deliver([delivered!.subject]);
    const { change } = delivered!.subject;
    const entry = {
      change,
      expected: 'absence',
      operation: null,
      object: auditor.objects.get('engagement 0')!,
      removal: 'erased',
    } as const;
    expect(await sink.readBack!([entry], auditor.lane, signal)).toMatchObject([{ kind: 'held' }]);
    teach(0, '');
    expect(await sink.readBack!([entry], auditor.lane, signal)).toMatchObject([{ kind: 'missing' }]);
  });

  it('are read again later if the token is throttled or the audit is stopped', async () => {
    await openSchool();
    const items = [item(0, 80)];
    await auditor.deliver(subjects(items));
    double.faults.add({ effect: canvasFaults['rateLimit']!, path: '/submissions/', times: 1 });
    expect(await auditor.differences(items)).toEqual({ 0: ['retry'] });
    const stopped = new Auditor(sink, AbortSignal.abort());
    expect(await stopped.differences(items)).toEqual({ 0: ['retry'] });
    expect(await auditor.differences(items)).toEqual({});
  });
});
