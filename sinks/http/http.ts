import { withCallBudget } from '../rest/rest-client.js';
import { planEach } from '../mapping/mapping-error.js';
import { Secret } from '../../config/secret.js';
import { expressionsIn } from '../mapping/expression-schema.js';
import { joinsOf } from '../mapping/mentioned-fields.js';
import type { Outcome, Sink, SinkEnvironment, SinkType } from '../sink.js';
import { checkReceiver } from './check.js';
import { HttpClient } from './client.js';
import { type HttpConfig, httpConfigSchema } from './config.js';
import { type HttpOperation, Planner, withoutAnswer } from './plan.js';
import { previewOf } from './preview.js';
import { canReadBack, compareItem, readBackItems } from './read-back.js';
import { sendOperations } from './send.js';
import { httpCauses, httpReasons } from './reasons.js';

/** A `send` starts no request after this time, so that a slow receiver does not keep a lane busy for minutes. */
const START_WINDOW_MS = 30_000;
/** Number of requests in one `send`. The engine makes two commits for all of them together. */
const REQUESTS_PER_SEND = 64;
const MAX_PER_SEND = 2_000;

export function createHttpSink(config: HttpConfig, environment: SinkEnvironment): Sink<HttpOperation> {
  const client = new HttpClient(config, environment);
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
    check: (signal) => checkReceiver(config, { client, reading, onForget: environment.onForget }, signal),
    plan: (subjects) => planEach(subjects, (subject) => planner.plan(subject)),
    planLookUp: async (subjects) => subjects.map((subject) => planner.planLookUp(subject)),
    preview: ({ steps }) => steps.flatMap((step) => previewOf(step, config)),
    /** Nothing is looked up. The object says that the receiver may have the records that were to be created. */
    recover: async (operations) => ({
      outcomes: operations.map(({ made, steps }): Outcome => {
        const creating = steps.flatMap(({ purpose, record }) => (purpose === 'create' ? [record] : []));
        const object = isLog ? {} : withoutAnswer(made, creating);
        return { kind: 'unsent', ...(Object.keys(object).length > 0 && { object }) };
      }),
    }),
    send: (operations, _lane, signal) =>
      withCallBudget(signal, START_WINDOW_MS, (budget) =>
        sendOperations(operations, {
          config,
          client,
          reading,
          signal: budget.signal,
          mayBegin: () => budget.remainingMs() > 0,
          now: environment.now,
        }),
      ),
    ...(canReadBack(config) && {
      readBack: (wanted, _lane, signal) =>
        withCallBudget(signal, START_WINDOW_MS, (budget) => {
          const mayBegin = (): boolean => budget.remainingMs() > 0 && !budget.signal.aborted;
          return readBackItems(wanted, { config, client, reading, signal: budget.signal, mayBegin });
        }),
      compareHeld: compareItem,
    }),
    tryNow: () => client.tryNow(),
    close: () => client.close(),
  };
}

export const httpSinkType: SinkType<HttpConfig> = {
  type: 'http',
  configSchema: httpConfigSchema,
  acceptsByDefault: ['obtained'],
  mappingKeys: ['records'],
  reasons: httpReasons,
  causes: httpCauses,
  // A log receives a removal as one more event.
  forwards: (config) => config?.revisions !== 'latest',
  lists: ({ records }) => [...new Set(records.map(({ from }) => from))],
  joins: ({ records }) => joinsOf(expressionsIn(records).map(({ expression }) => expression)),
  destination,
  create: createHttpSink,
};

/**
 * Returns the address and the user or client. At some vendors, only the credential decides into which account a record
 * goes.
 */
function destination({ baseUrl, auth }: HttpConfig): string {
  const who =
    auth.type === 'basic'
      ? auth.username.reveal()
      : auth.type === 'oauth' && auth.grant.kind === 'client-credentials'
        ? auth.grant.clientId
        : '';
  return JSON.stringify([baseUrl instanceof Secret ? baseUrl.reveal() : baseUrl, who]);
}
