import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkPort } from '../cli/checks/check-port.js';
import type { Config } from '../config/config.js';
import { lockFolder } from '../ledger/drivers/folder-lock.js';
import { openPostgres } from '../ledger/drivers/postgres.js';
import { bindCluster } from '../ledger/identity.js';
import { type Ledger, openLedger } from '../ledger/ledger.js';
import { useConfiguration } from '../ledger/configurations.js';
import { documentOf } from '../operations/editions.js';
import { testKey, testKeyText } from '../ledger/ledger-key.test-kit.js';
import { migrate } from '../ledger/migrate.js';
import { loadProcessConfig } from '../operations/load-process-config.js';
import { freeTestPort } from '../test/free-port.js';
import { useLentDatabases } from '../test/lend-database.js';
import { startPooler } from '../test/pooler.js';
import { hasPostgres } from '../test/postgres.js';
import type { CheckResult } from '../operations/checks.js';
import { checkBackends } from './check-start.js';
import type { BinarySources } from './embedded-temporal/find-binary.js';
import { openLog } from './log.js';
import { startProcess } from './start-process.js';

/** The id of the Temporal cluster that answers; null: none does. */
let answering: string | null = 'one';
jest.mock('./connect-temporal.js', () => {
  const actual = jest.requireActual<typeof import('./connect-temporal.js')>('./connect-temporal.js');
  return {
    ...actual,
    connectTemporal: async (...args: Parameters<typeof actual.connectTemporal>) => {
      if (answering === null) throw actual.unreachable(args[0], new Error('connection refused'));
      const workflowService = { getClusterInfo: async () => ({ clusterId: answering }) };
      const client = { workflowService, withDeadline: (_: number, run: () => unknown) => run() };
      return { client, native: null, clusterId: answering, close: async () => undefined };
    },
  };
});

const cleanUps: (() => unknown)[] = [];
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pigeonpost-check-start-'));
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }));
  answering = 'one';
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

const noBinary: BinarySources = {
  explicit: '/there/is/no/temporal',
  searchFolders: [],
  cacheFolder: '/there/is/no/cache',
  goModule: '/there/is/no/module',
  downloadHost: '127.0.0.1',
  hasProxy: false,
};

/** Loads a configuration in `folder` that ends with these lines. */
async function load(lines: string, environment: Record<string, string> = {}): Promise<Config> {
  const file = join(folder, 'pigeonpost.yaml');
  writeFileSync(
    file,
    `workspaces: { acme: { baseUrl: "http://127.0.0.1:9", apiKey: "\${KEY}" } }
syncs: { all: { workspace: acme, sinks: [archive] } }
sinks: { archive: { type: file, folder: ./archive } }
${lines}`,
  );
  return await loadProcessConfig(file, { KEY: 'sandbox-key', TOKEN: 'a1b2c3d4e5f6a7b8c9d0e1f2', ...environment });
}

/** Returns the sentence with which a start ends. */
async function refusalOfStart(config: Config): Promise<string> {
  const starting = startProcess({
    config,
    log: openLog('silent'),
    acceptConfiguration: false,
    adopt: false,
    role: 'start',
    probesAt: null,
    binarySources: noBinary,
    temporalMetricsAddress: null,
    onProgress: () => undefined,
  });
  return await starting.then(
    async (running) => {
      await running.stop();
      return 'it started';
    },
    (error: Error) => error.message,
  );
}

async function problemsOfCheck(config: Config): Promise<CheckResult[]> {
  const surroundings = { binarySources: noBinary, isRunning: async () => false };
  const checked = [...(await checkBackends(config, surroundings)), ...(await checkPort(config))];
  return checked.filter(({ state }) => state !== 'ok');
}

/** Expects that a start is refused, and that `check` finds this refusal, with the same sentence, before the others. */
async function expectSame(config: Config, says: RegExp): Promise<void> {
  const problems = await problemsOfCheck(config);
  const refusal = await refusalOfStart(config);
  expect(refusal).toMatch(says);
  expect(problems.map(({ says }) => says)).toContain(refusal);
}

async function takenPort(): Promise<number> {
  const port = await freeTestPort();
  const server = await new Promise<Server>((resolve) => {
    const listening = createServer((_, response) => response.end('other')).listen(port, '127.0.0.1', () =>
      resolve(listening),
    );
  });
  cleanUps.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return port;
}

