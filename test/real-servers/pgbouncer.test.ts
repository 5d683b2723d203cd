import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { anyStore } from '../../ledger/drivers/both-databases.test-kit.js';
import { openPostgres } from '../../ledger/drivers/postgres.js';
import { migrate } from '../../ledger/migrate.js';
import { freeTestPort } from '../free-port.js';
import { audit, findingTexts } from '../kit/audit.js';
import { attendee } from '../kit/items.js';
import { everyone, useStages } from '../kit/stage.js';
import { statusOf } from '../kit/status-of.js';
import { hasPostgres, startPostgres, type TestPostgres } from '../postgres.js';
import { findServer, type RealServer, startServer, withServer } from './real-server.js';

/** The store and the `postgres` sink through PgBouncer with its defaults. */
const program = hasPostgres() ? findServer('pgbouncer', 'Debian: pgbouncer') : undefined;
const stages = useStages();

withServer(program)('PgBouncer', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-pgbouncer-'));
  chmodSync(folder, 0o755); // PgBouncer does not run as root
  let postgres: TestPostgres;
  const started: RealServer[] = [];

  beforeAll(async () => {
    postgres = (await startPostgres())!;
  });
  afterAll(async () => {
    for (const server of started) await server.stop();
    await postgres.stop();
    rmSync(folder, { recursive: true });
  });

  /** Starts a pooler, and returns the URL of a new database behind it. */
  async function pooled(mode: 'session' | 'transaction' | 'statement', name: string = mode): Promise<string> {
    const own = new URL(await postgres.createDatabase(`behind_${name}`));
    const port = await freeTestPort();
    writeFileSync(join(folder, `${mode}.users`), `"${own.username}" ""\n`);
    const lines = [
      '[databases]',
      `* = host=127.0.0.1 port=${own.port}`,
      '[pgbouncer]',
      `listen_addr = 127.0.0.1`,
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = trust',
      `auth_file = ${join(folder, `${mode}.users`)}`,
      `pool_mode = ${mode}`,
    ];
    writeFileSync(join(folder, `${mode}.ini`), lines.join('\n'));
    const url = new URL(own.href);
    url.port = String(port);
    const asUser = process.getuid?.() === 0 ? ['-u', 'postgres'] : [];
    started.push(
      await startServer([program!, ...asUser, join(folder, `${mode}.ini`)], async () => {
        const client = new Client(url.href);
        await client.connect();
        await client.end();
        return true;
      }),
    );
    return url.href;
  }

  const sinkTo = (url: string) => ({
    sinks: { warehouse: `{ type: postgres, url: "\${WAREHOUSE_URL}", schema: engagement, ${everyone} }` },
    environment: { WAREHOUSE_URL: `${url}?sslmode=disable` },
  });

  it.each(['session', 'transaction'] as const)('in %s mode holds what the postgres sink wrote', async (mode) => {
    const url = await pooled(mode);
    const stage = await stages.open(anyStore);
    await stage.put('attendees', ...Array.from({ length: 300 }, (_, n) => attendee(n + 1)));
    const scene = await stage.scene(sinkTo(url));
    const checked = await scene.deps.sinks.get('warehouse')!.sink.check(new AbortController().signal);
    expect(checked.filter(({ ok }) => !ok)).toEqual([]);
    await scene.settle();
    expect((await statusOf(scene)).sinks[0]).toMatchObject({ state: 'working', backlog: 0 });
    await audit(scene, 'warehouse');
    expect(await findingTexts(scene, 'warehouse')).toEqual([]);
  });

  it('in statement mode pauses the sink with a sentence that says so', async () => {
    const url = await pooled('statement');
    const stage = await stages.open(anyStore);
    await stage.put('attendees', attendee(1));
    const scene = await stage.scene(sinkTo(url));
    await scene.settle();
    const [sink] = (await statusOf(scene)).sinks;
    expect([sink!.state, sink!.reason]).toEqual([
      expect.stringMatching(/paused|failing/),
      expect.stringContaining('statement mode'),
    ]);
  });

  it('in session mode carries the store', async () => {
    const url = await pooled('session', 'store');
    const store = await openPostgres({ url });
    try {
      await migrate(store);
      const stage = await stages.open('postgres');
      await stage.put('attendees', ...Array.from({ length: 50 }, (_, n) => attendee(n + 1)));
      const scene = await stage.scene({ store });
      await scene.settle();
      expect((await statusOf(scene)).sinks[0]).toMatchObject({
        state: 'working',
        backlog: 0,
        delivered: expect.any(Number),
      });
      const [row] = await store.query<{ items: number }>(
        `select count(*)::int as items from items where list = 'attendees'`,
      );
      expect(row!.items).toBe(50);
    } finally {
      await store.close();
    }
  });
});
