import { gunzipSync } from 'node:zlib';
import type { RequestRule } from '../serve/request-rules.js';
import { type RunningDouble, serveDouble, type ServeOptions } from '../serve/serve-double.js';
import { statePage } from '../serve/live-page.js';
import { createHash } from 'node:crypto';
import type { DoubleAnswer, DoubleRequest } from '../serve/double-request.js';
import { type AccessKey, verifySignature } from './verify-signature.js';

export interface S3Double extends RunningDouble {
  readonly bucket: Bucket;
  /** Returns the decompressed text of each object by name, without the sink's own object. */
  texts(): Map<string, string>;
}

const signed = ['authorization', 'x-amz-date', 'x-amz-content-sha256', 'x-amz-security-token'];
const rules: readonly RequestRule[] = [
  { method: 'PUT', path: /./, headers: [...signed, 'content-md5', 'if-none-match', /^x-amz-meta-/], bytes: true },
  {
    method: 'GET',
    path: /^\/[^/]+\/$/,
    headers: signed,
    query: ['list-type', 'prefix', 'continuation-token', 'encoding-type'],
  },
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
      namedFaults: { slowDown: { kind: 'answer', answer: errorAnswer(503, 'SlowDown') } },
    },
    options,
  );
  return { ...running, bucket, texts };
}

export type Right = 'put' | 'get' | 'delete' | 'list';

export interface BucketOptions {
  readonly bucket?: string;
  readonly region?: string;
  readonly keys?: readonly AccessKey[];
  /** The rights of the key; all by default. */
  readonly rights?: readonly Right[];
  /** `yes`: as in Amazon S3 and MinIO. `ignored`: as in some older stores. `refused`: answered with 501. */
  readonly conditions?: 'yes' | 'ignored' | 'refused';
  readonly versioning?: boolean;
  /** Maximum number of names in a page of a list; 1,000 in Amazon S3. */
  readonly pageSize?: number;
  /** Milliseconds since 1970, by the clock of the store. */
  readonly now?: () => number;
}

interface StoredObject {
  readonly bytes: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  readonly version: string;
  readonly storedAtMs: number;
}

/** A new account: conditions and strong consistency, no versions, ACLs disabled, one key that may do everything. */
export const freshAccount = {
  bucket: 'acme-engagement',
  region: 'eu-central-1',
  keys: [{ id: 'AKIADOUBLE', secret: 'secret/of+the=double' }] as readonly AccessKey[],
  rights: ['put', 'get', 'delete', 'list'] as readonly Right[],
  conditions: 'yes',
  versioning: false,
  pageSize: 1000,
  now: () => Date.now(),
} as const satisfies Required<BucketOptions>;

/** Headers that a store would act on and that pigeonpost has no reason to send. */
const mustNotBeSent = ['x-amz-acl', 'x-amz-tagging', 'x-amz-storage-class', 'content-encoding', 'x-amz-copy-source'];

/** A bucket in path style, held in memory. The README of this folder lists its rules and their sources. */
class Bucket {
  readonly options: Required<BucketOptions>;
  /** Current objects by name. */
  readonly objects = new Map<string, StoredObject>();
  /** Versions that are not current, by `<name> <version>`. */
  readonly oldVersions = new Map<string, StoredObject>();
  #versions = 0;

  constructor(options: BucketOptions) {
    this.options = { ...freshAccount, ...options };
  }

  answer(request: DoubleRequest): DoubleAnswer {
    const { bucket, region, keys, now } = this.options;
    const problem = verifySignature(request, keys, { region, nowMs: now() });
    if (problem !== undefined) return this.#error(request, problem.status, problem.code);
    const forbidden = mustNotBeSent.find((name) => request.headers[name] !== undefined);
    if (forbidden !== undefined) return this.#error(request, 400, 'AccessControlListNotSupported');
    const [, name = '', ...rest] = request.path.split('/');
    if (name !== bucket) return this.#error(request, 404, 'NoSuchBucket');
    const key = rest.map(decodeURIComponent).join('/');
    if (key === '' && request.method === 'GET') return this.#list(request);
    if (key === '' || key.length > 1024) return this.#error(request, 400, 'InvalidArgument');
    switch (request.method) {
      case 'PUT':
        return this.#put(request, key);
      case 'GET':
      case 'HEAD':
        return this.#get(request, key);
      case 'DELETE':
        return this.#delete(request, key);
      default:
        return this.#error(request, 405, 'MethodNotAllowed');
    }
  }

