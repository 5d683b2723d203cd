import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { Activities } from '../../activities/create-activities.js';
import type { ReadingResult, StayResult } from '../../cycles/cycle-results.js';
import type { discoverPigeonholes, readPigeonholes } from '../../workflows/all-workflows.js';
import { temporalForTests } from '../temporal.js';
import { until } from '../until.js';

const bundle = { codePath: join(__dirname, '../../dist/workflow-bundle.js') };
const hour = 3_600_000;

let connection: Connection;
let native: NativeConnection;
let client: Client;

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const { address } = temporalForTests();
  // One of the histories below exceeds gRPC's default limit of four megabytes.
  const channelArgs = { 'grpc.max_receive_message_length': 32 * 1024 * 1024 };
  connection = await Connection.connect({ address, channelArgs });
  native = await NativeConnection.connect({ address });
  client = new Client({ connection });
});
afterAll(async () => {
  await native.close();
  await connection.close();
});

function cycleResult(fields: Partial<ReadingResult>): ReadingResult {
  return { pages: 1, created: 0, updated: 0, deleted: 0, nextDueInMs: hour, state: 'working', ...fields };
}

interface Running {
  readonly handle: WorkflowHandle<typeof discoverPigeonholes>;
  readonly cycles: () => number;
}

/** Runs `discoverPigeonholes` with scripted cycles until `work` ends. */
async function running(
  script: (call: number) => ReadingResult,
  work: (workflow: Running) => Promise<void>,
): Promise<void> {
  let calls = 0;
  const activities: Partial<Activities> = {
    discoverTurn: async () => script((calls += 1)),
  };
  const { taskQueue } = temporalForTests();
  const worker = await Worker.create({ connection: native, taskQueue, workflowBundle: bundle, activities });
  await worker.runUntil(async () => {
    const handle = await client.workflow.start<typeof discoverPigeonholes>('discoverPigeonholes', {
      taskQueue,
      workflowId: `cycles/${randomUUID()}`,
      args: ['acme'],
    });
    await work({ handle, cycles: () => calls });
    await handle.terminate().catch(() => undefined);
  });
}

describe('a workflow that runs cycles', () => {
  it('sleeps until the next cycle is due, and wakes up earlier for a signal', async () => {
    await running(
      () => cycleResult({}),
      async ({ handle, cycles }) => {
        await until(
          'the first cycle is over',
          async () => (await handle.query<{ cycles: number }>('state')).cycles === 1,
        );
        await handle.signal('wake');
        await until('there was a second cycle', () => cycles() === 2);
      },
    );
  });

  it('runs another cycle if a wake-up arrived during a cycle', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let calls = 0;
    const { taskQueue } = temporalForTests();
    const activities = {
      async discoverTurn() {
        calls += 1;
        if (calls === 1) await held;
        return cycleResult({});
      },
    };
    const worker = await Worker.create({ connection: native, taskQueue, workflowBundle: bundle, activities });
    await worker.runUntil(async () => {
      const handle = await client.workflow.start('discoverPigeonholes', {
        taskQueue,
        workflowId: `cycles/${randomUUID()}`,
        args: ['acme'],
      });
      await until('the first cycle has started', () => calls === 1);
      await handle.signal('wake');
      release();
      await until('there was a second cycle', () => calls === 2);
      await handle.terminate();
    });
  });

  it('ends when its work no longer exists', async () => {
    await running(
      () => cycleResult({ state: 'finished', nextDueInMs: 0 }),
      async ({ handle, cycles }) => {
        await handle.result();
        expect(cycles()).toBe(1);
      },
    );
  });

  it.each([
    ['has 500 events', {}, 500, 530],
    // Temporal suggests it above four megabytes, which forty answers of this length exceed.
    ['is larger than four megabytes', { reason: 'x'.repeat(100_000) }, 200, 300],
  ])(
    'continues as new when its history %s, and replays with the same result',
    async (_, fields, minEvents, maxEvents) => {
      await running(
        (call) => cycleResult({ nextDueInMs: call < 900 ? 0 : hour, ...fields }),
        async ({ handle, cycles }) => {
          const first = (await handle.describe()).runId;
          await until(
            'there is a second run',
            async () => (await client.workflow.getHandle(handle.workflowId).describe()).runId !== first,
          );
          const before = cycles();
          await client.workflow.getHandle(handle.workflowId).signal('wake');
          await until('the second run runs cycles', () => cycles() > before);

          const history = await client.workflow.getHandle(handle.workflowId, first).fetchHistory();
          expect(Number(history.events!.at(-1)!.eventType)).toBe(28); // WORKFLOW_EXECUTION_CONTINUED_AS_NEW
          expect(history.events!.length).toBeGreaterThanOrEqual(minEvents);
          expect(history.events!.length).toBeLessThan(maxEvents);
          await Worker.runReplayHistory({ workflowBundle: bundle }, history, handle.workflowId);
        },
      );
    },
  );

  it('needs one activity and one timer per idle cycle', async () => {
    await running(
      (call) => cycleResult({ nextDueInMs: call < 6 ? 20 : hour }),
      async ({ handle, cycles }) => {
        await until(
          'six cycles are over',
          async () => cycles() === 6 && (await handle.query<{ cycles: number }>('state')).cycles === 6,
        );
        const events = (await handle.fetchHistory()).events!.map(({ eventType }) => String(eventType));
        const count = (field: string): number => events.filter((type) => type === field).length;
        const started = new Set(events);
        expect(started.size).toBeGreaterThan(3);
        expect(count(String(10))).toBe(6); // ACTIVITY_TASK_SCHEDULED
        expect(count(String(17))).toBe(6); // TIMER_STARTED: one per cycle, including the running one
      },
    );
  });
});

describe('a workflow that runs stays', () => {
  it('runs them on a queue of its own, continues as new after 50, and ends when nothing is left', async () => {
    const { taskQueue } = temporalForTests();
    let stays = 0;
    const activities: Partial<Activities> = {
      async readStay(): Promise<StayResult> {
        stays += 1;
        return stays < 70 ? { state: 'working', reason: 'time' } : { state: 'finished', reason: 'empty' };
      },
    };
    const workflows = await Worker.create({ connection: native, taskQueue, workflowBundle: bundle });
    const reading = await Worker.create({ connection: native, taskQueue: `${taskQueue}-reading`, activities });
    await Promise.all([
      workflows.runUntil(async () => {
        const handle = await client.workflow.start<typeof readPigeonholes>('readPigeonholes', {
          taskQueue,
          workflowId: `stays/${randomUUID()}`,
          args: [7],
        });
        await handle.result();
        const history = await client.workflow.getHandle(handle.workflowId, handle.firstExecutionRunId).fetchHistory();
        expect(Number(history.events!.at(-1)!.eventType)).toBe(28); // WORKFLOW_EXECUTION_CONTINUED_AS_NEW
        expect(history.events!.length).toBeLessThan(320);
        const scheduled = history.events!.find((event) => event.activityTaskScheduledEventAttributes != null)!;
        const { heartbeatTimeout, retryPolicy } = scheduled.activityTaskScheduledEventAttributes!;
        const noticedInSeconds = Number(heartbeatTimeout!.seconds) + Number(retryPolicy!.initialInterval!.seconds);
        expect(noticedInSeconds).toBeLessThan(15); // after a kill, another worker has to read within 15 s
        reading.shutdown();
      }),
      reading.run(),
    ]);
    expect(stays).toBe(70);
  });
});
