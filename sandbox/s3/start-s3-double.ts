import { gunzipSync } from 'node:zlib';
import { type RequestRule } from '../serve/request-rules.js';
import { type RunningDouble, serveDouble, type ServeOptions } from '../serve/serve-double.js';
import { statePage } from '../serve/state-page.js';
import { Bucket, type BucketOptions, errorAnswer } from './bucket.js';

export interface S3Double extends RunningDouble {
  readonly bucket: Bucket;
  /** Returns the decompressed text of each object by name, without the sink's own object. */
  texts(): Map<string, string>;
}

const signed = ['authorization', 'x-amz-date', 'x-amz-content-sha256', 'x-amz-security-token'];
const rules: readonly RequestRule[] = [
  { method: 'PUT', path: /./, headers: [...signed, 'content-md5', 'if-none-match', /^x-amz-meta-/], bytes: true },
  { method: 'GET', path: /./, headers: signed },
  { method: 'HEAD', path: /./, headers: signed },
  { method: 'DELETE', path: /./, headers: signed, query: ['versionId'] },
];

/** Starts an object store on loopback with one bucket, held in memory. The README of this folder lists its rules. */
export async function startS3Double(options: BucketOptions & ServeOptions = {}): Promise<S3Double> {
  const bucket = new Bucket(options);
  const texts = (): Map<string, string> =>
    new Map(
      [...bucket.objects]
        .filter(([name]) => !name.includes('_pigeonpost/'))
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .map(([name, { bytes }]) => [name, (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')]),
    );
  const rows = (): Record<string, unknown>[] =>
    [...bucket.objects].map(([name, { bytes }]) => ({ name, bytes: bytes.length }));
  const running = await serveDouble(
    {
      answer: (request) => bucket.answer(request),
      state: () => ({ objects: rows() }),
      page: () =>
        statePage({
          title: 'S3: stand-in',
          note: `Bucket ${bucket.options.bucket}`,
          barColor: '#3b6e22',
          tables: [{ title: 'objects', rows: rows() }],
        }),
      rules,
      namedFaults: (name) =>
        name === 'slowDown' ? { kind: 'answer', answer: errorAnswer(503, 'SlowDown') } : undefined,
    },
    options,
  );
  return { ...running, bucket, texts };
}
