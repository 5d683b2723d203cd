import type { DoubleAnswer, DoubleRequest } from '../serve/double-request.js';
import type { CanvasInstance } from './canvas-instance.js';
import { CanvasRefusal, notFound } from './read-parameters.js';
import { checkQuery, routes, type Call } from './routes.js';

/** Answers as Canvas does. Checks the throttling bucket first, then the token, then the request. */
export function answerRequest(canvas: CanvasInstance, request: DoubleRequest, url: string): DoubleAnswer {
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
export function rateLimitExceeded(requestId: string): DoubleAnswer {
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
