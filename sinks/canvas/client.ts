import { request, type Dispatcher } from 'undici';
import type { Secret } from '../../config/secret.js';
import { fieldsOf, type Result } from '../sink.js';
import { neverArrived, noAnswerSentence } from '../network/failure-sentence.js';
import { headerText, parsedJson, readText } from '../network/read-answer.js';
import type { RollingLimiter } from '../network/rolling-limiter.js';
import { withinDeadline } from '../network/within-deadline.js';
import { classifyAnswer, holdBackMs, type CanvasAnswer } from './classify.js';
import { type Submission, pathPart } from './grade-rules.js';

interface ClientOptions {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly token: Secret;
  readonly dispatcher: Dispatcher;
  /** Shared by all lanes: the bucket belongs to the token. */
  readonly limiter: RollingLimiter;
  readonly requestTimeoutMs: number;
  /** Unix time in ms. */
  readonly now: () => number;
}

export interface CallBudget {
  readonly signal: AbortSignal;
  /** Milliseconds from now that a request may wait for a permit. */
  readonly patienceMs: () => number;
}

export type Reply =
  /** `list`: the items of an answer that is a list. */
  | { readonly kind: 'ok'; readonly body: Readonly<Record<string, unknown>>; readonly list: readonly unknown[] }
  | {
      readonly kind: 'not-found' | 'forbidden' | 'refused';
      readonly status: number;
      readonly requestId: string | undefined;
    }
  /** `processed`: whether the call may have taken effect. */
  | { readonly kind: 'failed'; readonly result: Result; readonly processed: 'no' | 'maybe' };

/** Maximum bytes read of an answer. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

const NO_ROOM_WAIT_MS = 5_000;

/** Calls Canvas' REST API within the rate limit of the token. Never throws. */
export class CanvasClient {
  readonly host: string;

  constructor(private readonly options: ClientOptions) {
    this.host = new URL(options.baseUrl).host;
  }

  /** @param path from `/api/v1` on, its parts encoded */
  get(path: string, budget: CallBudget): Promise<Reply> {
    return this.#call('GET', path, undefined, budget);
  }

  post(path: string, body: object, budget: CallBudget): Promise<Reply> {
    return this.#call('POST', path, body, budget);
  }

  async #call(method: 'GET' | 'POST', path: string, body: object | undefined, budget: CallBudget): Promise<Reply> {
    const { limiter, requestTimeoutMs: timeoutMs } = this.options;
    const permit = await limiter.take(budget.signal, budget.patienceMs());
    if (permit === undefined) {
      const detail = 'the rate limit of this token in Canvas is used up for now';
      const result: Result = budget.signal.aborted
        ? { kind: 'unsent' }
        : { kind: 'retry', afterMs: NO_ROOM_WAIT_MS, detail };
      return { kind: 'failed', result, processed: 'no' };
    }
    try {
      const exchange = (signal: AbortSignal): Promise<CanvasAnswer> => this.#exchange(method, path, body, signal);
      return this.#judge(await withinDeadline(budget.signal, timeoutMs, exchange));
    } catch (error) {
      const detail = noAnswerSentence(error, { host: this.host, name: 'Canvas', timeoutMs });
      return { kind: 'failed', processed: neverArrived(error) ? 'no' : 'maybe', result: { kind: 'retry', detail } };
    } finally {
      permit.done();
    }
  }

  #judge(answer: CanvasAnswer): Reply {
    const verdict = classifyAnswer(answer);
    switch (verdict.kind) {
      case 'ok':
        return { kind: 'ok', body: fieldsOf(answer.body), list: Array.isArray(answer.body) ? answer.body : [] };
      case 'throttled': {
        const { afterMs, detail } = verdict;
        this.options.limiter.close(afterMs);
        return { kind: 'failed', processed: 'no', result: { kind: 'retry', afterMs, detail } };
      }
      case 'failed':
        return verdict;
      default:
        return { kind: verdict.kind, status: answer.status, requestId: answer.requestId };
    }
  }

  async #exchange(
    method: 'GET' | 'POST',
    path: string,
    body: object | undefined,
    signal: AbortSignal,
  ): Promise<CanvasAnswer> {
    const { baseUrl, dispatcher, token, limiter, now } = this.options;
    const answer = await request(`${baseUrl}/api/v1${path}`, {
      method,
      dispatcher,
      signal,
      headers: {
        authorization: `Bearer ${token.reveal()}`,
        accept: 'application/json',
        'user-agent': 'pigeonpost',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const header = (name: string): string | undefined => headerText(answer.headers[name]);
    const waitMs = holdBackMs(header('x-rate-limit-remaining'));
    if (waitMs > 0) limiter.close(waitMs);
    const text = await readText(answer.body, MAX_ANSWER_BYTES);
    const requestId = header('x-request-context-id');
    return {
      status: answer.statusCode,
      body: parsedJson(text),
      text: text ?? '',
      retryAfter: header('retry-after'),
      requestId: requestId !== undefined && /^[\w-]{1,64}$/.test(requestId) ? requestId : undefined,
      answeredAtMs: now(),
    };
  }
}

type Found = { readonly kind: 'found'; readonly submission: Submission } | Exclude<Reply, { kind: 'ok' }>;

/**
 * Reads the submission of one student. They are read one by one, because Canvas refuses a whole list if the token's user
 * may not see one of its students.
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

/** Prefers the entered grade to the one after deductions for lateness. Source: Canvas LMS, "Submissions". */
function submissionOf(found: unknown): Submission | undefined {
  const body = fieldsOf(found);
  const userId = body['user_id'];
  if (typeof userId !== 'number' || !Number.isSafeInteger(userId)) return undefined;
  const grade = body['entered_grade'] ?? body['grade'];
  const score = body['entered_score'] ?? body['score'];
  const gradedAt = body['graded_at'];
  return {
    userId,
    grade: typeof grade === 'string' || typeof grade === 'number' ? String(grade) : null,
    score: typeof score === 'number' ? score : null,
    gradedAt: typeof gradedAt === 'string' ? gradedAt : null,
    excused: body['excused'] === true,
    isHidden: typeof gradedAt === 'string' && body['posted_at'] === null,
  };
}
