import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Change } from '../../sinks/change.js';
import { freshAccount, startS3Double } from '../../sandbox/s3/start-s3-double.js';
import { until } from '../until.js';
import { storyOf } from '../conformance/sinks/generated-changes.js';

const [key] = freshAccount.keys;

/**
 * A process that sends a story in small batches and keeps the ledger's commits in a file. The next process recovers the
 * batch that this one had started.
 */
const sender = `
const { readFileSync, renameSync, writeFileSync } = require('node:fs');
const [dist, file, url, id, secret, conditionalWrites] = process.argv.slice(1);
const { createS3Sink } = require(dist + '/sinks/s3/s3.js');
const { s3ConfigSchema } = require(dist + '/sinks/s3/config.js');
const { Secret } = require(dist + '/config/secret.js');
const state = JSON.parse(readFileSync(file, 'utf8'));
const save = () => { writeFileSync(file + '.new', JSON.stringify(state)); renameSync(file + '.new', file); };
const keys = { bucket: 'acme-engagement', region: 'eu-central-1', endpoint: url, accessKeyId: id, secretAccessKey: new Secret(secret), conditionalWrites: conditionalWrites === 'true' };
const sink = createS3Sink(s3ConfigSchema.parse(keys), { name: 'lake', baseFolder: '/', network: { allowHosts: [] }, now: Date.now });
const signal = new AbortController().signal;
const lane = () => ({ workspace: 'acme', pigeonholeId: 101, ledgerId: 'ledger-1', memory: state.memory,
  remember: async (memory) => { Object.assign(state.memory, memory); save(); } });
const plan = async (changes) => (await sink.plan(changes.map((change) => ({ change })))).map(({ operation }) => operation);
const commit = (batch, { outcomes, memory }) => {
  Object.assign(state.memory, memory);
  const left = batch.filter((_, at) => outcomes[at].kind !== 'delivered');
  state.changes.splice(0, batch.length, ...left);
  save();
};
(async () => {
  for (let isFirst = true; state.changes.length > 0; isFirst = false) {
    const batch = state.changes.slice(0, 7);
    const operations = await plan(batch);
    commit(batch, await (isFirst ? sink.recover(operations, lane(), signal) : sink.send(operations, lane(), signal)));
  }
})();
`;

it.each([
  ['with', 'yes'],
  ['without', 'refused'],
] as const)(
  'a bucket %s conditional writes holds each line once, however often the process is killed',
  async (_, conditions) => {
    const double = await startS3Double({ conditions });
    const folder = mkdtempSync(join(tmpdir(), 's3-killed-'));
    const file = join(folder, 'state.json');
    const story = storyOf({ items: 5, revisions: 14 });
    writeFileSync(file, JSON.stringify({ memory: {}, changes: story }));
    let child: ChildProcess | undefined;
    try {
      const dist = join(__dirname, '../../dist');
      for (let lives = 1; ; lives += 1) {
        const before = double.requests.length;
        const conditionalWrites = String(conditions === 'yes');
        const values = [dist, file, double.url, key!.id, key!.secret, conditionalWrites];
        child = spawn(process.execPath, ['-e', sender, ...values], { stdio: 'ignore' });
        const ended = once(child, 'exit');
        const own = child;
        // Later in each life, so that it dies at another request each time.
        await until('it asks or ends', () => own.exitCode !== null || double.requests.length >= before + 3 * lives);
        if (own.exitCode !== null) break;
        own.kill('SIGKILL');
        await ended;
      }
      expect(child.exitCode).toBe(0);
      expect(existsSync(`${file}.new`)).toBe(false);
      expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ changes: [] });
      const lines = [...double.texts().values()].flatMap((text) => text.split('\n').slice(0, -1));
      const ids = lines.map((line) => (JSON.parse(line) as Change).id);
      expect(ids.toSorted()).toEqual(story.map(({ id }) => id).toSorted());
    } finally {
      child?.kill('SIGKILL');
      await double.close();
      rmSync(folder, { recursive: true });
    }
  },
);
