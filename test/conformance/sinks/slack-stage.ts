import { Secret } from '../../../config/secret.js';
import type { Change } from '../../../sinks/change.js';
import { type SlackConfig, slackConfigSchema } from '../../../sinks/slack/config.js';
import { createSlackSink, slackSinkType } from '../../../sinks/slack/slack.js';
import type { SinkEnvironment, Subject } from '../../../sinks/sink.js';
import type { SlackMessage as PostedMessage } from '../../../sandbox/slack/slack-workspace.js';
import {
  DEFAULT_CHANNEL,
  DEFAULT_TOKEN,
  ROTATING_APP,
  slackFaults,
  startSlackDouble,
  type SlackDouble,
  type SlackDoubleOptions,
} from '../../../sandbox/slack/start-slack-double.js';
import { FastClock } from '../../kit/fast-clock.js';
import { KeptInMemory } from '../../kit/kept-in-memory.js';
import { SteppedClock } from '../../kit/stepped-clock.js';
import { StateCourier } from './state-courier.js';
import { environmentOf } from '../../../sinks/sink-environment.test-kit.js';
import { withDeclaredCodes } from './declared-codes.js';

export interface SlackStageOptions {
  readonly double?: SlackDoubleOptions;
  /** Keys of the sink in pigeonpost.yaml. */
  readonly keys?: Readonly<Record<string, unknown>>;
  /** Keys of the sink's only message. */
  readonly message?: Readonly<Record<string, unknown>>;
  readonly limits?: SinkEnvironment['limits'];
  /**
   * If set, time also passes while requests are in progress, as many times as fast as on the wall clock. A test that
   * kills the process within a request needs it. Its result must not depend on how long a request takes.
   */
  readonly speed?: number;
}

/** A Slack stand-in, a sink, and a minimal delivery engine, with one clock. */
export interface SlackStage {
  readonly slack: SlackDouble;
  readonly clock: FastClock | SteppedClock;
  readonly courier: StateCourier;
  /** Adds a pigeonhole to the same sink. Its lanes share the state of the account. */
  anotherLane(pigeonholeId: number): StateCourier;
  /** Adds a named fault of the stand-in for requests whose path contains `path`. */
  fault(name: string, path: string, more?: object): void;
  /** Returns the number of requests to a method of the API. */
  requestsTo(method: string): number;
  offer(key: string, item: Readonly<Record<string, unknown>> | null, around?: Partial<Subject>): void;
  settle(): Promise<void>;
  /** Returns the current messages of a channel about items, by key, without their votes. */
  shown(channel?: string): Record<string, string[]>;
  /** Returns the parent messages of threads. */
  threads(channel?: string): readonly PostedMessage[];
  close(): Promise<void>;
}

/** For tests that count calls. The app is already in the channel. */
export const joined: SlackStageOptions = {
  double: { channels: [{ id: DEFAULT_CHANNEL, name: 'questions', isMember: true }] },
};

/** Time by the stage's clock. With a speed of 100, this is minutes of the wall clock. */
export const settleWithinMs = 20_000_000;

function credentialOf({ double }: SlackStageOptions) {
  if (double?.rotation !== true) return { token: new Secret(DEFAULT_TOKEN) };
  const { clientId, clientSecret, refreshToken } = ROTATING_APP;
  const rotation = { clientId, clientSecret: new Secret(clientSecret), refreshToken: new Secret(refreshToken) };
  return { rotation };
}

function slackConfig(url: string, options: SlackStageOptions): SlackConfig {
  const { keys, message } = options;
  return slackConfigSchema.parse({
    ...credentialOf(options),
    channel: DEFAULT_CHANNEL,
    baseUrl: `${url}/api`,
    messages: [
      {
        from: 'qna-questions',
        when: 'item.status = "allowed"',
        text: 'item.content',
        threadBy: 'session.id',
        votes: 'item.votes',
        ...message,
      },
    ],
    ...keys,
  });
}

