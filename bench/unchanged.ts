import type { Client } from 'pg';
import { type Bench, type BenchReport, median, itemsPerSecond, type Run } from './report.js';
import { forAttendees, loadAttendees, onlyAttendees, type LoadedProduct } from './processes/load-attendees.js';
import { withClient } from './processes/postgres-server.js';
import { type Stage, withStage } from './processes/stage.js';
import { runBareLoop } from './bare/run-bare-loop.js';
import { waitUntil } from './processes/program.js';

const touchedShare = 0.01;

/**
 * Measures a sweep of an unchanged list against a loop that fetches and parses the same pages, and counts the rows that
 * the ledger wrote. Rows are counted by the transaction of their current version, so none is missed.
 */
export const unchanged: Bench = {
  name: 'unchanged',
  about: 'a sweep where nothing changed, and one where 1 % did, on PostgreSQL',
  async run(options, report) {
    const items = options.items ?? 100_000;
    await withStage(onlyAttendees(items, options.latencyMs), async (stage) => {
      const loaded = await loadAttendees(stage, { ...options, store: 'postgres', items });
      report.run({ ...loaded.run, contender: 'pigeonpost, first read' });
      if (loaded.product.store.kind !== 'postgres') throw new Error('this bench counts rows on PostgreSQL');
      await withClient(loaded.product.store.url, async (client) => {
        await measureSweeps({ stage, loaded, client, items, pairs: options.pairs }, report);
      });
      await loaded.product.stop();
      await countStreamRows(loaded, stage, report);
    });
  },
};

interface Swept {
  readonly stage: Stage;
  readonly loaded: LoadedProduct;
  readonly client: Client;
  readonly items: number;
  readonly pairs: number;
}

async function measureSweeps(swept: Swept, report: BenchReport): Promise<void> {
  const { stage, client, items, pairs } = swept;
  await walkEnded(client); // the first walk
  const mark = await transactionMark(client);
  const ratios: number[] = [];
  const seconds: number[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const product = await sweepOnce(swept, 'pigeonpost, nothing changed');
    report.run(product);
    const task = { baseUrl: stage.sandbox.baseUrl, depth: 'parse' } as const;
    const bare = await runBareLoop('bare fetch + JSON.parse', { folder: stage.nextFolder(), items }, task);
    report.run(bare);
    seconds.push(product.seconds);
    ratios.push(itemsPerSecond(product) / itemsPerSecond(bare));
  }
  report.figure({
    what: `sweep of ${items.toLocaleString('en')} where nothing changed / bare fetch + JSON.parse`,
    value: median(ratios),
    must: { atLeast: 0.25 },
    aim: { atLeast: 0.5 },
  });
  const rows = await rowsWrittenSince(client, mark);
  const none = { unit: 'rows', must: { atMost: 0 }, aim: { atMost: 0 } };
  report.figure({ ...none, what: 'items written when nothing changed', value: rows.items });
  report.figure({ ...none, what: 'changes written when nothing changed', value: rows.changes });
  await touchSome(swept, median(seconds), report);
}

async function touchSome(swept: Swept, unchangedSeconds: number, report: BenchReport): Promise<void> {
  const { stage, client, items } = swept;
  const body = { list: 'attendees', pigeonhole: 101, share: touchedShare };
  const { touched } = await stage.sandbox.control<{ touched: number[] }>('POST', 'touch', body);
  const mark = await transactionMark(client);
  const changesBefore = await countChanges(client);
  const run = await sweepOnce(swept, 'pigeonpost, 1 % changed');
  report.run(run);
  report.figure({
    what: 'time of a sweep where 1 % changed / where nothing changed',
    value: run.seconds / unchangedSeconds,
    must: { atMost: 5 },
  });
  const rows = await rowsWrittenSince(client, mark);
  const share = (written: number): number => (100 * written) / items;
  const exactly = { unit: '%', must: { atMost: share(touched.length) } };
  report.figure({ ...exactly, what: 'items written when 1 % changed', value: share(rows.items) });
  const found = (await countChanges(client)) - changesBefore;
  report.figure({ ...exactly, what: 'changes found when 1 % changed', value: share(found) });
  if (found < touched.length) throw new Error(`only ${found} of ${touched.length} changes were found`);
}

/** Requests a whole read of the pigeonhole and waits until the walk has ended. */
async function sweepOnce({ stage, loaded, client, items }: Swept, contender: string): Promise<Run> {
  const before = await walkEnded(client);
  await stage.sandbox.forgetRequests();
  const cpuBefore = loaded.product.cpuSeconds();
  await loaded.product.pollNow(101);
  const endedAt = await waitUntil(
    'a sweep has ended',
    async () => {
      const ended = await walkEnded(client);
      return ended.getTime() > before.getTime() ? ended : undefined;
    },
    10 * 60_000,
  );
  const requests = (await stage.sandbox.requests()).filter(forAttendees);
  return {
    contender,
    items,
    seconds: (endedAt.getTime() - requests[0]!.arrivedAtMs) / 1000,
    cpuSeconds: loaded.product.cpuSeconds() - cpuBefore,
    peakRssMb: loaded.product.peakRssMb(),
    requests: requests.length,
  };
}

/** Waits until a whole walk over the attendees has ended and the next one is due. Returns the end of the walk. */
async function walkEnded(client: Client): Promise<Date> {
  return await waitUntil(
    'a walk over the attendees has ended',
    async () => {
      const { rows } = await client.query<{ swept_at: Date | null }>(
        `select swept_at from streams s where list = 'attendees' and sweep_due_at <= now()
           and not exists (select 1 from walks w where w.stream_id = s.id and (w.kind = 'poll' or w.number > s.sweeps))`,
      );
      return rows[0]?.swept_at ?? undefined;
    },
    10 * 60_000,
  );
}

/** Returns the id of the latest transaction. Later writes have higher ids. */
async function transactionMark(client: Client): Promise<string> {
  const { rows } = await client.query<{ mark: string }>('select pg_current_xact_id()::text as mark');
  return rows[0]!.mark;
}

async function rowsWrittenSince(client: Client, mark: string): Promise<{ items: number; changes: number }> {
  const count = async (table: 'items' | 'changes'): Promise<number> => {
    const sql = `select count(*)::int as n from ${table} where xmin::text::int8 > $1::int8`;
    return (await client.query<{ n: number }>(sql, [mark])).rows[0]!.n;
  };
  return { items: await count('items'), changes: await count('changes') };
}

async function countChanges(client: Client): Promise<number> {
  return (await client.query<{ n: number }>('select count(*)::int as n from changes')).rows[0]!.n;
}

/**
 * Reports the rows of `streams` that the product wrote in its whole life. Call it after the product has stopped: a
 * connection reports its writes to the server when it ends.
 */
async function countStreamRows(
  { product: { store } }: LoadedProduct,
  stage: Stage,
  report: BenchReport,
): Promise<void> {
  if (store.kind !== 'postgres') return;
  const server = await stage.postgres();
  report.note(`PostgreSQL used ${server.cpuSeconds().toFixed(1)} CPU s in total`);
  await withClient(store.url, async (client) => {
    const written = await client.query<{ n: number }>(
      `select n_tup_upd::int as n from pg_stat_user_tables where relname = 'streams'`,
    );
    const pages = await client.query<{ n: number }>('select sum(page_count)::int as n from streams');
    report.note(`rows of streams written in total: ${written.rows[0]!.n}; pages of the last walk: ${pages.rows[0]!.n}`);
  });
}
