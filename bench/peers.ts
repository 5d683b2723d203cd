import { join } from 'node:path';
import { type BareMeasurement, warmUp } from './bare/run-bare-loop.js';
import { type Bench, type Limit, median, itemsPerSecond, type Run } from './report.js';
import { loadAttendees, onlyAttendees } from './processes/load-attendees.js';
import { Program } from './processes/program.js';
import { sandboxKey } from './processes/sandbox.js';
import { type Stage, withStage } from './processes/stage.js';
import { packageRoot } from '../base/package-root.js';

/** A well-known tool that does the same with a few lines of Python, in `bench/peers/`. */
interface Peer {
  readonly script: string;
  /** Additional settings of the script. */
  readonly told?: Readonly<Record<string, string>>;
  readonly does: string;
  /** The ratio to this tool; absent: it is only shown. */
  readonly limits?: { readonly must: Limit; readonly aim: Limit };
}

const allPeers: readonly Peer[] = [
  { script: 'load_with_dlt', does: 'dlt, merged into postgres', limits: { must: { atLeast: 3 }, aim: { atLeast: 6 } } },
  {
    script: 'load_with_singer',
    does: 'Singer SDK tap and target-postgres',
    limits: { must: { atLeast: 4 }, aim: { atLeast: 8 } },
  },
  {
    script: 'read_with_airbyte',
    told: { reading: 'checked' },
    does: 'Airbyte CDK, reading only, checked',
    limits: { must: { atLeast: 1.5 }, aim: { atLeast: 5 } },
  },
  {
    script: 'read_with_airbyte',
    told: { reading: 'plain' },
    does: 'Airbyte CDK, reading only, plain',
  },
];

/** Compares the first read into PostgreSQL with each of these tools. */
export const peers: Bench = {
  name: 'peers',
  about:
    'first read of --items attendees into PostgreSQL, against dlt, Singer and Airbyte (needs --python with bench/peers/requirements.txt)',
  async run(options, report) {
    const items = options.items ?? 100_000;
    await withStage(onlyAttendees(items, options.latencyMs), async (stage) => {
      await warmUp(stage, items);
      const ratios = new Map<Peer, number[]>(allPeers.map((peer) => [peer, []]));
      for (let round = 0; round < options.pairs; round += 1) {
        const { product, run } = await loadAttendees(stage, { ...options, store: 'postgres', items });
        await product.stop();
        report.run(run);
        for (const [peer, found] of ratios) {
          const other = await runPeer(stage, peer, { python: options.python, items });
          report.run(other);
          found.push(itemsPerSecond(run) / itemsPerSecond(other));
        }
      }
      for (const [{ does, limits }, found] of ratios) {
        report.figure({
          what: `${items.toLocaleString('en')} into postgres / ${does}`,
          value: median(found),
          ...limits,
        });
      }
    });
  },
};

/** Runs a tool, which measures itself, so that no figure includes the start of Python. */
async function runPeer(
  stage: Stage,
  { script, told, does }: Peer,
  { python, items }: { readonly python: string; readonly items: number },
): Promise<Run> {
  const folder = stage.nextFolder();
  const store = await stage.freshStore('postgres', folder);
  if (store.kind !== 'postgres') throw new Error('peers are measured on PostgreSQL');
  const task = {
    baseUrl: stage.sandbox.baseUrl,
    apiKey: sandboxKey,
    pigeonholeId: 101,
    databaseUrl: store.url.replace('//app@', '//app:none@'), // the tools require a password, the server does not
    folder,
    ...told,
  };
  const program = new Program({
    command: python,
    program: join(packageRoot(), 'bench/peers', `${script}.py`),
    args: [JSON.stringify(task)],
    env: { HOME: folder, RUNTIME__DLTHUB_TELEMETRY: 'false', PYTHONDONTWRITEBYTECODE: '1' },
    cwd: folder,
    logFile: join(folder, `${script}.log`),
  });
  const measured = await program.measured<BareMeasurement>(30 * 60_000);
  if (measured.items !== items) throw new Error(`${does}: read ${measured.items} of ${items} items`);
  return { contender: does, ...measured };
}