describe('check finds what stops a start, with the same sentence:', () => {
  const server = async (more = '') => `server: { port: ${await freeTestPort()}${more} }\n`;

  it('a port in use', async () => {
    await expectSame(
      await load(`server: { port: ${await takenPort()} }\n`),
      /^cannot listen on 127.0.0.1:\d+: another/,
    );
  });

  it('a host that is not an address of this machine', async () => {
    const config = await load(`server: { host: 203.0.113.7, port: 8088, token: "\${TOKEN}" }\n`);
    await expectSame(config, /^cannot listen on 203.0.113.7:8088: EADDRNOTAVAIL: check server.host/);
  });

  it('a port of probes in use', async () => {
    const config = await load(await server(`, probes: { port: ${await takenPort()} }`));
    await expectSame(config, /^cannot listen on .*server\.probes\.port$/);
  });

  it('a folder of the store that cannot be created', async () => {
    writeFileSync(join(folder, 'occupied'), '');
    const config = await load(`store: embedded:./occupied/data\n${await server()}`);
    await expectSame(config, /^the folder .*occupied\/data cannot be used \(ENOTDIR\)/);
  });

  it('a folder of the store that another process uses', async () => {
    const lock = await lockFolder(join(folder, 'data'));
    cleanUps.push(() => lock.release());
    mkdirSync(join(folder, 'data', 'postgres'));
    await expectSame(await load(await server()), /^the folder .*data is in use by process/);
  });

  it('a store of another version of PostgreSQL', async () => {
    mkdirSync(join(folder, 'data', 'postgres'), { recursive: true });
    writeFileSync(join(folder, 'data', 'postgres', 'PG_VERSION'), '14\n');
    await expectSame(await load(await server()), /was written by PostgreSQL 14/);
  });

  it('a program that is no Temporal server', async () => {
    await expectSame(await load(await server()), /\(TEMPORAL_BINARY\) cannot be used: it does not run/);
  });
});

(hasPostgres() ? describe : describe.skip)(
  'on PostgreSQL, check finds what stops a start, with the same sentence:',
  () => {
    const lend = useLentDatabases();
    /** Loads a configuration with this store, and with the key of the ledger unless `withKey` is false. */
    const loadWith = async (url: string, { withKey = true, more = '' } = {}): Promise<Config> =>
      await load(
        `store: "\${URL}"\ntemporal: { address: "127.0.0.1:1" }\nserver: { port: ${await freeTestPort()} }\n${more}`,
        { URL: url, ...(withKey ? { LEDGER_KEY: testKeyText } : {}) },
      );
    const run = async (url: string, sql: string): Promise<void> => {
      const db = await openPostgres({ url });
      await db.script(sql);
      await db.close();
    };
    const makeLedger = async (url: string, use: (ledger: Ledger) => Promise<unknown> = async () => undefined) => {
      const db = await openPostgres({ url });
      await use(await openLedger(db, testKey));
      await db.close();
    };

    it('a Temporal that does not answer', async () => {
      answering = null;
      await expectSame(await loadWith(await lend()), /^Temporal at 127.0.0.1:1 cannot be used/);
    });

    it('a database that does not answer', async () => {
      await expectSame(await loadWith('postgres://app@127.0.0.1:1/none'), /cannot be reached \(ECONNREFUSED\)/);
    });

    it('a connection pooler that pools transactions', async () => {
      const pooler = await startPooler(await lend(), 'transaction');
      cleanUps.push(() => pooler.stop());
      await expectSame(await loadWith(pooler.url), /does not pool sessions/);
    });

    it('a user who may not create tables', async () => {
      const url = new URL(await lend());
      await run(url.href, 'drop role if exists reader; create role reader login');
      url.username = 'reader';
      await expectSame(await loadWith(url.href), /permission denied for schema public/);
    });

    it('a store that a newer version has migrated', async () => {
      const url = await lend();
      const db = await openPostgres({ url });
      await migrate(db);
      await db.script('insert into migrations (number) values (9000)');
      await db.close();
      await expectSame(await loadWith(url), /^a newer version has migrated the store to 9000/);
    });

    it('a ledger whose key is missing, or is another one', async () => {
      const url = await lend();
      await makeLedger(url);
      await expectSame(await loadWith(url, { withKey: false }), /^the ledger's key is not in/);
      mkdirSync(join(folder, '.pigeonpost'), { recursive: true });
      const keyFile = join(folder, '.pigeonpost', 'pigeonpost.yaml.ledger.key');
      writeFileSync(keyFile, Buffer.alloc(32, 8).toString('base64'));
      await expectSame(await loadWith(url, { withKey: false }), /belongs to another ledger/);
      writeFileSync(keyFile, 'no key');
      await expectSame(await loadWith(url, { withKey: false }), /does not contain a ledger key/);
    });

    it('a place where neither the key nor the API token can be stored', async () => {
      writeFileSync(join(folder, '.pigeonpost'), '');
      await expectSame(
        await loadWith(await lend(), { withKey: false }),
        /^a new ledger needs a key, and .* cannot be written/,
      );
      await expectSame(await loadWith(await lend()), /^the API token cannot be stored in .* \(E/);
    });

    it('a file of the API token that cannot be read', async () => {
      mkdirSync(join(folder, '.pigeonpost', 'pigeonpost.yaml.token'), { recursive: true });
      await expectSame(await loadWith(await lend()), /^the token in .*\.token cannot be read \(EISDIR\)/);
    });

    it('another Temporal cluster than the one that drives the ledger', async () => {
      const url = await lend();
      await makeLedger(url, (ledger) => bindCluster(ledger, { clusterId: 'one', namespace: 'default', adopt: false }));
      answering = 'other';
      await expectSame(await loadWith(url), /^another Temporal cluster or namespace drives this ledger/);
    });

    it('a configuration that a newer one has replaced', async () => {
      const url = await lend();
      const config = await loadWith(url);
      await makeLedger(url, async (ledger) => {
        await useConfiguration(ledger, documentOf(config, ledger), false);
        await useConfiguration(ledger, { newer: true }, false);
      });
      await expectSame(config, /^this file is configuration 1, and 2 is current/);
    });
  },
);
