import type { Client } from '@temporalio/client';
import type { Log } from '../base/log.js';
import type { Config } from '../config/config.js';
import { kinds, useBothDatabases } from '../ledger/drivers/both-databases.test-kit.js';
import { useConfiguration } from '../ledger/configurations.js';
import { bindCluster } from '../ledger/identity.js';
import { openLedger } from '../ledger/ledger.js';
import { addSelections, registerSyncs } from '../ledger/pigeonholes.js';
import { Wakes } from '../cycles/wakes.js';
import { testKey } from '../ledger/ledger-key.test-kit.js';
import { ClusterGuard, WorkerWatch } from './connect-temporal.js';
import { createStarter, discovering } from '../operations/orchestration.js';
import { reconcile } from './reconcile.js';
import { withWallClock } from '../test/kit/wrong-clock.js';

const databases = useBothDatabases();
const log: Log = { debug: jest.fn(), info: jest.fn(), warn: jest.fn(), error: jest.fn() };
const config = {
  workspaces: { acme: {} },
  syncs: { events: { workspace: 'acme', sinks: [] } },
  sinks: {},
} as unknown as Config;

describe.each(kinds)('another, empty Temporal cluster at the address of the one that a ledger uses, on %s', (kind) => {
  it('receives no workflow until it is adopted or the first cluster is back', async () => {
    const ledger = await openLedger(databases.of(kind), testKey);
    let clusterId = 'first';
    const started: string[] = [];
    const client = {
      withDeadline: async <Result>(_: number, work: () => Promise<Result>) => await work(),
      workflowService: { getClusterInfo: async () => ({ clusterId }) },
      workflow: {
        async *list() {},
        start: async (_: string, { workflowId }: { workflowId: string }) => {
          started.push(workflowId);
          if (workflowId.startsWith('read/')) clusterId = 'third'; // right after the first of several readers
        },
      },
    } as unknown as Client;
    const namespace = 'default';
    await bindCluster(ledger, { clusterId, namespace, adopt: false });
    const cluster = new ClusterGuard(ledger, client, { address: '127.0.0.1:7233', namespace, adopt: false });
    const starter = createStarter(client, 'queue', { ledger, wakes: new Wakes(null, log) }, () => cluster.check());
    const reconciling = () => reconcile({ config, ledger, client, cluster, starter, taskQueue: 'queue', log });
    expect(await reconciling()).toBe(1);

    clusterId = 'second';
    await expect(starter.start(discovering('acme'))).rejects.toMatchObject({ kind: 'cluster' }); // no check in between
    await expect(reconciling()).rejects.toMatchObject({ name: 'LedgerError', kind: 'cluster' });
    expect(started).toHaveLength(1);
    expect(cluster.refusal).toContain('another Temporal cluster');

    clusterId = 'first';
    expect(await reconciling()).toBe(1);
    expect(cluster.refusal).toBeNull();

    clusterId = 'second';
    await bindCluster(ledger, { clusterId, namespace, adopt: true }); // another process was started with --adopt
    expect(await reconciling()).toBe(1);
    expect(started).toHaveLength(3);

    const many = Array.from({ length: 60 }, (_, index) => index + 1); // of three readers
    await registerSyncs(ledger, [{ name: 'events', workspace: 'acme', choice: '{}' }]);
    const configuration = await useConfiguration(ledger, {}, true);
    await addSelections(ledger, { sync: 'events', workspace: 'acme', configuration }, many);
    const places = many.map((pigeonholeId) => ({ workspace: 'acme', pigeonholeId }));
    await expect(starter.startReading(places)).rejects.toMatchObject({ kind: 'cluster' });
    expect(started.slice(3)).toEqual(['read/1']);
  });
});

const tenMinutesMs = 600_000;

/** Returns a Temporal task queue and a process that watches it. */
function queue({ temporalAheadMs = 0 } = {}) {
  let elapsedMs = 0;
  const polls = new Map<string, number>();
  const temporalNow = (): number => Date.UTC(2026, 10, 21) + temporalAheadMs + elapsedMs;
  const describeTaskQueue = async () => ({
    pollers: [...polls].map(([identity, at]) => ({
      identity,
      lastAccessTime: { seconds: Math.floor(at / 1000), nanos: (at % 1000) * 1e6 },
    })),
  });
  const client = { options: { namespace: 'default' }, workflowService: { describeTaskQueue } } as unknown as Client;
  return {
    watch: new WorkerWatch(client, 'pigeonpost', () => elapsedMs),
    poll: (worker: string) => void polls.set(worker, temporalNow()),
    forget: (worker: string) => void polls.delete(worker),
    pass: (ms: number) => void (elapsedMs += ms),
  };
}

describe('a process without a worker of its own', () => {
  it.each([tenMinutesMs, -tenMinutesMs])('finds the workers while its clock is off by %s ms', async (aheadMs) => {
    const { watch, poll, pass } = queue();
    await withWallClock(aheadMs, async () => {
      for (let minute = 0; minute < 5; minute += 1) {
        poll('one');
        expect(await watch.look()).toBeNull();
        pass(60_000);
        expect(await watch.look()).toBeNull();
      }
    });
  });

  it.each([tenMinutesMs, -tenMinutesMs])(
    "says that no worker runs 90 s after the last poll, with Temporal's clock off by %s ms",
    async (temporalAheadMs) => {
      const { watch, poll, pass } = queue({ temporalAheadMs });
      poll('one');
      expect(await watch.look()).toBeNull();
      pass(89_000);
      expect(await watch.look()).toBeNull();
      pass(1000);
      expect(await watch.look()).toContain('no worker has asked Temporal for work on task queue "pigeonpost"');
      poll('two');
      expect(await watch.look()).toBeNull();
    },
  );

  it('says so immediately if Temporal lists no worker', async () => {
    const { watch, poll, forget } = queue();
    expect(await watch.look()).toContain('no worker');
    poll('one');
    expect(await watch.look()).toBeNull();
    forget('one');
    expect(await watch.look()).toContain('no worker');
  });
});
