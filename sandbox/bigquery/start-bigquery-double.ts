import { createPublicKey, generateKeyPairSync, type KeyPairKeyObjectResult, verify } from 'node:crypto';
import type { DoubleAnswer, DoubleRequest } from '../serve/double-request.js';
import { anything, type RequestRule } from '../serve/request-rules.js';
import { type RunningDouble, serveDouble, type ServeOptions } from '../serve/serve-double.js';

interface BigQueryOptions extends ServeOptions {
  /** Whether billing is enabled. Without it, the project is a sandbox, which refuses to stream. */
  readonly billing?: boolean;
  /** Number of requests that streaming answers with 404, because it does not know a newly created table yet. */
  readonly unknownFor?: number;
}

/** A new project with the billing that docs/sinks/http/bigquery.md requires, and a table that was created yesterday. */
export const freshAccount = { billing: true, unknownFor: 0 } as const satisfies Omit<
  BigQueryOptions,
  keyof ServeOptions
>;

export interface BigQueryDouble extends RunningDouble {
  readonly rows: Record<string, unknown>[];
  readonly privateKey: string;
}

const account = 'pigeonpost@acme.iam.gserviceaccount.com';
const scope = 'https://www.googleapis.com/auth/bigquery.insertdata';
const tablePath = '/bigquery/v2/projects/acme/datasets/engagement/tables/questions';
/** The schema of the table: columns and whether they are required. */
const schema: Readonly<Record<string, boolean>> = {
  id: true,
  list: true,
  key: true,
  revision: true,
  found_at: true,
  deleted: true,
  text: false,
  session: false,
};

const rules: readonly RequestRule[] = [
  { method: 'POST', path: /^\/token$/, form: ['grant_type', 'assertion'] },
  { method: 'GET', path: /^\/bigquery\/v2\/[^?]*\/tables\/\w+$/, headers: ['authorization'], query: ['fields'] },
  {
    method: 'POST',
    path: /\/insertAll$/,
    headers: ['authorization'],
    json: { rows: [{ insertId: anything, json: anything }] },
  },
];

/** Each process creates only one, because it may take a second. */
let pair: KeyPairKeyObjectResult | undefined;

/**
 * Starts a BigQuery table with `tabledata.insertAll`, and Google's token endpoint, which verifies assertions. Drops
 * duplicates by `insertId`. The table starts with one row. Sources: sinks/http/README.md, "BigQuery".
 */
export async function startBigQueryDouble(options: BigQueryOptions = {}): Promise<BigQueryDouble> {
  const { billing, unknownFor } = { ...freshAccount, ...options };
  let inserts = 0;
  pair ??= generateKeyPairSync('rsa', { modulusLength: 2048 });
  const privateKey = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const rows: Record<string, unknown>[] = [{ id: 'before', list: 'questions', key: '1', text: 'loaded last year' }];
  const seen = new Set<string>();

  const answer = (request: DoubleRequest): DoubleAnswer => {
    if (request.path === '/token') return token(request);
    if (request.headers['authorization'] !== 'Bearer ya29.double') return failure(401, 'authError');
    if (request.path === tablePath && request.method === 'GET')
      return { status: 200, json: { id: 'acme:engagement.questions' } };
    if (request.path !== `${tablePath}/insertAll` || request.method !== 'POST') return failure(404, 'notFound');
    if (!billing) return failure(403, 'accessDenied');
    inserts += 1;
    if (inserts <= unknownFor) return failure(404, 'notFound');
    if (request.headers['content-type'] !== 'application/json') return failure(400, 'parseError');
    if (Buffer.byteLength(request.body) > 10_000_000) return failure(413, 'uploadTooLarge');
    const body = JSON.parse(request.body) as { rows?: { insertId?: string; json?: Record<string, unknown> }[] };
    const found = body.rows ?? [];
    if (Object.keys(body).join() !== 'rows' || found.length === 0 || found.length > 50_000)
      return failure(400, 'invalid');
    const invalid = found.map(({ insertId, json = {} }) => insertId === undefined || !fits(json));
    if (invalid.includes(true)) {
      const insertErrors = invalid.map((isInvalid, index) => ({
        index,
        errors: [{ reason: isInvalid ? 'invalid' : 'stopped', location: '', message: '' }],
      }));
      return { status: 200, json: { kind: 'bigquery#tableDataInsertAllResponse', insertErrors } };
    }
    for (const { insertId, json } of found) {
      if (seen.has(insertId!)) continue;
      seen.add(insertId!);
      rows.push(json!);
    }
    return { status: 200, json: { kind: 'bigquery#tableDataInsertAllResponse' } };
  };

  function token({ body, method }: DoubleRequest): DoubleAnswer {
    const form = new URLSearchParams(body);
    const refusal = { status: 400, json: { error: 'invalid_grant' } };
    if (method !== 'POST' || form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') return refusal;
    const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
    const signed = Buffer.from(`${head}.${claims}`);
    const isSigned = verify('RSA-SHA256', signed, createPublicKey(privateKey), Buffer.from(signature, 'base64url'));
    if (!isSigned) return refusal;
    const said = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>;
    // The audience is Google's own address, regardless of the address of this stand-in.
    if (said['iss'] !== account || said['aud'] !== 'https://oauth2.googleapis.com/token' || said['scope'] !== scope)
      return refusal;
    if (Number(said['exp']) - Number(said['iat']) > 3600) return refusal;
    return { status: 200, json: { access_token: 'ya29.double', token_type: 'Bearer', expires_in: 3599 } };
  }

  const double = await serveDouble({ answer, state: () => rows, rules }, options);
  return { ...double, rows, privateKey };
}

function fits(json: Record<string, unknown>): boolean {
  const isKnown = Object.entries(json).every(
    ([name, value]) => name in schema && ['string', 'number', 'boolean'].includes(typeof value),
  );
  return isKnown && Object.entries(schema).every(([name, isRequired]) => !isRequired || json[name] !== undefined);
}

function failure(status: number, reason: string): DoubleAnswer {
  return { status, json: { error: { code: status, errors: [{ reason, message: '' }] } } };
}
