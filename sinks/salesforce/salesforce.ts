import { planEach } from '../mapping/mapping-error.js';
import { namedRecords } from '../mapping/crm-records.js';
import { expressionsIn } from '../mapping/expression-schema.js';
import { joinsOf } from '../mapping/mentioned-fields.js';
import { withCallBudget } from '../rest/rest-client.js';
import type { Join, Sink, SinkEnvironment, SinkType } from '../sink.js';
import { listCampaigns } from './choices.js';
import { checkOrg } from './check.js';
import { SalesforceClient } from './client.js';
import { type RecordKeys, salesforceConfigSchema, type SalesforceConfig } from './config.js';
import { Exclusive } from '../records/exclusive.js';
import { unansweredOutcome } from '../records/record-task.js';
import { deliverBatch } from './send.js';
import type { OrgKnowledge } from './object-fields.js';
import type { SalesforceOperation } from './operation.js';
import { planLookUp, planSubject } from './plan.js';
import { previewOf } from './preview.js';
import { compareItem, readBackItems, recordWritesIn, removeCopies } from './read-back.js';
import { SharedRecords } from '../records/shared-records.js';
import { MAX_RECORDS } from './write-records.js';
import { salesforceCauses, salesforceReasons } from './reasons.js';

/** A `send` starts no call after this time, so that a slow org does not keep a lane busy for minutes. */
const SEND_BUDGET_MS = 45_000;

/**
 * Creates the sink that writes leads, contacts, campaign members and other records of a Salesforce org.
 * docs/sinks/salesforce.md describes it for users.
 */
export function createSalesforceSink(
  config: SalesforceConfig,
  environment: SinkEnvironment,
): Sink<SalesforceOperation> {
  const client = new SalesforceClient(config, environment);
  const known: OrgKnowledge = { objects: new Map(), statuses: new Map(), refusedStatuses: new Map() };
  const newPeople = new Exclusive();
  const shared = new SharedRecords(recordWritesIn, environment.now);
  const kindOf = ({ object }: RecordKeys): string => object;
  const records = namedRecords(environment.name, config.records, { kindOf, separator: '-' });
  const { onForget } = environment;
  return {
    traits: {
      order: 'item',
      needsContext: true,
      revisions: 'latest',
      repeats: 'harmless',
      batchSize: MAX_RECORDS,
    },
    check: (signal) => {
      const budget = { signal, remainingMs: () => Number.POSITIVE_INFINITY };
      return checkOrg({ client, known, budget }, records, onForget);
    },
    choices: (_field, signal) =>
      listCampaigns({ client, known, budget: { signal, remainingMs: () => Number.POSITIVE_INFINITY } }),
    plan: (subjects) => planEach(subjects, (subject) => planSubject(subject, records, onForget)),
    planLookUp: async (subjects) => subjects.map((subject) => planLookUp(subject, records)),
    preview: ({ steps }) => steps.flatMap((step) => previewOf(step, config)),
    /** A repeat is harmless, so nothing is looked up. The object says that Salesforce may have the records. */
    recover: async (operations) => ({
      outcomes: operations.map(({ steps, object }) => {
        const writing = steps.filter(({ kind }) => kind === 'person' || kind === 'linked');
        return unansweredOutcome(
          object,
          writing.map(({ record }) => record),
        );
      }),
    }),
    send: (operations, lane, signal) =>
      withCallBudget(signal, SEND_BUDGET_MS, (budget) =>
        deliverBatch({ client, known, budget }, operations, lane, { newPeople, now: environment.now }),
      ),
    readBack: (wanted, lane, signal) =>
      withCallBudget(signal, SEND_BUDGET_MS, (budget) =>
        readBackItems({ client, known, budget }, wanted, lane, shared),
      ),
    compareHeld: compareItem,
    removeHeld: (extras, _lane, signal) =>
      withCallBudget(signal, SEND_BUDGET_MS, (budget) => removeCopies({ client, known, budget }, extras)),
    tryNow: () => client.tryNow(),
    close: () => client.close(),
  };
}

export const salesforceSinkType: SinkType<SalesforceConfig> = {
  type: 'salesforce',
  configSchema: salesforceConfigSchema,
  acceptsByDefault: ['obtained'],
  mappingKeys: ['records'],
  reasons: salesforceReasons,
  causes: salesforceCauses,
  lists: ({ records }) => [...new Set(records.map(({ from }) => from))],
  joins,
  destination: ({ loginUrl, baseUrl, username, clientId }) =>
    JSON.stringify([baseUrl ?? loginUrl, username ?? clientId]),
  create: createSalesforceSink,
};

/**
 * Returns the joins that the expressions use. Also returns the pigeonhole, because a campaign has its name by default
 * and `if-newer` uses its start date.
 */
function joins(config: SalesforceConfig): Join[] {
  const mentioned = joinsOf(expressionsIn(config).map(({ expression }) => expression));
  return [...new Set<Join>([...mentioned, 'pigeonholes'])];
}
