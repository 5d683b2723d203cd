import type { Client } from '@temporalio/client';
import type { Log } from '../work/collaborators.js';
import type { Config } from '../config/config.js';
import { kinds, useBothDatabases } from '../ledger/drivers/both-databases.test-kit.js';
import { bindCluster, openLedger } from '../ledger/ledger.js';
import { testKey } from '../ledger/ledger-key.test-kit.js';
import { ClusterGuard } from './cluster-guard.js';
import { createStarter, discovering } from '../operations/orchestration.js';
import { reconcile } from './reconcile.js';

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
        start: async (_: string, { workflowId }: { workflowId: string }) => void started.push(workflowId),
      },
    } as unknown as Client;
    const namespace = 'default';
    await bindCluster(ledger, { clusterId, namespace, adopt: false });
    const cluster = new ClusterGuard(ledger, client, { address: '127.0.0.1:7233', namespace, adopt: false });
    const starter = createStarter(client, 'queue', log, () => cluster.check());
    const reconciling = () => reconcile({ config, ledger, client, cluster, starter, taskQueue: 'queue', log });
    expect(await reconciling()).toBe(1);

    clusterId = 'second';
    await expect(starter.start(discovering('acme'))).rejects.toMatchObject({ kind: 'cluster' }); // no check in between
    await expect(reconciling()).rejects.toMatchObject({ name: 'LedgerError', kind: 'cluster' });
    await expect(starter.startReading([{ workspace: 'acme', pigeonholeId: 1 }])).rejects.toThrow('--adopt');
    expect(started).toHaveLength(1);
    expect(cluster.refusal).toContain('another Temporal cluster');

    clusterId = 'first';
    expect(await reconciling()).toBe(1);
    expect(cluster.refusal).toBeNull();

    clusterId = 'second';
    await bindCluster(ledger, { clusterId, namespace, adopt: true }); // another process was started with --adopt
    expect(await reconciling()).toBe(1);
    expect(started).toHaveLength(3);
  });
});
