import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { loadProcessConfig } from '../../operations/load-process-config.js';
import { type BucketOptions, freshAccount, type S3Double, startS3Double } from '../../sandbox/s3/start-s3-double.js';
import type { Change } from '../../sinks/change.js';
import { subjectOf } from '../../sinks/plan-of.test-kit.js';
import { sampleChange } from '../../sinks/sample-change.test-kit.js';
import type { Lane } from '../../sinks/sink.js';
import { createSink } from '../../delivering/open-sinks.js';

/* The examples of docs/sinks/s3.md, unchanged except for the endpoint, at buckets that hold objects of others. */

interface Example {
  readonly bucket: string;
  readonly region?: string;
  readonly prefix?: string;
}

const page = readFileSync(join(__dirname, '../../docs/sinks/s3.md'), 'utf8');
const examples = [...page.matchAll(/^```yaml\n([^]*?)^```$/gm)].flatMap(([, text]) =>
  Object.entries((parse(text!) as { sinks: Record<string, Example> }).sinks),
);
const [key] = freshAccount.keys;
/** Options of the store that each example is for. MinIO signs for us-east-1 where nothing else is set. */
const stores: Readonly<Record<string, BucketOptions>> = { lake: {}, minio: {}, gcs: { conditions: 'refused' } };
const never = new AbortController().signal;

let bucket: S3Double;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 's3-recipes-'));
});
afterEach(async () => {
  await bucket?.close();
  rmSync(folder, { recursive: true });
});

async function open(name: string, example: Example) {
  const sinks = { [name]: { ...example, endpoint: bucket.url } };
  const file = join(folder, 'pigeonpost.yaml');
  const workspaces = { acme: { baseUrl: 'https://api.example.com', apiKey: '${SERVICE_KEY}' } };
  writeFileSync(file, stringify({ workspaces, syncs: { events: { workspace: 'acme', sinks: [name] } }, sinks }));
  const text = readFileSync(file, 'utf8');
  const variables = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, variable]) => {
    return [variable!, /SECRET|PASSWORD/.test(variable!) ? key!.secret : key!.id] as const;
  });
  return createSink(await loadProcessConfig(file, Object.fromEntries(variables)), name);
}

it('docs/sinks/s3.md has an example of each kind of store', () => {
  expect(examples.map(([name]) => name)).toEqual(Object.keys(stores));
});

it.each(examples)(
  'docs/sinks/s3.md: %s writes each line once, and does not change foreign objects',
  async (name, example) => {
    const options = { ...stores[name], bucket: example.bucket, region: example.region ?? 'us-east-1' };
    bucket = await startS3Double(options);
    const root = example.prefix === undefined ? '' : `${example.prefix}/`;
    const names = [`${root}votes/day=2025-01-01/of-somebody.ndjson`, 'other/of-somebody.csv'];
    for (const each of names) bucket.bucket.put(each, { bytes: Buffer.from('1;2') });
    const memory: Record<string, unknown> = {};
    const lane: Lane = {
      workspace: 'acme',
      pigeonholeId: 101,
      ledgerId: 'ledger-1',
      memory,
      remember: async (more) => void Object.assign(memory, more),
    };
    const ids = ['1', '2'].map((n) => `00000000-0000-5000-8000-00000000000${n}`);
    for (const id of ids) {
      const sink = await open(name, example); // a process that starts again
      expect((await sink.check(never)).filter(({ ok }) => !ok)).toEqual([]);
      const change = sampleChange({ id, list: 'votes', key: id, data: { attendeeId: 1 } });
      const planned = await sink.plan([subjectOf(change, {})]);
      const operations = planned.flatMap((each) => (each.kind === 'send' ? [each.operation] : []));
      const { outcomes, memory: more } = await sink.send(operations, lane, never);
      expect(outcomes.map(({ kind }) => kind)).toEqual(['delivered']);
      Object.assign(memory, more);
      await sink.close();
    }
    const written = [...bucket.texts()].filter(([each]) => !names.includes(each));
    expect(
      written.flatMap(([, text]) => text.split('\n').slice(0, -1)).map((line) => (JSON.parse(line) as Change).id),
    ).toEqual(ids);
    expect(written.every(([each]) => each.startsWith(`${root}votes/day=`))).toBe(true);
    for (const each of names) expect(bucket.bucket.objects.get(each)!.bytes.toString()).toBe('1;2');
  },
);
