import { join } from 'node:path';
import type { BareMeasurement } from './bare/bare-task.js';
import type { Bench } from './bench.js';
import { loadAttendees, onlyAttendees } from './processes/load-attendees.js';
import { runBareLoop } from './processes/run-bare-loop.js';
import { Program } from './processes/program.js';
import { sandboxKey } from './processes/sandbox.js';
import type { Stage } from './processes/stage.js';
import { withStage } from './processes/with-stage.js';
import { packageRoot } from '../worker/package-root.js';
import { median } from './report/median.js';
import { itemsPerSecond, type Run } from './report/run.js';

/** The first read into PostgreSQL, against a well-known tool that does it with a few lines of Python. */
export const peers: Bench = {
  name: 'peers',
  about:
    'first read of --items attendees into PostgreSQL, against dlt (needs --python with bench/peers/requirements.txt)',
  async run(options, report) {
    const items = options.items ?? 100_000;
    await withStage(onlyAttendees(items, options.latencyMs), async (stage) => {
      const warming = { baseUrl: stage.sandbox.baseUrl, depth: 'bodies' } as const;
      await runBareLoop('warming up', { folder: stage.folder, items }, warming);
      const ratios: number[] = [];
      for (let pair = 0; pair < options.pairs; pair += 1) {
        const { product, run } = await loadAttendees(stage, { ...options, store: 'postgres', items });
        await product.stop();
        report.run(run);
        const peer = await loadWithDlt(stage, options.python, items);
        report.run(peer);
        ratios.push(itemsPerSecond(run) / itemsPerSecond(peer));
      }
      report.figure({
        bench: 'peers',
        what: `${items.toLocaleString('en')} into postgres / dlt, merged into postgres`,
        value: median(ratios),
        unit: '',
        must: { atLeast: 3 },
        aim: { atLeast: 6 },
      });
    });
  },
};

/** Measured by itself, from the call that loads to its end: what starting Python takes belongs to no figure. */
async function loadWithDlt(stage: Stage, python: string, items: number): Promise<Run> {
  const folder = stage.nextFolder();
  const store = await stage.freshStore('postgres', folder);
  if (store.kind !== 'postgres') throw new Error('dlt is measured on PostgreSQL');
  const task = {
    baseUrl: stage.sandbox.baseUrl,
    apiKey: sandboxKey,
    pigeonholeId: 101,
    databaseUrl: store.url.replace('//app@', '//app:none@'), // dlt wants a password, and the server asks for none
    folder,
  };
  const program = new Program({
    command: python,
    program: join(packageRoot(), 'bench/peers/load_with_dlt.py'),
    args: [JSON.stringify(task)],
    env: { HOME: folder, RUNTIME__DLTHUB_TELEMETRY: 'false' },
    cwd: folder,
    logFile: join(folder, 'dlt.log'),
  });
  const line = await program.lineLike(/^measured (.+)$/, 30 * 60_000);
  await program.ended(30_000);
  const measured = JSON.parse(line[1]!) as BareMeasurement;
  if (measured.items !== items) throw new Error(`dlt read ${measured.items} of ${items} items`);
  return { contender: 'dlt, merged into postgres', ...measured };
}