  #put(request: DoubleRequest, key: string): DoubleAnswer {
    const { headers, bytes = Buffer.alloc(0) } = request;
    if (!this.#may('put')) return this.#error(request, 403, 'AccessDenied');
    if (headers['content-length'] === undefined) return this.#error(request, 411, 'MissingContentLength');
    const md5 = headers['content-md5'];
    if (md5 === undefined || Buffer.from(md5, 'base64').length !== 16)
      return this.#error(request, 400, 'InvalidDigest');
    if (md5 !== createHash('md5').update(bytes).digest('base64')) return this.#error(request, 400, 'BadDigest');
    const condition = headers['if-none-match'];
    if (condition !== undefined && this.options.conditions !== 'ignored') {
      if (condition !== '*' || this.options.conditions === 'refused')
        return this.#error(request, 501, 'NotImplemented');
      if (this.objects.has(key)) return this.#error(request, 412, 'PreconditionFailed');
    }
    this.#versions += 1;
    const before = this.objects.get(key);
    if (before !== undefined && this.options.versioning) this.oldVersions.set(`${key} ${before.version}`, before);
    const kept = Object.entries(headers).filter(([name]) => name.startsWith('x-amz-meta-') || name === 'content-type');
    const storedAtMs = this.options.now();
    this.objects.set(key, { bytes, headers: Object.fromEntries(kept), version: `v${this.#versions}`, storedAtMs });
    return { status: 200, headers: { ...this.#version(`v${this.#versions}`), etag: etagOf(bytes) } };
  }

  #get(request: DoubleRequest, key: string): DoubleAnswer {
    if (!this.#may('get')) return this.#error(request, 403, 'AccessDenied');
    const found = this.objects.get(key);
    // Without the right to list, a missing object answers 403.
    if (found === undefined)
      return this.#may('list') ? this.#error(request, 404, 'NoSuchKey') : this.#error(request, 403, 'AccessDenied');
    const headers = {
      ...found.headers,
      ...this.#version(found.version),
      etag: etagOf(found.bytes),
      'last-modified': new Date(found.storedAtMs).toUTCString(),
    };
    if (request.method === 'HEAD')
      return { status: 200, headers: { ...headers, 'content-length': String(found.bytes.length) } };
    return { status: 200, headers, bytes: found.bytes };
  }

  /**
   * ListObjectsV2: the names with a prefix in the order of their bytes, page by page. The token of the next page is
   * opaque. With `encoding-type=url`, names are percent-encoded.
   */
  #list(request: DoubleRequest): DoubleAnswer {
    const { query } = request;
    if (!this.#may('list')) return this.#error(request, 403, 'AccessDenied');
    if (query.get('list-type') !== '2') return this.#error(request, 400, 'InvalidArgument');
    const encoding = query.get('encoding-type');
    if (encoding !== null && encoding !== 'url') return this.#error(request, 400, 'InvalidArgument');
    const prefix = query.get('prefix') ?? '';
    const token = query.get('continuation-token');
    const after = token === null ? '' : Buffer.from(token, 'base64').toString('utf8');
    const named = [...this.objects]
      .filter(([name]) => name.startsWith(prefix))
      .toSorted(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
      .filter(([name]) => Buffer.compare(Buffer.from(name), Buffer.from(after)) > 0);
    const page = named.slice(0, this.options.pageSize);
    const isTruncated = named.length > page.length;
    const shown = (text: string): string => (encoding === null ? xmlText(text) : encodeURIComponent(text));
    const contents = page.map(
      ([name, { bytes, storedAtMs }]) =>
        `<Contents><Key>${shown(name)}</Key><LastModified>${new Date(storedAtMs).toISOString()}</LastModified>` +
        `<ETag>${xmlText(etagOf(bytes))}</ETag><Size>${bytes.length}</Size><StorageClass>STANDARD</StorageClass></Contents>`,
    );
    const next = isTruncated
      ? `<NextContinuationToken>${Buffer.from(page.at(-1)![0]).toString('base64')}</NextContinuationToken>`
      : '';
    const text =
      `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">` +
      `<Name>${this.options.bucket}</Name><Prefix>${shown(prefix)}</Prefix><KeyCount>${page.length}</KeyCount>` +
      `<MaxKeys>${this.options.pageSize}</MaxKeys>${encoding === null ? '' : '<EncodingType>url</EncodingType>'}` +
      `<IsTruncated>${isTruncated}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`;
    return { status: 200, headers: { 'content-type': 'application/xml' }, text };
  }

  /** Replaces, copies or removes an object as a colleague does with another client. Null removes it. */
  put(name: string, object: { readonly bytes: Buffer; readonly headers?: StoredObject['headers'] } | null): void {
    this.#versions += 1;
    if (object === null) this.objects.delete(name);
    else {
      const { bytes, headers = {} } = object;
      this.objects.set(name, { bytes, headers, version: `v${this.#versions}`, storedAtMs: this.options.now() });
    }
  }

  #delete(request: DoubleRequest, key: string): DoubleAnswer {
    if (!this.#may('delete')) return this.#error(request, 403, 'AccessDenied');
    const version = request.query.get('versionId');
    const found = this.objects.get(key);
    if (version === null || found?.version === version) {
      if (version === null && found !== undefined && this.options.versioning)
        this.oldVersions.set(`${key} ${found.version}`, found);
      this.objects.delete(key);
    } else this.oldVersions.delete(`${key} ${version}`);
    return { status: 204 };
  }

  #may(right: Right): boolean {
    return this.options.rights.includes(right);
  }

  #version(version: string): Record<string, string> {
    return this.options.versioning ? { 'x-amz-version-id': version } : {};
  }

  #error(request: DoubleRequest, status: number, code: string): DoubleAnswer {
    return errorAnswer(status, code, { isHead: request.method === 'HEAD', region: this.options.region });
  }
}

/** Builds an S3 error: an XML document, or only the status for HEAD. */
export function errorAnswer(
  status: number,
  code: string,
  { isHead = false, region }: { readonly isHead?: boolean; readonly region?: string } = {},
): DoubleAnswer {
  const headers = {
    'x-amz-request-id': 'DOUBLE0000000001',
    ...(region !== undefined && { 'x-amz-bucket-region': region }),
    'content-type': 'application/xml',
  };
  const text = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${code}</Message></Error>`;
  return isHead ? { status, headers } : { status, headers, text };
}

function xmlText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

function etagOf(bytes: Buffer): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`;
}
