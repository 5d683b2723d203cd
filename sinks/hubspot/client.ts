import { request, type Dispatcher } from 'undici';
import type { Secret } from '../../config/secret.js';
import { fieldsOf } from '../fields-of.js';
import { neverArrived } from '../network/failure-sentence.js';
import { noAnswerSentence } from '../network/no-answer-sentence.js';
import { headerText, parsedJson, readText } from '../network/read-answer.js';
import type { RollingLimiter } from '../network/rolling-limiter.js';
import { withinDeadline } from '../network/within-deadline.js';
import type { Result } from '../sink.js';
import { classifyAnswer, type HubSpotAnswer, isHeld, type Problem } from './classify-answer.js';
import type { DailyLimit } from './daily-limit.js';
import { Paths } from './paths.js';

export interface ClientOptions {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly token: Secret;
  readonly apiVersion: string;
  readonly dispatcher: Dispatcher;
  readonly limiter: RollingLimiter;
  readonly daily: DailyLimit;
  readonly requestTimeoutMs: number;
  /** Unix time in ms. */
  readonly now: () => number;
}

/** Who asks: until when, and how long they wait for their turn. */
export interface Asking {
  readonly signal: AbortSignal;
  /** How long from now on a request may wait for the account's limit, in ms; 0: none is begun any more. */
  readonly patienceMs: () => number;
}

export type Reply =
  | { readonly kind: 'ok'; readonly status: number; readonly body: Readonly<Record<string, unknown>> }
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly problem: Problem;
      readonly correlationId: string | undefined;
    }
  /** `processed`: whether the call may have taken effect. */
  | { readonly kind: 'failed'; readonly result: Result; readonly processed: 'no' | 'maybe' };

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH';

