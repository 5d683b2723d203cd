import { planEach } from '../mapping/mapping-error.js';
import { groupBy } from '../../base/grouping.js';
import { expressionsIn } from '../mapping/expression-schema.js';
import { joinsOf } from '../mapping/mentioned-fields.js';
import { mayReachPrivate } from '../network/address-policy.js';
import { type Clock, systemClock, RollingLimiter } from '../network/rolling-limiter.js';
import { type CallBudget, RestClient, withCallBudget } from '../rest/rest-client.js';
import type { Lane, Outcome, SendResult, Sink, SinkEnvironment, SinkType } from '../sink.js';
import { listCourses } from './choices.js';
import { checkCanvas } from './check.js';
import { CanvasClient } from './client.js';
import { canvasConfigSchema, type CanvasConfig } from './config.js';
import type { Creations } from './find-assignment.js';
import { type CanvasOperation, GradeTask, outcomeOf, Planner } from './plan.js';
import { previewOf } from './preview.js';
import type { Reply } from './classify.js';
import { compareGrades, type HeldGrade, readGrades } from './read-back.js';
import { recoverAssignment, sendAssignment, type GradingRun } from './send.js';
import { canvasCauses, canvasReasons } from './reasons.js';

/**
 * Maximum number of grades in one job. Each grade is read before and after the job, so more would take longer than a
 * lane's cycle.
 */
const BATCH_SIZE = 50;
const CONNECTIONS = 8;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** Maximum time for which a `send` waits for the rate limit and for jobs before it returns. */
const PATIENCE_MS = 40_000;
/**
 * Limit of requests. Canvas limits the cost of requests and not their number, but this number of cheap requests costs
 * less than the rate limit's bucket loses in the same time.
 */
const DEFAULT_LIMIT = { limit: 100, windowMs: 10_000 };

interface CanvasTuning {
  readonly clock?: Clock;
  readonly patienceMs?: number;
}

export function createCanvasSink(
  config: CanvasConfig,
  environment: SinkEnvironment,
  tuning: CanvasTuning = {},
): Sink<CanvasOperation> {
  const clock = tuning.clock ?? systemClock;
  const url = new URL(config.baseUrl);
  const rest = new RestClient({
    url,
    name: 'Canvas',
    environment,
    allowPrivateAddresses: mayReachPrivate(url, config),
    connections: CONNECTIONS,
    maxAnswerBytes: MAX_ANSWER_BYTES,
    requestIdHeaders: ['x-request-context-id'],
  });
  const { per10s } = environment.limits ?? {};
  // Shared by all lanes and all sinks with this token, because Canvas has one bucket per token.
  const shared = <Value>(kind: string, make: () => Value): Value =>
    environment.accounts.share(
      { type: 'canvas', baseUrl: config.baseUrl, credential: config.token, limits: environment.limits },
      kind,
      make,
    );
  const limiter = shared(
    'requests',
    () => new RollingLimiter({ ...DEFAULT_LIMIT, limit: per10s ?? DEFAULT_LIMIT.limit }, per10s, clock),
  );
  const client = new CanvasClient({
    baseUrl: config.baseUrl,
    token: config.token,
    rest,
    limiter,
  });
  const creations = shared('assignments', (): Creations => new Map());
  const planner = new Planner(config.records, environment);

  const withBudget = <Result>(signal: AbortSignal, work: (budget: CallBudget) => Promise<Result>): Promise<Result> =>
    withCallBudget(signal, tuning.patienceMs ?? PATIENCE_MS, work, clock);

  let knownId: number | undefined;

  /** Returns the id of the token's user, which is the grader of the grades that this sink sets. */
  async function ownId(budget: CallBudget): Promise<number | Exclude<Reply, { readonly kind: 'ok' }>> {
    if (knownId !== undefined) return knownId;
    const reply = await client.get('/users/self', budget);
    if (reply.kind !== 'ok') return reply;
    const { id } = reply.body;
    if (typeof id === 'number') return (knownId = id);
    const detail = `${client.host} does not return the id of the token's user: correct "baseUrl"`;
    return { kind: 'failed', processed: 'no', result: { kind: 'retry', detail } };
  }

  const carryOut = (
    operations: readonly CanvasOperation[],
    lane: Lane,
    signal: AbortSignal,
    step: (tasks: readonly GradeTask[], run: GradingRun) => Promise<void>,
  ): Promise<SendResult> =>
    withBudget(signal, async (budget) => {
      const tasks = operations.map(({ steps }) => steps.map((each) => new GradeTask(each)));
      const memory: Record<string, unknown> = {};
      for (const group of signal.aborted ? [] : byAssignment(tasks.flat())) {
        await step(group, { client, budget, lane, clock, memory, creations });
      }
      const outcomes = operations.map((operation, index) => outcomeOf(operation, tasks[index]!));
      return { outcomes, memory };
    });

  return {
    traits: {
      order: 'item',
      needsContext: true,
      revisions: 'latest',
      repeats: 'lookUp', // a repeat is not harmless, because two jobs for the same grade could finish in the wrong order
      batchSize: BATCH_SIZE,
    },
    check: (signal) => withBudget(signal, (budget) => checkCanvas(client, config.records, budget)),
    choices: (_field, signal) => withBudget(signal, (budget) => listCourses(client, budget)),
    plan: (subjects) => planEach(subjects, (subject) => planner.plan(subject)),
    preview: ({ steps }) => steps.flatMap((step) => previewOf(step, config.baseUrl)),
    send: (operations, lane, signal) => carryOut(operations, lane, signal, sendAssignment),
    planLookUp: async (subjects) => subjects.map((subject) => planner.planLookUp(subject)),
    recover: async (operations, lane, signal) => {
      const { outcomes, memory } = await carryOut(operations, lane, signal, recoverAssignment);
      const withObjects = outcomes.map((outcome, index): Outcome => {
        const { steps, made } = operations[index]!;
        return steps.length > 0 ? outcome : { kind: 'unsent', object: { grades: made, mayExist: true } };
      });
      return { outcomes: withObjects, ...(memory !== undefined && { memory }) };
    },
    readBack: (wanted, _lane, signal) => withBudget(signal, (budget) => readGrades(wanted, { client, budget, ownId })),
    compareHeld: (operation, held) => compareGrades(operation, held as readonly HeldGrade[]),
    tryNow: () => limiter.reopen(),
    close: () => rest.close(),
  };
}

/** Groups tasks by assignment, in the order in which the assignments first appear. */
function byAssignment(tasks: readonly GradeTask[]): GradeTask[][] {
  return [...groupBy(tasks, ({ step }) => JSON.stringify([step.course, step.assignment])).values()];
}

export const canvasSinkType: SinkType<CanvasConfig> = {
  type: 'canvas',
  configSchema: canvasConfigSchema,
  acceptsByDefault: ['obtained'],
  mappingKeys: ['records'],
  reasons: canvasReasons,
  causes: canvasCauses,
  lists: ({ records }) => [...new Set(records.map(({ from }) => from))],
  joins: ({ records }) => joinsOf(expressionsIn(records).map(({ expression }) => expression)),
  destination: ({ baseUrl }) => baseUrl,
  create: createCanvasSink,
};
