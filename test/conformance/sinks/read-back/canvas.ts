import { Secret } from '../../../../config/secret.js';
import { startCanvasDouble } from '../../../../sandbox/canvas/start-canvas-double.js';
import { createCanvasSink } from '../../../../sinks/canvas/canvas.js';
import { canvasConfigSchema } from '../../../../sinks/canvas/config.js';
import { environmentOf } from '../../../../sinks/sink-environment.test-kit.js';
import { hurriedClock } from '../../../../sinks/network/hurried-clock.test-kit.js';
import { changeOf, type HeldDestination, type Version } from './held-destination.js';

const points: Readonly<Record<Version, number>> = { first: 80, last: 90, edited: 70 };
/** The id of the teacher who grades by hand. */
const teacher = 77;

/** The grades of an assignment. A student has one, and grades cannot be merged. */
export async function startCanvas(items: number): Promise<HeldDestination> {
  const numbers = Array.from({ length: items }, (_, at) => at + 1);
  const users = numbers.map((number) => ({ id: 5000 + number, name: `Student ${number}`, sisUserId: `S${number}` }));
  const assignment = {
    id: 7,
    name: 'Attendance',
    pointsPossible: 100,
    gradingType: 'points',
    published: true,
  } as const;
  const course = { id: 42, name: 'Conference', students: users.map(({ id }) => id), assignments: [assignment] };
  // The bucket empties as fast as the hurried clock of the sink runs.
  const double = await startCanvasDouble({ school: { users, courses: [course] }, outflowPerSecond: 1000 });
  const user = '"sis_user_id:" & attendee.attendeeCode';
  const config = canvasConfigSchema.parse({
    baseUrl: double.url,
    token: new Secret('canvas-token'),
    records: [{ from: 'engagement', course: '"42"', assignment: '"7"', user, grade: 'item.points', overwrite: true }],
  });
  const environment = environmentOf('grades', {
    requestTimeoutMs: 60_000,
    onForget: 'manual',
    limits: { per10s: 1_000_000 },
  });
  const sink = createCanvasSink(config, environment, { clock: hurriedClock, patienceMs: 3_600_000 });
  const { school } = double.canvas;
  const grade = (number: number, posted: string): unknown => school.grade(assignment, 5000 + number, posted, teacher);
  return {
    sink,
    findsCopies: false,
    leavesErased: true,
    item: (number, version) =>
      changeOf(
        'engagement',
        number,
        version,
        { points: points[version] },
        { attendee: { attendeeCode: `S${number}` } },
      ),
    contents: () =>
      school
        .graded()
        .map(({ gradedAtMs: _, ...own }) => [String(own.id), own.userId - 5000, JSON.stringify(own)] as const),
    remove: (number) => grade(number, ''),
    edit: (number) => grade(number, String(points.edited)),
    backup(number) {
      const { grade: posted } = school.submission(assignment, 5000 + number);
      return () => grade(number, posted!);
    },
    async close() {
      await sink.close();
      await double.close();
    },
  };
}
