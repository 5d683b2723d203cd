import { serveDouble, type RunningDouble, type ServeOptions } from '../serve/serve-double.js';
import { statePage } from '../serve/state-page.js';
import { answerRequest, rateLimitExceeded } from './answer-request.js';
import { CanvasInstance, type CanvasOptions } from './canvas-instance.js';
import type { FaultEffect } from '../serve/faults.js';

export interface CanvasDouble extends RunningDouble {
  /** The state behind the API: the school, in which tests can grade as a teacher, its jobs and the tokens. */
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

/**
 * Canvas's documented ways to fail, by name. None changes anything, except `badGatewayAfter`, which is sent after the
 * effect.
 */
const FAULTS: Readonly<Record<string, FaultEffect>> = {
  rateLimit: { kind: 'answer', answer: rateLimitExceeded('ffffffff-0000-4000-8000-000000000000') },
  invalidToken: refusal(401, 'Invalid access token.'),
  serverError: refusal(500, 'An error occurred.'),
  badGateway: { kind: 'answer', answer: { status: 502, text: '<html>502 Bad Gateway</html>' } },
  badGatewayAfter: { kind: 'answerAfter', answer: { status: 502, text: '<html>502 Bad Gateway</html>' } },
  unavailable: { kind: 'answer', answer: { status: 503, text: '<html>Canvas is down for maintenance.</html>' } },
};

/** Returns the effect of a named failure; `undefined` for a name that the README does not list. */
export function canvasFault(name: string): FaultEffect | undefined {
  return FAULTS[name];
}

function refusal(status: number, message: string): FaultEffect {
  return { kind: 'answer', answer: { status, json: { errors: [{ message }] } } };
}
