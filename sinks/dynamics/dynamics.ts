import { namedRecords } from '../mapping/crm-records.js';
import { expressionsIn } from '../mapping/expression-schema.js';
import { planEach } from '../mapping/mapping-error.js';
import { joinsOf } from '../mapping/mentioned-fields.js';
import { Exclusive } from '../records/exclusive.js';
import { recoverPlainRecords, sendPlainRecords } from '../records/plain-records.js';
import { comparePlainRecords, plainWritesIn, readPlainRecords } from '../records/read-plain-records.js';
import { SharedRecords } from '../records/shared-records.js';
import {
  type PlainKeys,
  type PlainOperation,
  type PlainStep,
  planPlainLookUp,
  planPlainRecords,
} from '../records/plan-plain-records.js';
import { withCallBudget } from '../rest/rest-client.js';
import type { Join, PreviewedCall, Sink, SinkEnvironment, SinkType } from '../sink.js';
import { checkEnvironment } from './check.js';
import { DynamicsClient } from './client.js';
import { type DynamicsConfig, dynamicsConfigSchema } from './config.js';
import { dynamicsCauses, dynamicsReasons } from './reasons.js';
import { RowCalls, rowPath, searchPath, valueRules } from './row-calls.js';

/** Number of changes in one `send`. Each row is a request of its own. */
const BATCH_SIZE = 60;
/** A `send` starts no call after this time, so that it ends within a minute and frees the lane. */
const SEND_BUDGET_MS = 30_000;

/** Creates the sink that writes rows of Dynamics 365. docs/sinks/dynamics.md describes it for users. */
export function createDynamicsSink(config: DynamicsConfig, environment: SinkEnvironment): Sink<PlainOperation> {
  const client = new DynamicsClient(config, environment);
  const newRecords = new Exclusive();
  const shared = new SharedRecords(plainWritesIn, environment.now);
  const kindOf = ({ object }: PlainKeys): string => object;
  const entries = namedRecords(environment.name, config.records, { kindOf, separator: '-' });
  const { onForget, now } = environment;
  return {
    traits: { order: 'item', needsContext: true, revisions: 'latest', repeats: 'harmless', batchSize: BATCH_SIZE },
    check: (signal) => withCallBudget(signal, SEND_BUDGET_MS, (budget) => checkEnvironment(client, entries, budget)),
    plan: (subjects) => planEach(subjects, (subject) => planPlainRecords(subject, entries, onForget)),
    planLookUp: async (subjects) => subjects.map((subject) => planPlainLookUp(subject, entries)),
    preview: ({ steps }) => steps.flatMap((step) => previewOf(step, client)),
    recover: async (operations) => ({ outcomes: recoverPlainRecords(operations) }),
    send: (operations, _lane, signal) =>
      withCallBudget(signal, SEND_BUDGET_MS, async (budget) => {
        if (signal.aborted) return { outcomes: operations.map(() => ({ kind: 'unsent' })) };
        const calls = new RowCalls(client, budget);
        return { outcomes: await sendPlainRecords(operations, { calls, newRecords, signal: budget.signal, now }) };
      }),
    readBack: (wanted, lane, signal) =>
      withCallBudget(signal, SEND_BUDGET_MS, (budget) =>
        readPlainRecords(wanted, lane, { calls: new RowCalls(client, budget), shared }),
      ),
    compareHeld: (operation, held) => comparePlainRecords(operation, held, { rules: valueRules }),
    tryNow: () => client.tryNow(),
    close: () => client.close(),
  };
}

/** Returns the calls of a step in their order. Pure. */
function previewOf(step: PlainStep, client: Pick<DynamicsClient, 'address'>): PreviewedCall[] {
  const { object, known } = step;
  const call = (method: string, path: string, body: unknown): PreviewedCall => {
    return { method, address: client.address(path), body };
  };
  if (step.kind === 'forget') {
    const path = rowPath(object, step.known.id);
    if (step.how === 'delete') return [call('DELETE', path, null)];
    return [call('PATCH', path, Object.fromEntries(step.known.written.map((name) => [name, null])))];
  }
  const values = Object.fromEntries(step.writes.map(({ name, value }) => [name, value]));
  if (known !== null) return [call('PATCH', rowPath(object, known.id), values)];
  const searches = step.match.map(({ field, value }) =>
    call('GET', searchPath(object, { field, values: [value], fields: [] }), null),
  );
  return [...searches, call('PATCH', rowPath(object, step.create ? step.newId : '{id}'), values)];
}

export const dynamicsSinkType: SinkType<DynamicsConfig> = {
  type: 'dynamics',
  configSchema: dynamicsConfigSchema,
  acceptsByDefault: ['obtained'],
  mappingKeys: ['records'],
  reasons: dynamicsReasons,
  causes: dynamicsCauses,
  lists: ({ records }) => [...new Set(records.map(({ from }) => from))],
  joins: ({ records }) =>
    // `if-newer` uses the start of the event for items without a time.
    [...new Set<Join>([...joinsOf(expressionsIn(records).map(({ expression }) => expression)), 'pigeonholes'])],
  destination: ({ baseUrl, clientId }) => JSON.stringify([baseUrl, clientId]),
  create: createDynamicsSink,
};