/** Of an answer more than this is not read: the largest there are hold 100 records. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** One call at a time to HubSpot's API, within the limits of the account. Never throws. */
export class HubSpotClient {
  readonly paths: Paths;
  readonly #options: ClientOptions;
  readonly #host: string;
  #account: Promise<void> | undefined;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.paths = new Paths(options.apiVersion);
    this.#host = new URL(options.baseUrl).host;
  }

  async post(path: string, body: object, asking: Asking): Promise<Reply> {
    return await this.#write('POST', path, body, asking);
  }

  async put(path: string, body: object, asking: Asking): Promise<Reply> {
    return await this.#write('PUT', path, body, asking);
  }

  async patch(path: string, body: object, asking: Asking): Promise<Reply> {
    return await this.#write('PATCH', path, body, asking);
  }

  async #write(method: Method, path: string, body: object, asking: Asking): Promise<Reply> {
    await this.#learnAccount(asking);
    return await this.#call(method, path, body, asking);
  }

  async get(path: string, asking: Asking): Promise<Reply> {
    return await this.#call('GET', path, undefined, asking);
  }

  /** Returns the scopes of a private app's token; undefined where HubSpot does not say, as for a service key. */
  async scopes(asking: Asking): Promise<ReadonlySet<string> | undefined> {
    const body = { tokenKey: this.#options.token.reveal() };
    const reply = await this.#call('POST', '/oauth/v2/private-apps/get/access-token-info', body, asking);
    if (reply.kind !== 'ok' || !Array.isArray(reply.body.scopes)) return undefined;
    return new Set(reply.body.scopes.filter((scope) => typeof scope === 'string'));
  }

  /** Once: in which time zone the account's days begin, which nobody can ask any more once the day is used up. */
  async #learnAccount(asking: Asking): Promise<void> {
    if (this.#options.daily.knowsTimeZone) return;
    this.#account ??= this.#call('GET', this.paths.accountDetails, undefined, asking).then((reply) => {
      if (reply.kind === 'ok' && typeof reply.body.timeZone === 'string') {
        this.#options.daily.timeZone = reply.body.timeZone;
      } else if (reply.kind === 'failed' && reply.result.kind !== 'pause' && !isHeld(reply.result)) {
        this.#account = undefined; // asked again with the next call; a refusal is final
      }
    });
    await this.#account;
  }

  async #call(method: Method, path: string, body: object | undefined, asking: Asking): Promise<Reply> {
    const { limiter, daily, requestTimeoutMs: timeoutMs } = this.#options;
    const closedForMs = daily.closedForMs();
    if (closedForMs > 0) return dayIsUsed(closedForMs);
    const patienceMs = asking.patienceMs();
    const permit = patienceMs > 0 ? await limiter.take(asking.signal, patienceMs) : undefined;
    if (permit === undefined) return { kind: 'failed', result: { kind: 'unsent' }, processed: 'no' };
    try {
      daily.spend();
      if (asking.signal.aborted) {
        return {
          kind: 'failed',
          processed: 'no',
          result: { kind: 'retry', detail: 'stopped before HubSpot was asked' },
        };
      }
      const exchange = (signal: AbortSignal): Promise<HubSpotAnswer> => this.#exchange(method, path, body, signal);
      return this.#judge(await withinDeadline(asking.signal, timeoutMs, exchange));
    } catch (error) {
      const detail = noAnswerSentence(error, { host: this.#host, name: 'HubSpot', timeoutMs });
      return { kind: 'failed', processed: neverArrived(error) ? 'no' : 'maybe', result: { kind: 'retry', detail } };
    } finally {
      permit.done();
    }
  }

  #judge(answer: HubSpotAnswer): Reply {
    const { limiter, daily } = this.#options;
    const verdict = classifyAnswer(answer);
    switch (verdict.kind) {
      case 'ok':
        return { kind: 'ok', status: answer.status, body: fieldsOf(answer.body) };
      case 'refused':
        return {
          kind: 'refused',
          status: answer.status,
          problem: verdict.problem,
          correlationId: answer.correlationId,
        };
      case 'limited': {
        if (verdict.limit === 'daily') {
          daily.close();
          return dayIsUsed(daily.closedForMs());
        }
        const waitMs = verdict.retryAfterMs ?? limiter.windowMs;
        limiter.close(waitMs);
        const detail = said('HubSpot is asked too often by this account (HTTP 429)', answer.correlationId);
        return { kind: 'failed', processed: 'no', result: { kind: 'retry', afterMs: waitMs, detail } };
      }
      case 'failed':
        return verdict;
    }
  }

  async #exchange(method: Method, path: string, body: object | undefined, signal: AbortSignal): Promise<HubSpotAnswer> {
    const { baseUrl, dispatcher, token } = this.#options;
    const answer = await request(`${baseUrl}${path}`, {
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
    this.#learn(header);
    const json = parsedJson(await readText(answer.body, MAX_ANSWER_BYTES));
    const id = fieldsOf(json).correlationId ?? header('x-hubspot-correlation-id');
    return {
      status: answer.statusCode,
      body: json,
      retryAfter: header('retry-after'),
      correlationId: typeof id === 'string' && /^[\w-]{1,64}$/.test(id) ? id : undefined,
      answeredAtMs: this.#options.now(),
    };
  }

  /** What the headers say of the account. Source: HubSpot, "Usage guidelines", "Rate limit headers". */
  #learn(header: (name: string) => string | undefined): void {
    const number = (name: string): number | undefined => {
      const text = header(name);
      return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
    };
    const [most, remaining] = [number('x-hubspot-ratelimit-max'), number('x-hubspot-ratelimit-remaining')];
    // The header is about the window that it names; only the one that we keep can be learnt.
    const { limiter } = this.#options;
    const interval = number('x-hubspot-ratelimit-interval-milliseconds') ?? limiter.windowMs;
    if (most !== undefined && interval === limiter.windowMs) {
      limiter.learn({ limit: most, ...(remaining !== undefined && { used: most - remaining }) });
    }
    const [daily, left] = [number('x-hubspot-ratelimit-daily'), number('x-hubspot-ratelimit-daily-remaining')];
    if (daily !== undefined && left !== undefined) this.#options.daily.learnUsed(daily - left);
  }
}

/** A sentence with the id by which HubSpot's support finds the request. */
export function said(sentence: string, correlationId: string | undefined): string {
  return `${sentence}${correlationId === undefined ? '' : ` (correlation id ${correlationId})`}`;
}

function dayIsUsed(closedForMs: number): Reply {
  return {
    kind: 'failed',
    processed: 'no',
    result: {
      kind: 'retry',
      afterMs: closedForMs,
      detail: "the account's requests of this day are used up; it goes on at midnight of the account's time zone",
    },
  };
}
