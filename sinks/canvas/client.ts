import type { Secret } from '../../config/secret.js';
import { fieldsOf, type Result } from '../sink.js';
import type { RollingLimiter } from '../network/rolling-limiter.js';
import type { CallBudget, RestAnswer, RestClient } from '../rest/rest-client.js';
import { classifyAnswer, holdBackMs, type Reply } from './classify.js';
import { type Submission, pathPart } from './grade-rules.js';

interface ClientOptions {
  /** The address of Canvas, without a slash at the end. */
  readonly baseUrl: string;
  readonly token: Secret;
  readonly rest: RestClient;
  /** Shared by all lanes, because Canvas has one bucket per token. */
  readonly limiter: RollingLimiter;
}

const NO_ROOM_WAIT_MS = 5_000;

/** Calls Canvas' REST API within the rate limit of the token. Never throws. */
export class CanvasClient {
  readonly host: string;

  constructor(private readonly options: ClientOptions) {
    this.host = options.rest.host;
  }

  /** Reads a resource. @param path the path below `/api/v1`, with encoded parts */
  get(path: string, budget: CallBudget): Promise<Reply> {
    return this.#call('GET', path, undefined, budget);
  }

  post(path: string, body: object, budget: CallBudget): Promise<Reply> {
    return this.#call('POST', path, body, budget);
  }

  async #call(method: 'GET' | 'POST', path: string, json: object | undefined, budget: CallBudget): Promise<Reply> {
    const { limiter, rest, baseUrl, token } = this.options;
    const permit = await limiter.take(budget.signal, budget.remainingMs());
    if (permit === undefined) {
      const detail = 'the rate limit of this token in Canvas is used up for now';
      const result: Result = budget.signal.aborted
        ? { kind: 'unsent' }
        : { kind: 'retry', afterMs: NO_ROOM_WAIT_MS, detail };
      return { kind: 'failed', result, processed: 'no' };
    }
    try {
      const headers = { authorization: `Bearer ${token.reveal()}` };
      const answer = await rest.call({ method, url: `${baseUrl}/api/v1${path}`, headers, json }, budget.signal);
      if (answer.kind === 'answer') return this.#judge(answer);
      const processed = answer.mayHaveArrived ? 'maybe' : 'no';
      return { kind: 'failed', processed, result: { kind: 'retry', detail: answer.detail } };
    } finally {
      permit.done();
    }
  }

  #judge(answer: RestAnswer): Reply {
    const waitMs = holdBackMs(answer.headers['x-rate-limit-remaining']);
    if (waitMs > 0) this.options.limiter.close(waitMs);
    const reply = classifyAnswer(answer);
    if (reply.kind !== 'throttled') return reply;
    const { afterMs, detail } = reply;
    this.options.limiter.close(afterMs);
    return { kind: 'failed', processed: 'no', result: { kind: 'retry', afterMs, detail } };
  }
}

type Found = { readonly kind: 'found'; readonly submission: Submission } | Exclude<Reply, { kind: 'ok' }>;

/**
 * Reads the submission of one student. Submissions are read one by one, because Canvas refuses a whole list if the
 * token's user may not see one of its students.
 */
export async function readSubmission(
  client: CanvasClient,
  { path, user }: { readonly path: string; readonly user: string },
  budget: CallBudget,
): Promise<Found> {
  const reply = await client.get(`${path}/submissions/${pathPart(user)}`, budget);
  if (reply.kind !== 'ok') return reply;
  const submission = submissionOf(reply.body);
  if (submission !== undefined) return { kind: 'found', submission };
  const detail = `${client.host} returns a submission without a student: correct "baseUrl"`;
  return { kind: 'failed', result: { kind: 'retry', detail }, processed: 'no' };
}

/**
 * Parses a submission. Prefers the entered grade to the grade after late deductions. Source: Canvas LMS, "Submissions".
 */
function submissionOf(found: unknown): Submission | undefined {
  const body = fieldsOf(found);
  const userId = body['user_id'];
  if (typeof userId !== 'number' || !Number.isSafeInteger(userId)) return undefined;
  const grade = body['entered_grade'] ?? body['grade'];
  const score = body['entered_score'] ?? body['score'];
  const gradedAt = body['graded_at'];
  const graderId = body['grader_id'];
  return {
    userId,
    grade: typeof grade === 'string' || typeof grade === 'number' ? String(grade) : null,
    score: typeof score === 'number' ? score : null,
    gradedAt: typeof gradedAt === 'string' ? gradedAt : null,
    excused: body['excused'] === true,
    graderId: typeof graderId === 'number' && gradedAt !== null ? graderId : null,
    isHidden: typeof gradedAt === 'string' && body['posted_at'] === null,
  };
}
