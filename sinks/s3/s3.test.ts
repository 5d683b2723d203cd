import { gunzipSync } from 'node:zlib';
import { Secret } from '../../config/secret.js';
import { freshAccount, startS3Double, type S3Double } from '../../sandbox/s3/start-s3-double.js';
import type { Change } from '../change.js';
import { operationsFor } from '../plan-of.test-kit.js';
import { s3ConfigSchema } from './config.js';
import { createS3Sink } from './s3.js';
import { environmentOf, laneOf } from '../sink-environment.test-kit.js';

const [key] = freshAccount.keys;
/** After the `maxAge` window in which the change was found, so that the change is due. */
const now = (): number => Date.parse('2027-01-15T12:00:30Z');
const signal = new AbortController().signal;
const change: Change = {
  id: '00000000-0000-5000-8000-000000000001',
  type: 'questions.created',
  timestamp: '2027-01-14T09:30:00.000Z',
  workspace: 'acme',
  pigeonholeId: 101,
  sessionId: 5001,
  list: 'questions',
  key: 'k1',
  revision: 1,
  sequence: 1,
  data: { id: 1 },
};
const object = 'questions/day=2027-01-14/acme-101-00000000.ndjson';
const manifest = '_pigeonpost/manifests/questions/day=2027-01-14/acme-101.json';
const marker = '_pigeonpost/ledger.json';

let double: S3Double;
beforeEach(async () => {
  double = await startS3Double({ now });
});
afterEach(() => double.close());

/** Sends the change, and returns the memory of the lane. */
async function send(keys: Record<string, unknown>): Promise<Record<string, unknown>> {
  const config = s3ConfigSchema.parse({
    bucket: freshAccount.bucket,
    region: freshAccount.region,
    endpoint: double.url,
    accessKeyId: key!.id,
    secretAccessKey: new Secret(key!.secret),
    ...keys,
  });
  const sink = createS3Sink(config, environmentOf('lake', { now }));
  const memory: Record<string, unknown> = {};
  try {
    const sent = await sink.send(await operationsFor(sink, [change]), laneOf(memory), signal);
    expect(sent.outcomes).toEqual([{ kind: 'delivered' }]);
    return { ...memory, ...sent.memory };
  } finally {
    await sink.close();
  }
}

const names = (): string[] => [...double.bucket.objects.keys()].toSorted();

describe('the objects of an s3 sink', () => {
  it('are compressed and listed in a manifest by default', async () => {
    await send({});
    expect(names()).toEqual([marker, manifest, `${object}.gz`]);
    const { bytes, headers } = double.bucket.objects.get(`${object}.gz`)!;
    expect(headers['content-type']).toBe('application/gzip');
    expect(JSON.parse(gunzipSync(bytes).toString('utf8'))).toMatchObject({ id: change.id });
  });

  it('contain uncompressed lines with "compression: none"', async () => {
    await send({ compression: 'none' });
    expect(names()).toEqual([marker, manifest, object]);
    const { bytes, headers } = double.bucket.objects.get(object)!;
    expect(headers['content-type']).toBe('application/x-ndjson');
    expect(JSON.parse(bytes.toString('utf8'))).toMatchObject({ id: change.id, data: { id: 1 } });
    expect(double.bucket.objects.get(manifest)!.bytes.toString('utf8')).toContain(`/${object}"`);
  });

  it('have no manifest with "manifest: false"', async () => {
    expect(await send({ manifest: false })).toMatchObject({ 'questions/2027-01-14': 1, pending: [] });
    expect(names()).toEqual([marker, `${object}.gz`]);
  });
});

describe('a whole object of an s3 sink', () => {
  const bytes = async function* (...texts: readonly string[]): AsyncGenerator<Uint8Array> {
    for (const text of texts) yield Buffer.from(text);
  };
  const sinks: ReturnType<typeof createS3Sink>[] = [];
  afterEach(async () => {
    for (const sink of sinks.splice(0)) await sink.close();
  });
  const opened = (keys: Record<string, unknown> = {}) => {
    const sink = createS3Sink(
      s3ConfigSchema.parse({
        bucket: freshAccount.bucket,
        region: freshAccount.region,
        endpoint: double.url,
        accessKeyId: key!.id,
        secretAccessKey: new Secret(key!.secret),
        ...keys,
      }),
      environmentOf('lake', { now }),
    );
    sinks.push(sink);
    return sink;
  };

  it('is stored as it is, replaces an older one, and can be removed twice', async () => {
    const sink = opened({ prefix: 'live' });
    const name = 'acme/101/2026-11-29.xlsx';
    for (const text of ['older', 'newer']) {
      expect(await sink.putFile!({ name, bytes: bytes(text, '!') }, 'ledger-1', signal)).toEqual({ kind: 'delivered' });
      expect(String(double.bucket.objects.get(`live/_exports/${name}`)!.bytes)).toBe(`${text}!`);
    }
    for (let n = 0; n < 2; n += 1) expect(await sink.removeFile!(name, signal)).toEqual({ kind: 'delivered' });
    expect(names()).toEqual([`live/${marker}`]);
  });

  it('is not sent if its source fails', async () => {
    const sink = opened();
    const broken = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('half');
      await Promise.reject(new Error('the store does not answer'));
    };
    await expect(sink.putFile!({ name: 'a.csv', bytes: broken() }, 'ledger-1', signal)).rejects.toThrow(
      'the store does not answer',
    );
    expect(names()).toEqual([marker]);
  });

  it('is refused under a prefix of another ledger, and a wrong key is a reason to pause', async () => {
    await opened().putFile!({ name: 'a.csv', bytes: bytes('x') }, 'ledger-1', signal);
    expect(await opened().putFile!({ name: 'a.csv', bytes: bytes('y') }, 'ledger-2', signal)).toMatchObject({
      kind: 'pause',
      cause: 'destination',
    });
    const wrong = opened({ secretAccessKey: new Secret('wrong') });
    expect(await wrong.putFile!({ name: 'a.csv', bytes: bytes('y') }, 'ledger-1', signal)).toMatchObject({
      kind: 'pause',
      cause: 'credential',
    });
    expect(String(double.bucket.objects.get('_exports/a.csv')!.bytes)).toBe('x');
  });
});
