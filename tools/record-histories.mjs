// Records a history of each workflow for the replay tests, on its own server, with scripted activities: cycles, sleeps
// that end by a timer or a signal, stays, a failed attempt, and the end.
// Run it after a change of a workflow that must be versioned, and keep the older recordings:
//   npm run build && node tools/record-histories.mjs <name of the change> [<only this workflow> [<additional cycles>]]
// Additional cycles without a sleep come first and make the history long: each adds six events.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const require = createRequire(import.meta.url);
const { startEmbeddedTemporal } = require(join(root, 'dist/worker/embedded-temporal/embedded-temporal.js'));
const { binarySources, findBinary } = require(join(root, 'dist/worker/embedded-temporal/find-binary.js'));
const { Client, Connection } = require('@temporalio/client');
const { DefaultLogger, NativeConnection, Runtime, Worker } = require('@temporalio/worker');
const { historyToJSON } = require('@temporalio/common/lib/proto-utils');

const [, , name, only, additional = '0'] = process.argv;
const usage = 'usage: node tools/record-histories.mjs NAME-OF-THE-CHANGE [WORKFLOW [ADDITIONAL-CYCLES]]';
if (process.argv.includes('--help')) {
  console.log(usage);
  process.exit(0);
}
if (name === undefined || !/^[a-z0-9-]+$/.test(name) || !/^\d+$/.test(additional)) {
  console.error(usage);
  process.exit(2);
}

/**
 * Returns a script of seven cycles, after the additional ones. The second attempt of the third one succeeds, and the
 * last one is `finished`.
 */
function script() {
  let calls = -Number(additional);
  return async () => {
    calls += 1;
    if (calls <= 0) return { pages: 0, created: 0, updated: 0, deleted: 0, state: 'working', nextDueInMs: 0 };
    if (calls === 3) throw Object.assign(new Error('one attempt fails'), { stack: '' }); // without paths of this machine
    const counts = { pages: calls, created: calls, updated: 0, delivered: calls, withheld: 0, failed: 0 };
    if (calls === 8) return { ...counts, state: 'finished', nextDueInMs: 0 };
    if (calls === 5) return { ...counts, state: 'waiting', reason: 'quota', nextDueInMs: 60_000 };
    return { ...counts, state: 'working', nextDueInMs: calls % 2 === 0 ? 150 : 0 };
  };
}

Runtime.install({ logger: new DefaultLogger('ERROR') });
const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-record-'));
const server = await startEmbeddedTemporal({ folder, binary: await findBinary(binarySources(), console.error) });
const connection = await Connection.connect({ address: server.address });
const native = await NativeConnection.connect({ address: server.address });
const client = new Client({ connection });
const workflowBundle = { codePath: join(root, 'dist/workflow-bundle.js') };
const activities = {
  readStay: script(),
  discoverTurn: script(),
  deliverStay: script(),
  importTurn: script(),
  forgetTurn: script(),
};
const worker = await Worker.create({ connection: native, taskQueue: 'record', workflowBundle, activities });
const others = await Promise.all(
  ['reading', 'delivering', 'importing'].map((kind) =>
    Worker.create({ connection: native, taskQueue: `record-${kind}`, activities }),
  ),
);
const othersEnded = Promise.all(others.map((other) => other.run()));
const workflows = [
  { type: 'readPigeonholes', argument: 7 },
  { type: 'discoverPigeonholes', argument: 'acme' },
  { type: 'deliverToSink', argument: 'hooks' },
  { type: 'importRegistrants', argument: '7d4a6c1e-0c1b-4f6e-9a57-0f0b8f6f2b11' },
  { type: 'forgetAttendee', argument: '0f5c9a52-57d1-4a55-8e0e-4f6c2f0f7a13' },
].filter(({ type }) => only === undefined || type === only);
const staying = ['readPigeonholes', 'deliverToSink'];
await worker.runUntil(
  Promise.all(
    workflows.map(async ({ type, argument }) => {
      const handle = await client.workflow.start(type, {
        taskQueue: 'record',
        workflowId: `record/${type}`,
        args: [argument],
      });
      // The fourth cycle (call 5 of the script) sleeps for a minute, and a wake-up signal ends this sleep. Stays end
      // by themselves.
      for (;;) {
        const state = await handle.query('state').catch(() => null);
        if (state?.last?.state === 'waiting') await handle.signal('wake');
        if (state?.last?.state === 'waiting' || staying.includes(type)) break;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      await handle.result();
      const file = join(root, 'test/replay/histories', `${type}.${name}.json`);
      writeFileSync(file, `${historyToJSON(await handle.fetchHistory())}\n`);
      console.log(file.slice(root.length + 1));
    }),
  ),
);
for (const other of others) other.shutdown();
await othersEnded;
await native.close();
await connection.close();
await server.stop();
rmSync(folder, { recursive: true, force: true });
