import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { SignatureV4 } from '@smithy/signature-v4';
import { type Dispatcher, request } from 'undici';
import { neverArrived, noAnswerSentence } from '../network/failure-sentence.js';
import { answeredAtMs, headerText } from '../network/read-answer.js';
import { withinDeadline } from '../network/within-deadline.js';
import type { S3Config } from './config.js';

/** Maximum length of an answer, which is more than the size of any object that this sink writes. */
const MAX_BYTES = 256 * 1024 * 1024;

export type S3Answer =
  | {
      readonly kind: 'answer';
      readonly status: number;
      /** The store's error code, such as `SlowDown`; empty if it sent none, as for HEAD. */
      readonly code: string;
      readonly headers: Readonly<Record<string, string | undefined>>;
      readonly body: Buffer;
      /** Time of the answer by the store's clock, Unix time in ms. */
      readonly atMs: number;
    }
  /** `mayHaveArrived`: the request may have taken effect. */
  | { readonly kind: 'silence'; readonly detail: string; readonly mayHaveArrived: boolean };

/** A file with its length and digests, which a request starts with. */
export interface SentFile {
  readonly path: string;
  readonly bytes: number;
  /** In hexadecimal form. */
  readonly sha256: string;
  /** In base64. */
  readonly md5: string;
}

interface S3Call {
  readonly method: 'PUT' | 'HEAD' | 'GET' | 'DELETE';
  readonly key: string;
  readonly body?: Buffer;
  /** A file that is sent as the body, instead of `body`. */
  readonly file?: SentFile;
  /** By default the limit of the sink. */
  readonly timeoutMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
}

interface S3ClientOptions {
  readonly config: S3Config;
  readonly dispatcher: Dispatcher;
  readonly requestTimeoutMs: number;
  readonly now: () => number;
}

/**
 * Returns the bucket's URL. On Amazon S3, the bucket's name is part of the host. It is part of the path for other
 * stores, and if the name contains a dot, because the certificate would not match the host.
 */
export function bucketUrl({ bucket, region, endpoint }: Pick<S3Config, 'bucket' | 'region' | 'endpoint'>): URL {
  if (endpoint !== undefined) return new URL(`${endpoint}/${bucket}/`);
  const host = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  return new URL(bucket.includes('.') ? `https://${host}/${bucket}/` : `https://${bucket}.${host}/`);
}

/** Makes signed requests to one bucket. Never retries and never throws. */
export class S3Client {
  readonly host: string;
  readonly #url: URL;
  readonly #options: S3ClientOptions;
  readonly #signer: SignatureV4;

  constructor(options: S3ClientOptions) {
    const { config } = options;
    this.#options = options;
    this.#url = bucketUrl(config);
    this.host = this.#url.host;
    this.#signer = new SignatureV4({
      service: 's3',
      region: config.region,
      credentials: {
        accessKeyId: config.accessKeyId,
        secretAccessKey: config.secretAccessKey.reveal(),
        ...(config.sessionToken !== undefined && { sessionToken: config.sessionToken.reveal() }),
      },
      sha256: Sha256,
      uriEscapePath: false, // S3 is the only service of Amazon that encodes the path only once
    });
  }

  async call(call: S3Call, signal: AbortSignal): Promise<S3Answer> {
    const { timeoutMs = this.#options.requestTimeoutMs } = call;
    try {
      return await withinDeadline(signal, timeoutMs, (own) => this.#exchange(call, own));
    } catch (error) {
      const detail = noAnswerSentence(error, { host: this.host, name: 'the object store', timeoutMs });
      return { kind: 'silence', detail, mayHaveArrived: !neverArrived(error) };
    }
  }

  async #exchange(
    { method, key, body, file, headers: given = {}, query = {} }: S3Call,
    signal: AbortSignal,
  ): Promise<Extract<S3Answer, { kind: 'answer' }>> {
    const headers = { ...given, ...(file === undefined ? {} : headersOf(file)) };
    const path = `${this.#url.pathname}${key.split('/').map(encodeURIComponent).join('/')}`;
    const signed = await this.#signer.sign(
      {
        method,
        protocol: this.#url.protocol,
        hostname: this.#url.hostname,
        path,
        query: { ...query },
        headers: { host: this.host, ...headers },
        ...(body !== undefined && { body }),
      },
      { signingDate: new Date(this.#options.now()) },
    );
    const search = new URLSearchParams(query).toString();
    const answer = await request(`${this.#url.origin}${path}${search === '' ? '' : `?${search}`}`, {
      method,
      headers: { ...signed.headers, 'user-agent': 'pigeonpost' },
      body: file === undefined ? (body ?? null) : createReadStream(file.path),
      dispatcher: this.#options.dispatcher,
      signal,
    });
    const bytes = await bytesOf(answer.body);
    return {
      kind: 'answer',
      status: answer.statusCode,
      code: answer.statusCode >= 300 ? errorCodeOf(bytes) : '',
      headers: Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, headerText(value)])),
      body: bytes,
      atMs: answeredAtMs(answer.headers.date, this.#options.now),
    };
  }
}

/** The signature covers the digest, so that the file need not be read to sign the request. */
function headersOf({ bytes, sha256, md5 }: SentFile): Record<string, string> {
  return { 'content-length': String(bytes), 'x-amz-content-sha256': sha256, 'content-md5': md5 };
}

async function bytesOf(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new RangeError('longer than any object that was written');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Reads the element `<Code>` of an error document. The rest is not used, because it may quote the request. */
function errorCodeOf(body: Buffer): string {
  return /<Code>([A-Za-z0-9]{1,60})<\/Code>/.exec(body.subarray(0, 4096).toString('utf8'))?.[1] ?? '';
}

/** Node's SHA-256 with the interface that the signer requires: a hash, or an HMAC if there is a key. */
class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret as string);
  }

  update(data: Uint8Array | string): void {
    this.#hash.update(data);
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(new Uint8Array(this.#hash.digest()));
  }

  reset(): void {
    // Does nothing, because the signer creates a new object for each digest.
  }
}
