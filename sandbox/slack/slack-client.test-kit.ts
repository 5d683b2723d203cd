import {
  DEFAULT_CHANNEL,
  DEFAULT_TOKEN,
  startSlackDouble,
  type SlackDouble,
  type SlackDoubleOptions,
} from './start-slack-double.js';

/** An answer of the Web API with the properties that the tests read. */
export interface SlackAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly ok: boolean;
  readonly error?: string;
  readonly ts: string;
  readonly messages: readonly AnsweredMessage[];
  readonly [field: string]: unknown;
}

interface AnsweredMessage {
  readonly ts: string;
  readonly text: string;
  readonly metadata?: unknown;
  readonly [field: string]: unknown;
}

/** A stand-in with its own clock, and functions that call it over HTTP like any client. */
export interface SlackTrial {
  readonly double: SlackDouble;
  /** Advances the stand-in's clock. */
  pass(ms: number): void;
  /** Sends JSON, by default with the default token. */
  call(method: string, args: object, token?: string): Promise<SlackAnswer>;
  /** Sends a GET with a query, by default with the default token. */
  get(method: string, args: Record<string, string>, token?: string): Promise<SlackAnswer>;
  /** Advances the clock by a second, posts to the default channel, and returns the ts. */
  post(args?: object): Promise<string>;
}

export async function slackTrial(options: SlackDoubleOptions = {}): Promise<SlackTrial> {
  let nowMs = Date.UTC(2026, 10, 21, 9);
  // These tests check the stand-in's rules, so the app has every permission unless a test checks the profile.
  const double = await startSlackDouble({
    now: () => nowMs,
    profile: 'established',
    onViolation: 'record',
    ...options,
  });
  const trial: SlackTrial = {
    double,
    pass: (ms) => void (nowMs += ms),
    call: (method, args, token = DEFAULT_TOKEN) =>
      answerOf(
        fetch(`${double.url}/api/${method}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json; charset=utf-8' },
          body: JSON.stringify(args),
        }),
      ),
    get: (method, args, token = DEFAULT_TOKEN) =>
      answerOf(
        fetch(`${double.url}/api/${method}?${new URLSearchParams(args).toString()}`, {
          headers: { authorization: `Bearer ${token}` },
        }),
      ),
    async post(args = {}) {
      trial.pass(1000);
      const posted = await trial.call('chat.postMessage', { channel: DEFAULT_CHANNEL, text: 'hello', ...args });
      if (!posted.ok) throw new Error(`not posted: ${posted.error}`);
      return posted.ts;
    },
  };
  return trial;
}

async function answerOf(request: Promise<Response>): Promise<SlackAnswer> {
  const response = await request;
  const json = (await response.json()) as Omit<SlackAnswer, 'status' | 'headers'>;
  return { ...json, status: response.status, headers: response.headers } as SlackAnswer;
}
