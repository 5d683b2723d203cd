import { planEach } from '../mapping/plan-each.js';
import { expressionsIn } from '../mapping/expression-schema.js';
import { joinsOf } from '../mapping/mentioned-fields.js';
import { type CallBudget, withCallBudget } from '../rest/rest-client.js';
import type { Join, Outcome, SendResult, Sink, SinkEnvironment, SinkType } from '../sink.js';
import { carryOut, createsNote } from './send.js';
import { checkAccount } from './check.js';
import { type ClientTuning, HubSpotClient } from './client.js';
import { type HubSpotConfig, hubspotConfigSchema, isDoneByPeople } from './config.js';
import { EventTimes } from './decide-writes.js';
import { findNotes } from './send-notes.js';
import { type HubSpotOperation, withoutInternal } from './operation.js';
import { Planner } from './plan.js';
import { Task } from './batch.js';

/** Number of records in one call. HubSpot accepts no more. */
const BATCH_SIZE = 100;
/** A `send` starts no request after this time, so that it ends within a minute and frees the lane. */
const SEND_BUDGET_MS = 30_000;

export interface HubSpotTuning extends ClientTuning {
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
  const comparesTimes = config.records.some(({ properties }) =>
    Object.values(properties ?? {}).some(({ write }) => write === 'if-newer'),
  );
  const run = <Result>(signal: AbortSignal, work: (budget: CallBudget) => Promise<Result>): Promise<Result> =>
    withCallBudget(signal, tuning.sendBudgetMs ?? SEND_BUDGET_MS, work);
  return {
    traits: {
      order: 'item',
      needsContext: true,
      revisions: 'latest',
      repeats: config.records.some(({ object }) => object === 'notes') ? 'lookUp' : 'harmless',
      batchSize: BATCH_SIZE,
    },
    check: (signal) => run(signal, (budget) => checkAccount(client, config.records, environment.name, budget)),
    plan: (subjects) => planEach(subjects, (subject) => planner.plan(subject)),
    preview: withoutInternal,
    send: (operations, lane, signal) =>
      run(signal, async (budget): Promise<SendResult> => {
        const tasks = operations.map((operation) => new Task(operation));
        if (!signal.aborted) {
          if (comparesTimes && lane.objects !== undefined) await times.recall(() => lane.objects!());
          const memory = await carryOut(tasks, lane.memory, {
            client,
            times,
            budget,
            now: environment.now,
          });
          return { outcomes: tasks.map((task) => task.outcome()), memory };
        }
        return { outcomes: tasks.map((): Outcome => ({ kind: 'unsent' })) };
      }),
    tryNow: () => client.tryNow(),
    recover: (operations, _lane, signal) =>
      run(signal, async (budget): Promise<SendResult> => {
        const outcomes: Outcome[] = operations.map(() => ({ kind: 'unsent' })); // other operations are harmless to repeat
        const doubtful = operations.flatMap((operation, at) => (createsNote(operation) ? [{ at, operation }] : []));
        const found = await lookUp(
          doubtful.map(({ operation }) => operation),
          { client, times, budget, now: environment.now },
        );
        doubtful.forEach(({ at }, index) => (outcomes[at] = found[index]!));
        return { outcomes };
      }),
    planLookUp: (subjects) => Promise.all(subjects.map((subject) => planner.planLookUp(subject))),
    close: () => client.close(),
  };
}

/**
 * Finds out what happened to operations that create notes. If a note is found, the engine plans the change again with
 * the note. The operation itself is not continued, because the person's identity may no longer be visible.
 */
async function lookUp(
  operations: readonly HubSpotOperation[],
  sending: Parameters<typeof findNotes>[1],
): Promise<Outcome[]> {
  const pairs = operations.flatMap((operation) => {
    const task = new Task(operation); // used only for the look-up; its result is not that of the operation
    return task.steps('note').flatMap((step) => (step.id === null ? [{ operation, task, step }] : []));
  });
  const found = await findNotes(pairs, sending);
  return operations.map((operation) => {
    const own = pairs.flatMap((pair, index) =>
      pair.operation === operation ? [{ ...pair, found: found[index]! }] : [],
    );
    const unclear = own.find((each) => each.found === 'unclear');
    if (unclear !== undefined) {
      const outcome = unclear.task.outcome();
      const why = 'detail' in outcome ? outcome.detail : undefined;
      return { kind: 'unknown', detail: why ?? 'stopped before it could be looked up' };
    }
    const task = new Task(operation);
    for (const { step, found: note } of own) if (typeof note === 'object') task.made(step.record, { id: note.id });
    const { object } = task.outcome();
    return { kind: 'unsent', ...(object !== undefined && { object }) };
  });
}

export const hubspotSinkType: SinkType<HubSpotConfig> = {
  type: 'hubspot',
  configSchema: hubspotConfigSchema,
  acceptsByDefault: ['obtained'],
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
