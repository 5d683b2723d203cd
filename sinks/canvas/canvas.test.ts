import { Secret } from '../../config/secret.js';
import type { Change } from '../change.js';
import { hurriedClock } from '../network/hurried-clock.test-kit.js';
import { subjectOf } from '../plan-of.test-kit.js';
import { sampleChange } from '../sample-change.test-kit.js';
import type { Fields, Lane, Outcome, Planned, SendResult, Sink, SinkEnvironment } from '../sink.js';
import { createCanvasSink } from './canvas.js';
import { canvasConfigSchema } from './config.js';
import { FakeCanvas } from './fake-canvas.test-kit.js';
import type { CanvasOperation } from './operation.js';

const signal = new AbortController().signal;
let canvas: FakeCanvas;
let baseUrl: string;
let memory: Record<string, unknown>;
const sinks: Sink[] = [];

beforeEach(async () => {
  canvas = new FakeCanvas();
  baseUrl = await canvas.start();
  memory = {};
});
afterEach(async () => {
  await Promise.all(sinks.splice(0).map((sink) => sink.close()));
  await canvas.stop();
});

const lane = (): Lane => ({
  workspace: 'acme',
  pigeonholeId: 101,
  ledgerId: 'ledger-1',
  memory: { ...memory },
  remember: (more) => Promise.resolve(void Object.assign(memory, more)),
});

interface Options {
  readonly record?: Record<string, unknown>;
  readonly token?: string;
  readonly onForget?: SinkEnvironment['onForget'];
  readonly patienceMs?: number;
}