/** Returns the configuration for an incoming webhook at `path`. YAML allows only https, which stand-ins lack. */
export function slackWebhookConfig(url: string, path: string): SlackConfig {
  const { token: _, baseUrl: __, ...config } = slackConfig(url, {});
  return { ...config, webhookUrl: new Secret(`${url}${path}`) };
}

export async function slackStage(options: SlackStageOptions = {}): Promise<SlackStage> {
  const clock = options.speed === undefined ? new SteppedClock() : new FastClock(options.speed);
  const slack = await startSlackDouble({ now: clock.wallNow, ...options.double });
  const kept = new KeptInMemory(clock.wallNow);
  const environment = (): SinkEnvironment =>
    environmentOf('questions', {
      credentials: kept.open(),
      now: clock.wallNow,
      requestTimeoutMs: 60_000,
      ...(options.limits && { limits: options.limits }),
    });
  const openSink = () =>
    withDeclaredCodes(slackSinkType, createSlackSink(slackConfig(slack.url, options), environment(), { clock }));
  const courier = new StateCourier({ openSink, clock });
  let sequence = 0;
  const revisions = new Map<string, number>();
  const sinks = [courier];
  return {
    slack,
    clock,
    courier,
    anotherLane(pigeonholeId) {
      const { sink } = courier;
      return new StateCourier({ openSink: () => sink, clock, lane: { pigeonholeId } });
    },
    fault(name, path, more = {}) {
      slack.faults.add({ effect: slackFaults[name] ?? { kind: name as 'dropAfter' }, path, ...more });
    },
    requestsTo: (method) => slack.requests.filter(({ path }) => path.endsWith(method)).length,
    offer(key, item, around = {}) {
      sequence += 1;
      const revision = (revisions.get(key) ?? 0) + 1;
      revisions.set(key, revision);
      courier.offer(questionOf(key, item, { sequence, revision }), { session: keynote, ...around });
    },
    settle: () => courier.settle(settleWithinMs, (ms) => clock.pass(ms)),
    shown(channel = DEFAULT_CHANNEL) {
      const shown: Record<string, string[]> = {};
      for (const message of slack.workspace.channels.get(channel)!.all) {
        const { key } = (message.metadata as { event_payload?: { key?: string } } | undefined)?.event_payload ?? {};
        if (message.metadata?.event_type !== 'pigeonpost_item' || key === undefined) continue;
        (shown[key] ??= []).push(withoutVotes(message.text));
      }
      return shown;
    },
    threads(channel = DEFAULT_CHANNEL) {
      const { all } = slack.workspace.channels.get(channel)!;
      return all.filter(({ metadata }) => metadata?.event_type === 'pigeonpost_thread');
    },
    async close() {
      for (const each of sinks) await each.sink.close();
      await slack.close();
      if (clock instanceof SteppedClock) clock.close();
      if (slack.workspace.misuses.length > 0) throw new Error(slack.workspace.misuses.join('\n'));
    },
  };
}

/** Returns the text of a message without the number of votes, which is its last line if it shows no names. */
export const withoutVotes = (text: string): string => text.replace(/\n\d+ votes?$/, '');

const keynote = { id: 5001, name: 'Keynote' };

/** Builds a change of a question; null deletes it. */
export function questionOf(
  key: string,
  item: Readonly<Record<string, unknown>> | null,
  { sequence, revision, pigeonholeId = 101 }: { sequence: number; revision: number; pigeonholeId?: number },
): Change {
  const data = { id: key, content: `question ${key}`, status: 'allowed', attendee: { anonymous: true }, votes: 0 };
  return {
    id: `00000000-0000-5000-8000-${String(pigeonholeId).padStart(4, '0')}${String(sequence).padStart(8, '0')}`,
    type: item === null ? 'qna-questions.deleted' : revision === 1 ? 'qna-questions.created' : 'qna-questions.updated',
    timestamp: '2026-11-21T09:00:00.000Z',
    workspace: 'acme',
    pigeonholeId,
    sessionId: 5001,
    list: 'qna-questions',
    key,
    revision,
    sequence,
    data: item === null ? null : { ...data, ...item },
  };
}
