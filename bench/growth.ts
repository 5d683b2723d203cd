import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from 'pg';
import { newChanges } from '../delivering/candidates.js';
import { openPostgres } from '../ledger/drivers/postgres.js';
import { givenKey, LedgerKey } from '../ledger/ledger-key.js';
import { type Ledger, openLedger } from '../ledger/ledger.js';
import { findItems, timelineOf } from '../operations/timeline.js';
import { eraseItems, itemsToErase } from '../people/erase-items.js';
import { expireSlice } from '../people/retention.js';
import { type PostgresServer, startPostgresServer, withClient } from './processes/postgres-server.js';
import { type Bench, type BenchReport, median } from './report.js';

const small = 100_000;
const large = 10_000_000;
const rounds = 15;
/** Number of items of one attendee. */
const ofOnePerson = 60;
const dayMs = 86_400_000;

/** Compares the time of single steps in a ledger with ten million items and in one with a hundredth of them. */
export const growth: Bench = {
  name: 'growth',
  about: 'single steps in a ledger of --items (10,000,000) items against 100,000, on PostgreSQL; needs 7 GB',
  async run(options, report) {
    const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-bench-'));
    const server = await startPostgresServer(folder);
    try {
      await timesWith(server, small / 10); // so that neither measurement includes the compilation of these steps
      const before = await timesWith(server, small);
      const items = options.items ?? large;
      const after = await timesWith(server, items);
      for (const [step, times] of after) reportStep(report, { step, items, before: before.get(step)!, times });
    } finally {
      await server.stop();
      rmSync(folder, { recursive: true });
    }
  },
};

function reportStep(
  report: BenchReport,
  measured: {
    readonly step: string;
    readonly items: number;
    readonly before: readonly number[];
    readonly times: readonly number[];
  },
): void {
  const [smallMs, largeMs] = [median(measured.before), median(measured.times)];
  report.note(`${measured.step}: ${smallMs.toFixed(1)} ms, then ${largeMs.toFixed(1)} ms`);
  report.figure({
    what: `${measured.step} at ${measured.items.toLocaleString('en')} items / at ${small.toLocaleString('en')}`,
    value: largeMs / smallMs,
    must: { atMost: 1.3 },
    aim: { atMost: 1.1 },
  });
}

interface Grown {
  readonly ledger: Ledger;
  readonly client: Client;
  readonly pigeonholeNumber: number;
  readonly sinkId: number;
  readonly items: number;
}

/** Returns the milliseconds of each step. */
async function timesWith(server: PostgresServer, items: number): Promise<Map<string, number[]>> {
  const url = await server.createDatabase(`grown_${items}`);
  const db = await openPostgres({ url, idleInTransactionTimeoutMs: 600_000, connectTimeoutMs: 60_000 });
  const ledger = await openLedger(db, givenKey(LedgerKey.generate()));
  const times = new Map<string, number[]>();
  const time = async (step: string, work: () => Promise<unknown>): Promise<void> => {
    const startedAt = performance.now();
    await work();
    times.set(step, [...(times.get(step) ?? []), performance.now() - startedAt]);
  };
  try {
    await withClient(url, async (client) => {
      const grown = { ledger, client, items, ...(await fill(client, items)) };
      for (let round = 0; round < rounds; round += 1) await takeSteps(grown, round, time);
    });
  } finally {
    await db.close();
  }
  return times;
}

async function takeSteps(
  { ledger, client, pigeonholeNumber, sinkId, items }: Grown,
  round: number,
  time: (step: string, work: () => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const range = {
    sinkId,
    pigeonholeNumber,
    lists: ['votes'],
    after: items - 200,
    newest: items,
    historyUntil: 0,
    historySince: null,
  };
  await time('the next changes of a lane', () => ledger.db.transaction((tx) => newChanges(tx, range, 200)));
  const key = String(items - 1 - Math.floor((items / 2 / rounds) * round));
  await time('the history of an item', async () => {
    const [item] = await findItems(ledger, { list: 'votes', key, pigeonhole: null });
    await timelineOf(ledger, item!);
  });
  const pass = { pigeonholeNumber, list: 'changes', after_key: '' };
  await time('a slice of retention', () => expireSlice(ledger, pass, { changesMs: 30 * dayMs }));
  const erasure = await requestErasure(client, ledger, 10 + round);
  await time(`an erasure of ${ofOnePerson} items`, async () => {
    await eraseItems(ledger, erasure, await itemsToErase(ledger, erasure));
  });
}

/** Gives an attendee's items the subject that this ledger would give them, and requests to forget the attendee. */
async function requestErasure(client: Client, { hash }: Ledger, attendee: number): Promise<number> {
  const subject = hash.subject('acme', attendee, 'named');
  await client.query('update items set subject = $1 where subject = sha256($2::text::bytea)', [
    subject,
    String(attendee),
  ]);
  const { rows } = await client.query<{ number: number }>(
    `insert into erasures (id, asked_hash) values ($1, '\\x00') returning number`,
    [randomUUID()],
  );
  const { number } = rows[0]!;
  await client.query(`insert into forgotten (workspace, subject, erasure) values ('acme', $1, $2)`, [subject, number]);
  return number;
}

/** Stores attendees and their votes, which a sink received long ago. */
async function fill(client: Client, items: number): Promise<{ pigeonholeNumber: number; sinkId: number }> {
  const people = Math.floor(items / ofOnePerson);
  const list = `case when n <= ${people} then 'attendees' else 'votes' end`;
  const idOf = async (sql: string): Promise<number> => (await client.query<{ id: number }>(sql)).rows[0]!.id;
  const pigeonholeNumber = await idOf(
    `insert into pigeonholes (workspace, pigeonhole_id, next_sequence) values ('acme', 101, ${items + 1})
       returning pigeonhole_number as id`,
  );
  const sinkId = await idOf(`insert into sinks (name, type) values ('archive', 'file') returning id`);
  await client.query(
    `insert into lanes (sink_id, pigeonhole_number, history_until, watermark)
       values (${sinkId}, ${pigeonholeNumber}, 0, ${items - 200})`,
  );
  await client.query('alter table deliveries disable trigger user');
  await client.query(
    `insert into items (pigeonhole_number, list, key, stream_id, session_id, revision, content_hash, payload, rules,
       visibility, attendee_id, subject, seen_at, last_sequence)
     select ${pigeonholeNumber}, ${list}, n::text, 1, 1, 1,
       sha256(n::text::bytea), '{"content":"the text of an item"}', '[1]', 'named',
       n % ${people}, sha256((n % ${people})::text::bytea), now(), n from generate_series(1, ${items}) n`,
  );
  await client.query(
    `insert into changes (pigeonhole_number, sequence, id, list, key, revision, kind, found_at, snapshot)
     select ${pigeonholeNumber}, n, md5(n::text)::uuid, ${list}, n::text, 1, 'created',
       case when n > ${items} / 2 then now() else now() - interval '90 days' end,
       case when n > ${items} / 2 and n % 10 = 0 then '{}'::json end from generate_series(1, ${items}) n`,
  );
  await client.query(
    `insert into deliveries (sink_id, pigeonhole_number, sequence, list, key, revision, state, configuration, identity)
     select ${sinkId}, ${pigeonholeNumber}, n, ${list}, n::text, 1, 'delivered', 1, true
       from generate_series(1, ${items - 200}) n`,
  );
  await client.query('alter table deliveries enable trigger user');
  await client.query('vacuum analyze');
  return { pigeonholeNumber, sinkId };
}
