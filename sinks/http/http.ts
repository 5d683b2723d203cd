import { Secret } from '../../config/secret.js';
import { expressionsIn } from '../mapping/expression-schema.js';
import { joinsOf } from '../mapping/mentioned-fields.js';
import { underOwnSignal } from '../network/within-deadline.js';
import type { Sink, SinkEnvironment, SinkType } from '../sink.js';
import { checkReceiver } from './check.js';
import { HttpClient, type HttpTuning } from './client.js';
import { type HttpConfig, httpConfigSchema } from './config.js';
import type { HttpOperation } from './operation.js';
import { Planner } from './plan.js';
import { sendOperations } from './send.js';

/** A `send` starts no request after this time: a slow receiver must not keep a lane busy for minutes. */
const START_WINDOW_MS = 30_000;
/** Items of one `send`, so that two commits settle many requests. */
const REQUESTS_PER_SEND = 64;
const MAX_PER_SEND = 2_000;

/** Sends requests that the configuration describes. */
export function createHttpSink(
  config: HttpConfig,
  environment: SinkEnvironment,
  tuning: HttpTuning = {},
): Sink<HttpOperation> {
  const client = new HttpClient(config, environment, tuning);
  const planner = new Planner(config, environment);
  const { accept, results } = config;
  const isLog = config.revisions === 'every';
  const reading = { name: environment.name, host: client.host, accept, results, isLog };
  return {
    traits: {
      order: 'item',
      needsContext: true,
      revisions: config.revisions,
      repeats: 'harmless',
      batchSize: Math.min(config.batch.size * REQUESTS_PER_SEND, MAX_PER_SEND),
    },
    check: (signal) => checkReceiver(config, client, reading, signal),
    async plan(subjects) {
      const planned = [];
      for (const subject of subjects) planned.push(await planner.plan(subject));
      return planned;
    },
    async send(operations, _lane, signal) {
      const startUntilMs = performance.now() + START_WINDOW_MS; // monotonic: a set clock must not stretch a lease
      const mayBegin = (): boolean => performance.now() < startUntilMs;
      const now = tuning.now ?? environment.now ?? Date.now;
      return await underOwnSignal(signal, (own) =>
        sendOperations(operations, { config, client, reading, signal: own, mayBegin, now }),
      );
    },
    tryNow: () => client.tryNow(),
    close: () => client.close(),
  };
}

export const httpSinkType: SinkType<HttpConfig> = {
  type: 'http',
  configSchema: httpConfigSchema,
  acceptsByDefault: ['obtained'],
  lists: ({ records }) => [...new Set(records.map(({ from }) => from))],
  joins: ({ records }) => joinsOf(expressionsIn(records).map(({ expression }) => expression)),
  destination,
  create: (config, environment) => createHttpSink(config, environment),
};

/** The address and the identity there: at some vendors, only the credential decides where a record goes. */
function destination({ baseUrl, auth }: HttpConfig): string {
  const who =
    auth.type === 'basic'
      ? auth.username.reveal()
      : auth.type === 'oauth' && auth.grant.kind === 'client-credentials'
        ? auth.grant.clientId
        : '';
  return JSON.stringify([baseUrl instanceof Secret ? baseUrl.reveal() : baseUrl, who]);
}
