import { planEach } from '../mapping/mapping-error.js';
import { isDoneByPeople } from '../mapping/crm-records.js';
import { expressionsIn } from '../mapping/expression-schema.js';
import { joinsOf } from '../mapping/mentioned-fields.js';
import { withCallBudget } from '../rest/rest-client.js';
import { unansweredOutcome } from '../records/record-task.js';
import type { Join, Outcome, SendResult, Sink, SinkEnvironment, SinkType } from '../sink.js';
import { carryOut } from './send.js';
import { listProperties } from './choices.js';
import { checkAccount } from './check.js';
import { HubSpotClient } from './client.js';
import type { LimitTuning } from './account-limits.js';
import { type HubSpotConfig, hubspotConfigSchema } from './config.js';
import { EventTimes } from './event-times.js';
import { Participations } from './participations.js';
import { KnownKinds } from './property-kinds.js';
import { compareItem, readBackItems, type ReadMemory, recordWritesIn } from './read-back.js';
import { removeCopies } from './remove-copies.js';
import { SharedRecords } from '../records/shared-records.js';
import { recoverNotes } from './send-notes.js';
import { type HubSpotOperation, Task, unansweredOf } from './operation.js';
import { Planner } from './plan.js';
import { previewOf } from './preview.js';
import type { Sending } from './batch.js';
import { hubspotCauses, hubspotReasons } from './reasons.js';

/** Number of records in one call. HubSpot accepts no more. */
const BATCH_SIZE = 100;
/** A `send` starts no request after this time, so that it ends within a minute and frees the lane. */
const SEND_BUDGET_MS = 30_000;

export interface HubSpotTuning extends LimitTuning {
  readonly sendBudgetMs?: number;
}

/**
 * Creates the sink that writes contacts, marketing events, notes and records of custom objects in HubSpot. README.md
 * and docs/sinks/hubspot.md describe it.
 */
export function createHubSpotSink(
  config: HubSpotConfig,
  environment: SinkEnvironment,
  tuning: HubSpotTuning = {},
): Sink<HubSpotOperation> {
  const client = new HubSpotClient(config, environment, tuning);
  const planner = new Planner(config.records, environment);
  const times = new EventTimes();
  const reading: ReadMemory = {
    kinds: new KnownKinds(),
    shared: new SharedRecords(recordWritesIn, environment.now),
    participations: new Participations(),
  };
  const comparesTimes = config.records.some(({ properties }) =>
    Object.values(properties ?? {}).some(({ write }) => write === 'if-newer'),
  );
  const run = <Result>(signal: AbortSignal, work: (sending: Sending) => Promise<Result>): Promise<Result> =>
    withCallBudget(
      signal,
      tuning.sendBudgetMs ?? SEND_BUDGET_MS,
      (budget) => work({ client, times, budget, now: environment.now }),
      tuning.clock,
    );
  return {
    traits: {
      order: 'item',
      needsContext: true,
      revisions: 'latest',
      repeats: config.records.some(({ object }) => object === 'notes') ? 'lookUp' : 'harmless',
      batchSize: BATCH_SIZE,
    },
    check: (signal) => run(signal, ({ budget }) => checkAccount(client, config.records, environment.name, budget)),
    choices: (_field, signal) => run(signal, ({ budget }) => listProperties(client, budget)),
    plan: (subjects) => planEach(subjects, (subject) => planner.plan(subject)),
    preview: ({ steps }) => steps.flatMap((step) => previewOf(step, client)),
    send: (operations, lane, signal) =>
      run(signal, async (sending): Promise<SendResult> => {
        if (signal.aborted) return { outcomes: operations.map(() => ({ kind: 'unsent' })) };
        if (comparesTimes && lane.objects !== undefined) await times.recall(() => lane.objects!());
        const tasks = operations.map((operation) => new Task(operation));
        const memory = await carryOut(tasks, lane.memory, sending);
        return { outcomes: tasks.map((task) => task.outcome()), memory };
      }),
    tryNow: () => client.tryNow(),
    recover: (operations, _lane, signal) =>
      run(signal, async (sending) => {
        const outcomes = await recoverNotes(operations, sending);
        return { outcomes: outcomes.map((outcome, index) => withUnanswered(outcome, operations[index]!)) };
      }),
    planLookUp: (subjects) => Promise.all(subjects.map((subject) => planner.planLookUp(subject))),
    readBack: (wanted, lane, signal) =>
      run(signal, async (sending) => {
        if (comparesTimes && lane.objects !== undefined) await times.recall(() => lane.objects!());
        return await readBackItems(wanted, lane, sending, reading);
      }),
    compareHeld: compareItem,
    removeHeld: (extras, _lane, signal) => run(signal, (sending) => removeCopies(extras, sending)),
    close: () => client.close(),
  };
}

/** Only notes are looked up: everything else is harmless to repeat. The object says that HubSpot may have it. */
function withUnanswered(outcome: Outcome, operation: HubSpotOperation): Outcome {
  if (outcome.kind !== 'unsent') return outcome;
  const { object = operation.object } = outcome;
  return { ...outcome, ...unansweredOutcome(object, unansweredOf(operation)) };
}

export const hubspotSinkType: SinkType<HubSpotConfig> = {
  type: 'hubspot',
  configSchema: hubspotConfigSchema,
  acceptsByDefault: ['obtained'],
  mappingKeys: ['records'],
  reasons: hubspotReasons,
  causes: hubspotCauses,
  lists: ({ records }) => [...new Set(records.map(({ from }) => from))],
  joins,
  // The token is included, because another token may belong to another account.
  destination: ({ baseUrl, token }) => `${baseUrl} ${token.reveal()}`,
  create: createHubSpotSink,
};

/**
 * Returns the joins that the expressions use. Also returns attendees if a list contains actions of people, because the
 * sink must know whose identity is visible. Always returns pigeonholes, because the event's date is the event time of
 * an item without a time of its own.
 */
function joins({ records }: HubSpotConfig): Join[] {
  const named = joinsOf(expressionsIn(records).map(({ expression }) => expression));
  const people: Join[] = records.some(({ from }) => isDoneByPeople(from)) ? ['attendees'] : [];
  return [...new Set<Join>(['pigeonholes', ...people, ...named])];
}
