import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPostgres } from '../../ledger/drivers/postgres.js';
import { testKeyText } from '../../ledger/ledger-key.test-kit.js';
import { freeTestPort } from '../free-port.js';
import { crashConfiguration, hookSecret } from '../kit/crash-configuration.js';
import { killNow, type Program, startProgram, untilOutput, writeYaml } from '../kit/processes.js';
import { hasPostgres, startPostgres, type TestPostgres } from '../postgres.js';
import { until } from '../until.js';

/** Every process analyzes grown tables, so one that serves the API is enough, and it needs no Temporal. */
(hasPostgres() ? describe : describe.skip)('a process on PostgreSQL', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-statistics-'));
  let postgres: TestPostgres | null = null;
  let program: Program | undefined;

  afterAll(async () => {
    if (program !== undefined) {
      killNow(program.pid);
      await program.exited;
    }
    await postgres?.stop();
    rmSync(folder, { recursive: true });
  });

  it('analyzes a table within seconds of its growth, before the server would', async () => {
    postgres = await startPostgres();
    const [nothing, apiPort] = [await freeTestPort(), await freeTestPort()];
    writeYaml(
      folder,
      crashConfiguration('http://127.0.0.1:9', 'http://127.0.0.1:9/', [
        'store: "${DATABASE_URL}"',
        `temporal: { address: "127.0.0.1:${nothing}" }`,
        `server: { port: ${apiPort} }`,
      ]),
    );
    const env = { SERVICE_KEY: 'k', HOOK_SECRET: hookSecret, DATABASE_URL: postgres!.url, LEDGER_KEY: testKeyText };
    program = startProgram('cli/main.js', ['api'], { cwd: folder, env });
    await untilOutput(program, /ready: serving/);
    const db = await openPostgres({ url: postgres!.url });
    try {
      const analyzed = async (): Promise<boolean> => {
        const [row] = await db.query<{ at: Date | null }>(
          `select last_analyze as at from pg_stat_user_tables where relname = 'items'`,
        );
        return row!.at !== null;
      };
      // Without this, the server may analyze the table first, and then it has not grown.
      await db.query('alter table items set (autovacuum_enabled = false)');
      expect(await analyzed()).toBe(false);
      await db.query(
        `insert into items (pigeonhole_number, list, key, stream_id, revision, content_hash, payload, rules, seen_at,
           last_sequence)
         select 1, 'attendees', n::text, 1, 1, '', to_json(repeat('x', 300)), '', now(), n from generate_series(1, 4000) as n`,
      );
      const [size] = await db.query<{ bytes: number }>(`select pg_relation_size('items') as bytes`);
      expect(size!.bytes).toBeGreaterThan(800_000);
      await until('the table is analyzed', analyzed);
    } finally {
      await db.close();
    }
  });
});
