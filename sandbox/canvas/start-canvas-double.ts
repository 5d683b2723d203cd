import { serveDouble, type RunningDouble, type ServeOptions } from '../serve/serve-double.js';
import { statePage } from '../serve/state-page.js';
import { answerRequest } from './answer-request.js';
import { canvasFault } from './canvas-faults.js';
import { CanvasInstance, type CanvasOptions } from './canvas-instance.js';

export interface CanvasDouble extends RunningDouble {
  /** The state behind the API: the school (a teacher may grade too), its jobs, and the tokens. */
  readonly canvas: CanvasInstance;
}

/** Starts a Canvas on loopback, held in memory. The README of this folder lists its rules. */
export async function startCanvasDouble(options: CanvasOptions & ServeOptions = {}): Promise<CanvasDouble> {
  const canvas = new CanvasInstance(options);
  let url = '';
  const running = await serveDouble(
    {
      answer: (request) => answerRequest(canvas, request, url),
      state: () => stateOf(canvas),
      page: () => pageOf(canvas),
      namedFaults: canvasFault,
    },
    options,
  );
  ({ url } = running);
  return { ...running, canvas };
}

function stateOf(canvas: CanvasInstance): Record<'grades' | 'jobs', Record<string, unknown>[]> {
  canvas.jobs.advance();
  return {
    grades: canvas.school.graded().map(({ assignmentId, userId, grade, score, gradedAtMs }) => ({
      assignment: assignmentId,
      user: userId,
      name: canvas.school.user(String(userId))?.name,
      grade,
      score,
      gradedAt: gradedAtMs === undefined ? null : new Date(gradedAtMs).toISOString(),
    })),
    jobs: canvas.jobs.all().map(({ id, courseId, workflowState, completion, message }) => ({
      id,
      course: courseId,
      state: workflowState,
      completion,
      message,
    })),
  };
}

function pageOf(canvas: CanvasInstance): string {
  const note = canvas.school.courses.map(
    ({ id, name, students }) => `Course ${id} ${name}: ${students.length} students.`,
  );
  const tables = Object.entries(stateOf(canvas)).map(([title, rows]) => ({ title, rows }));
  return statePage({ title: 'Canvas: stand-in', note: note.join(' '), barColor: '#a3220f', tables });
}
