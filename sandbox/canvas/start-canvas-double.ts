import { serveDouble, type RunningDouble, type ServeOptions } from '../serve/serve-double.js';
import { statePage } from '../serve/live-page.js';
import { CanvasInstance, type CanvasOptions } from './canvas-instance.js';
import type { FaultEffect, NamedFaults } from '../serve/faults.js';
import type { DoubleAnswer, DoubleRequest } from '../serve/double-request.js';
import { CanvasRefusal, notFound } from './read-parameters.js';
import { checkQuery, routes, type Call } from './routes.js';

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
      namedFaults: canvasFaults,
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
 * Canvas's documented failures, by name. The request has no effect, except with `badGatewayAfter`, which is answered
 * after the effect.
 */
export const canvasFaults: NamedFaults = {
  rateLimit: { kind: 'answer', answer: rateLimitExceeded('ffffffff-0000-4000-8000-000000000000') },
  invalidToken: refusal(401, 'Invalid access token.'),
  serverError: refusal(500, 'An error occurred.'),
  badGateway: { kind: 'answer', answer: { status: 502, text: '<html>502 Bad Gateway</html>' } },
  badGatewayAfter: { kind: 'answerAfter', answer: { status: 502, text: '<html>502 Bad Gateway</html>' } },
  unavailable: { kind: 'answer', answer: { status: 503, text: '<html>Canvas is down for maintenance.</html>' } },
};

function refusal(status: number, message: string): FaultEffect {
  return { kind: 'answer', answer: { status, json: { errors: [{ message }] } } };
}

/** Answers as Canvas does. Checks the throttling bucket first, then the token, then the request. */
function answerRequest(canvas: CanvasInstance, request: DoubleRequest, url: string): DoubleAnswer {
  canvas.jobs.advance();
  const requestId = `00000000-0000-4000-8000-${String(request.number).padStart(12, '0')}`;
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  const bucket = canvas.bucket(token ?? '');
  const nowMs = canvas.now();
  if (bucket.isFull(nowMs)) return rateLimitExceeded(requestId);
  bucket.add(bucket.requestCost, nowMs);
  const answer = authenticated(canvas, request, url, token);
  return {
    ...answer,
    headers: {
      'X-Request-Context-Id': requestId,
      'X-Request-Cost': String(bucket.requestCost),
      'X-Rate-Limit-Remaining': bucket.remaining(nowMs).toFixed(1),
      ...answer.headers,
    },
  };
}

/** Plain text, with the same status as a missing permission. Only the text distinguishes the two. */
function rateLimitExceeded(requestId: string): DoubleAnswer {
  return {
    status: 403,
    text: '403 Forbidden (Rate Limit Exceeded)\n',
    headers: { 'X-Rate-Limit-Remaining': '0.0', 'X-Request-Context-Id': requestId },
  };
}

function authenticated(
  canvas: CanvasInstance,
  request: DoubleRequest,
  url: string,
  token: string | undefined,
): DoubleAnswer {
  try {
    if (token === undefined) throw new CanvasRefusal(401, 'user authorization required', 'unauthenticated');
    const user = canvas.tokens.get(token);
    if (user === undefined) throw new CanvasRefusal(401, 'Invalid access token.');
    return routed({
      canvas,
      request,
      url,
      mayGrade: user.manageGrades,
      mayCreate: user.manageAssignments ?? user.manageGrades,
      mayRead: user.viewAllGrades ?? true,
    });
  } catch (error) {
    if (!(error instanceof CanvasRefusal)) throw error;
    return error.answer();
  }
}

function routed(call: Omit<Call, 'parts'>): DoubleAnswer {
  const { method, path } = call.request;
  const route = routes.find((each) => each.method === method && each.path.test(path));
  if (route === undefined) throw notFound();
  checkQuery(call.request);
  return route.answer({ ...call, parts: route.path.exec(path)!.slice(1).map(decodeURIComponent) });
}