function newSink({
  record,
  token = canvas.token,
  onForget,
  patienceMs = 3_600_000,
}: Options = {}): Sink<CanvasOperation> {
  const config = canvasConfigSchema.parse({
    baseUrl,
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
  const environment = { name: 'grades', baseFolder: '/', network: { allowHosts: [] }, ...(onForget && { onForget }) };
  const tuning = { clock: hurriedClock, requestTimeoutMs: 60_000, patienceMs };
  const sink = createCanvasSink(config, environment, tuning);
  sinks.push(sink);
  return sink;
}

interface Graded {
  readonly user: number;
  readonly points: unknown;
  readonly object?: Fields | null;
}

const changeFor = (user: number, points: unknown): Change =>
  sampleChange({ id: `c${user}`, list: 'engagement', key: `e${user}`, data: { scope: 'pigeonhole', points } });

const plan = (sink: Sink<CanvasOperation>, grades: readonly Graded[]): Promise<Planned<CanvasOperation>[]> =>
  sink.plan(
    grades.map(({ user, points, object = null }) =>
      subjectOf(changeFor(user, points), { object, attendee: { attendeeCode: `A${user}`, Name: 'Ada Lovelace' } }),
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

const kinds = (outcomes: readonly Outcome[]): string[] => outcomes.map(({ kind }) => kind);
const students = (count: number): Graded[] => Array.from({ length: count }, (_, at) => ({ user: at + 1, points: 80 }));
const scoreOf = (user: number): number | null | undefined => canvas.submissions.get(user)?.score;

describe('grades in Canvas', () => {
  it('are set for all students of an assignment by one job, and follow it to its end', async () => {
    canvas.looksUntilDone = 3;
    expect(kinds(await send(newSink(), students(30)))).toEqual(students(30).map(() => 'delivered'));
    expect(canvas.jobs).toHaveLength(1);
    expect(students(30).map(({ user }) => scoreOf(user))).toEqual(students(30).map(() => 80));
    expect(Object.values(memory)).toEqual([null]);
  });

  it('are not sent again while they are the same, and are sent when they change', async () => {
    const sink = newSink();
    const [outcome] = await send(sink, [{ user: 1, points: 80 }]);
    const object = outcome!.object!;
    expect(await plan(sink, [{ user: 1, points: 80, object }])).toEqual([{ kind: 'nothing', reason: 'same-grade' }]);
    expect(kinds(await send(sink, [{ user: 1, points: 85.128, object }]))).toEqual(['delivered']);
    expect(scoreOf(1)).toBe(85.13);
  });

  it.each([
    ['points', 66.666666, '66.67'],
    ['a percentage', '85%', '85%'],
    ['a letter', 'A-', 'A-'],
    ['zero', 0, '0'],
  ])('are taken as %s', async (_, points, posted) => {
    expect(kinds(await send(newSink(), [{ user: 1, points }]))).toEqual(['delivered']);
    expect(canvas.jobs[0]!.grades).toEqual({ 1: { posted_grade: posted } });
  });

  it('of a person who is not known, or without a grade, or whose condition is false, are none', async () => {
    const sink = newSink();
    const nobody = subjectOf(changeFor(1, 80), { attendee: null });
    const session = subjectOf(sampleChange({ list: 'engagement', data: { scope: 'session' } }));
    expect([...(await sink.plan([nobody, session])), ...(await plan(sink, [{ user: 1, points: null }]))]).toEqual([
      { kind: 'nothing', reason: 'no-user' },
      { kind: 'nothing', reason: 'condition' },
      { kind: 'nothing', reason: 'no-grade' },
    ]);
    expect(await plan(sink, [{ user: 1, points: { a: 1 } }])).toMatchObject([{ kind: 'unplannable' }]);
  });
});

describe('a grade that a teacher has changed', () => {
  it('is left as it is, and is replaced where the configuration says so', async () => {
    const [outcome] = await send(newSink(), [{ user: 1, points: 80 }]);
    canvas.grade(1, '95');
    const changed = { user: 1, points: 81, object: outcome!.object! };
    expect(await send(newSink(), [changed])).toMatchObject([{ kind: 'rejected', cause: 'graded-by-somebody-else' }]);
    expect(scoreOf(1)).toBe(95);
    expect(kinds(await send(newSink({ record: { overwrite: true } }), [changed]))).toEqual(['delivered']);
    expect(scoreOf(1)).toBe(81);
  });

  it.each([
    ['set before this sink did', () => canvas.grade(1, '70')],
    ['excused', () => canvas.submissions.set(1, { grade: null, score: null, gradedAt: null, excused: true })],
  ])('is left as well when it was %s', async (_, act) => {
    act();
    expect(await send(newSink(), [{ user: 1, points: 80 }])).toMatchObject([{ cause: 'graded-by-somebody-else' }]);
    expect(canvas.jobs).toHaveLength(0);
  });

  it('is left when it was cleared', async () => {
    const [outcome] = await send(newSink(), [{ user: 1, points: 80 }]);
    canvas.grade(1, '');
    const again = await send(newSink(), [{ user: 1, points: 81, object: outcome!.object! }]);
    expect(again).toMatchObject([{ kind: 'rejected' }]);
    expect(scoreOf(1)).toBeNull();
  });

  it('to what would be set is taken for it without another job', async () => {
    canvas.grade(1, '80');
    expect(await send(newSink(), [{ user: 1, points: 80 }])).toMatchObject([{ kind: 'delivered' }]);
    expect(canvas.jobs).toHaveLength(0);
  });
});

describe('a job whose end is not seen', () => {
  it('leaves its grades in doubt until it has ended, and is never started twice', async () => {
    canvas.looksUntilDone = Number.POSITIVE_INFINITY;
    const sink = newSink({ patienceMs: 0 });
    const grades = students(3);
    const outcomes = await send(sink, grades);
    expect(outcomes).toMatchObject(
      grades.map(() => ({ kind: 'unknown', detail: expect.stringContaining('progress 500') })),
    );
    expect(kinds(await recover(sink, grades))).toEqual(grades.map(() => 'unknown'));
    expect(kinds(await send(sink, [{ user: 9, points: 80 }]))).toEqual(['retry']); // not beside the one that runs
    canvas.finish(canvas.jobs[0]!);
    expect(kinds(await recover(newSink(), grades))).toEqual(grades.map(() => 'delivered'));
    expect(canvas.jobs).toHaveLength(1);
  });

  it('because its answer was lost is found by what it has done', async () => {
    const sink = newSink();
    canvas.loseAnswersTo = /update_grades/;
    expect(kinds(await send(sink, students(3)))).toEqual(['unknown', 'unknown', 'unknown']);
    canvas.loseAnswersTo = undefined;
    expect(kinds(await recover(sink, students(3)))).toEqual(['delivered', 'delivered', 'delivered']);
    expect(canvas.jobs).toHaveLength(1);
  });

  it('because the process died is found by what it has done, whatever Canvas made of the grade', async () => {
    const grades = students(2).map(({ user }) => ({ user, points: 'A-' }));
    await newSink().send(await operationsOf(newSink(), grades), lane(), signal); // and nothing is committed
    expect(canvas.jobs).toHaveLength(1);
    expect(kinds(await recover(newSink(), grades))).toEqual(['delivered', 'delivered']);
    expect(canvas.jobs).toHaveLength(1);
  });

  it('and that has done nothing is sent again', async () => {
    const sink = newSink();
    canvas.answer = (request) => {
      if (request.method === 'POST') request.socket.destroy();
      return request.method === 'POST';
    };
    expect(kinds(await send(sink, students(2)))).toEqual(['unknown', 'unknown']);
    canvas.answer = undefined;
    expect(kinds(await recover(sink, students(2)))).toEqual(['unsent', 'unsent']);
    expect(kinds(await send(sink, students(2)))).toEqual(['delivered', 'delivered']);
    expect(canvas.jobs).toHaveLength(1);
  });

  it('may be followed by another grade of the same student, which counts as nobody else’s', async () => {
    const sink = newSink();
    await sink.send(await operationsOf(sink, [{ user: 1, points: 80 }]), lane(), signal); // died
    expect(kinds(await send(sink, [{ user: 1, points: 90 }]))).toEqual(['delivered']);
    expect(scoreOf(1)).toBe(90);
  });

  it('takes no later change by a teacher for its own', async () => {
    const sink = newSink();
    await sink.send(await operationsOf(sink, [{ user: 1, points: 80 }]), lane(), signal); // died
    const [outcome] = await recover(sink, [{ user: 1, points: 80 }]);
    canvas.grade(1, '95');
    const again = await send(sink, [{ user: 1, points: 81, object: outcome!.object! }]);
    expect(again).toMatchObject([{ kind: 'rejected', cause: 'graded-by-somebody-else' }]);
  });
});

describe('what Canvas refuses', () => {
  it('of one student holds nobody else back', async () => {
    canvas.poison.add(13);
    canvas.ungradable.add(20);
    const outcomes = await send(newSink(), students(40));
    expect(outcomes.filter(({ kind }) => kind === 'delivered')).toHaveLength(38);
    expect(outcomes[12]).toMatchObject({ kind: 'rejected', cause: 'grade-not-taken' });
    expect(outcomes[19]).toMatchObject({ kind: 'rejected', cause: 'student-not-gradable' });
    expect(canvas.jobs.length).toBeLessThanOrEqual(15);
  });

  it('is reported by its cause', async () => {
    const one = [{ user: 1, points: 80 }];
    expect(await send(newSink(), [{ user: 777, points: 80 }])).toMatchObject([{ cause: 'student-not-found' }]);
    expect(await send(newSink({ record: { assignment: '"8"' } }), one)).toMatchObject([
      { cause: 'assignment-not-found' },
    ]);
    canvas.published = false;
    expect(await send(newSink(), one)).toMatchObject([{ cause: 'assignment-not-published' }]);
    canvas.mayGrade = false;
    expect(await send(newSink(), one)).toMatchObject([{ kind: 'rejected', cause: 'no-permission' }]);
  });

  it('for the token pauses the sink', async () => {
    expect(await send(newSink({ token: 'another' }), [{ user: 1, points: 80 }])).toMatchObject([
      { kind: 'pause', cause: 'credential' },
    ]);
  });

  it('for being asked too much is sent again later, and is no missing right', async () => {
    canvas.answer = (_, response) => response.writeHead(403).end('403 Forbidden (Rate Limit Exceeded)\n') !== undefined;
    expect(await send(newSink(), [{ user: 1, points: 80 }])).toMatchObject([{ kind: 'retry', afterMs: 15_000 }]);
  });

  it('is said without names, codes and tokens', async () => {
    canvas.ungradable.add(1);
    canvas.poison.add(2);
    const outcomes = [
      ...(await send(newSink(), students(3))),
      ...(await send(newSink({ token: 'another' }), students(1))),
    ];
    const said = JSON.stringify([outcomes, memory]);
    for (const text of ['Ada', 'A1', 'sis_user_id', canvas.token, '"80"']) expect(said).not.toContain(text);
  });
});

describe('a person who withdraws consent', () => {
  const withdrawn = (sink: Sink<CanvasOperation>, object: Fields) =>
    sink.plan([subjectOf({ ...changeFor(1, 80), data: null }, { object, removal: 'consent-withdrawn' })]);

  it('loses the grade that was set here', async () => {
    const sink = newSink();
    const [outcome] = await send(sink, [{ user: 1, points: 80 }]);
    const [planned] = await withdrawn(sink, outcome!.object!);
    const operations = planned?.kind === 'send' ? [planned.operation] : [];
    expect(await commit(sink.send(operations, lane(), signal))).toMatchObject([{ kind: 'delivered', object: null }]);
    expect(scoreOf(1)).toBeNull();
  });

  it('keeps it where that is left to a person, and where the item alone is gone', async () => {
    const [outcome] = await send(newSink(), [{ user: 1, points: 80 }]);
    const object = outcome!.object!;
    expect(await withdrawn(newSink({ onForget: 'manual' }), object)).toMatchObject([{ reason: 'forget-by-hand' }]);
    const deleted = subjectOf({ ...changeFor(1, 80), data: null }, { object });
    expect(await newSink().plan([deleted])).toEqual([{ kind: 'nothing', reason: 'grade-stays' }]);
  });
});

describe('the check of a canvas sink', () => {
  const check = (sink: Sink) => sink.check(signal);

  it('reads token, right and assignment, and grades nobody', async () => {
    expect((await check(newSink())).map(({ ok }) => ok)).toEqual([true, true]);
    expect(canvas.requests.every((line) => line.startsWith('GET '))).toBe(true);
  });

  it('says what is missing', async () => {
    expect(await check(newSink({ token: 'another' }))).toMatchObject([
      { ok: false, text: expect.stringContaining('token') },
    ]);
    canvas.published = false;
    expect((await check(newSink())).at(-1)).toMatchObject({
      ok: false,
      text: expect.stringContaining('not published'),
    });
    canvas.mayGrade = false;
    expect((await check(newSink())).at(-1)).toMatchObject({
      ok: false,
      text: expect.stringContaining('may not edit grades'),
    });
  });

  it('reports that it cannot check names that come from items', async () => {
    const lines = await check(newSink({ record: { course: '"sis_course_id:" & pigeonhole.name' } }));
    expect(lines.at(-1)).toMatchObject({ ok: true, text: expect.stringContaining('from each item') });
  });
});

describe('a canvas sink that is stopped', () => {
  it('begins no job', async () => {
    const sink = newSink();
    const result = await sink.send(await operationsOf(sink, students(3)), lane(), AbortSignal.abort());
    expect(kinds(result.outcomes)).toEqual(['unsent', 'unsent', 'unsent']);
    expect(canvas.requests).toEqual([]);
  });
});
