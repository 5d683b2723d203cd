import type { DoubleAnswer, DoubleRequest } from '../serve/double-request.js';
import { RollingLimit } from '../serve/call-limit.js';
import { anything, type RequestRule } from '../serve/request-rules.js';
import { type RunningDouble, serveDouble, type ServeOptions } from '../serve/serve-double.js';

interface AirtableOptions extends ServeOptions {
  /**
   * Number of requests that the base accepts in a second. After one more, it refuses every request until none has
   * arrived for 30 seconds.
   */
  readonly perSecond?: number;
  /** Number of calls that the workspace accepts in a month. */
  readonly perMonth?: number;
}

/**
 * A new base in a workspace of the free plan, whose calls are limited to 1,000 a month. The limit of five requests in a
 * second applies on every plan.
 */
export const freshAccount = { perSecond: 5, perMonth: 1000 } as const satisfies Omit<
  AirtableOptions,
  keyof ServeOptions
>;

type Cell = string | number | null;

interface AirtableRow {
  readonly id: string;
  readonly fields: Readonly<Record<string, Cell>>;
}

export interface AirtableDouble extends RunningDouble {
  readonly token: string;
  /** Rows in the order of their creation. The table starts with one row that a person entered. */
  readonly rows: readonly AirtableRow[];
  /** Removes a row, as a person can in Airtable. */
  removeRow(id: string): void;
}

const token = 'patAirtable.t0ken';
const table = '/v0/appEventBase00001/tblQuestions0001';
const types: Readonly<Record<string, 'text' | 'number'>> = {
  Item: 'text',
  Question: 'text',
  Status: 'text',
  Votes: 'number',
  Session: 'text',
  'Asked by': 'text',
};

const auth = ['authorization'];
const rules: readonly RequestRule[] = [
  { method: 'GET', path: /^\/v0\/\w+\/\w+$/, headers: auth, query: ['maxRecords'] },
  {
    method: 'PATCH',
    path: /^\/v0\/\w+\/\w+$/,
    headers: auth,
    json: { performUpsert: { fieldsToMergeOn: anything }, typecast: anything, records: [{ fields: anything }] },
  },
  { method: 'DELETE', path: /^\/v0\/\w+\/\w+\/\w+$/, headers: auth },
];

/**
 * Starts one table of an Airtable base, whose rows can be listed, upserted and deleted. Checks keys, the limit of ten
 * rows a request, and the names and types of fields. Answers an upsert with its rows in reverse, since Airtable
 * promises no order. Sources: sinks/http/README.md, "Airtable".
 */
export async function startAirtableDouble(options: AirtableOptions = {}): Promise<AirtableDouble> {
  const { perSecond, perMonth } = { ...freshAccount, ...options };
  const limit = new RollingLimit(perSecond, 1000);
  let refusesUntilMs = 0;
  let calls = 0;
  const rows = new Map<string, Record<string, Cell>>([['rec0000000000ours', { Question: 'By hand', Votes: 99 }]]);
  let next = 1;

  const answer = ({ atMs, method, path, headers, body, query }: DoubleRequest): DoubleAnswer => {
    if (atMs < refusesUntilMs || !limit.take(atMs)) {
      refusesUntilMs = Math.max(refusesUntilMs, atMs + 30_000);
      return refusal(429, 'RATE_LIMIT_REACHED');
    }
    calls += 1;
    if (calls > perMonth) return monthIsUsedUp;
    if (headers['authorization'] === undefined) return refusal(401, 'AUTHENTICATION_REQUIRED');
    if (headers['authorization'] !== `Bearer ${token}`) return refusal(401, 'UNAUTHORIZED');
    if (path !== table && !path.startsWith(`${table}/`)) return refusal(403, 'INVALID_PERMISSIONS_OR_MODEL_NOT_FOUND');
    const id = path.slice(table.length + 1);
    if (method === 'GET' && id === '')
      return { status: 200, json: { records: found([...rows.keys()].slice(0, Number(query.get('maxRecords')))) } };
    if (method === 'PATCH' && id === '') return upsert(body);
    if (method !== 'DELETE' || id === '') return { status: 404, json: { error: 'NOT_FOUND' } };
    if (!rows.delete(id)) return refusal(404, 'NOT_FOUND');
    return { status: 200, json: { id, deleted: true } };
  };

  const found = (ids: readonly string[]) =>
    ids.map((id) => ({ id, createdTime: '2026-11-21T09:00:00.000Z', fields: withoutEmpty(rows.get(id)!) }));

  function upsert(body: string): DoubleAnswer {
    const { performUpsert, typecast, records, ...unknown } = JSON.parse(body) as Record<string, unknown>;
    const merge = (performUpsert as { fieldsToMergeOn?: readonly string[] } | undefined)?.fieldsToMergeOn;
    const isRequest = Object.keys(unknown).length === 0 && typeof typecast === 'boolean' && Array.isArray(records);
    if (!isRequest || merge?.length !== 1) return refusal(422, 'INVALID_REQUEST_UNKNOWN');
    if (records.length === 0 || records.length > 10) return refusal(422, 'INVALID_RECORDS');
    const wanted: Record<string, Cell>[] = [];
    for (const { fields, ...others } of records as { readonly fields: Record<string, unknown> }[]) {
      if (Object.keys(others).length > 0) return refusal(422, 'INVALID_REQUEST_UNKNOWN');
      for (const [name, value] of Object.entries(fields)) {
        const problem = problemOf(name, value, typecast);
        if (problem !== undefined) return refusal(422, problem);
      }
      wanted.push(fields as Record<string, Cell>);
    }
    const [key] = merge as [string];
    if (wanted.some((fields) => fields[key] === undefined)) return refusal(422, 'INVALID_VALUE_FOR_COLUMN');
    const matches = wanted.map((fields) => [...rows].filter(([, row]) => row[key] === fields[key]).map(([id]) => id));
    if (matches.some((ids) => ids.length > 1)) return refusal(422, 'INVALID_REQUEST_UNKNOWN');
    const created: string[] = [];
    const written = wanted.map((fields, at) => {
      const id = matches[at]![0] ?? `rec${String((next += 1)).padStart(14, '0')}`;
      if (!rows.has(id)) created.push(id);
      rows.set(id, { ...rows.get(id), ...fields });
      return id;
    });
    const updated = written.filter((id) => !created.includes(id));
    const json = { records: found(written.toReversed()), createdRecords: created, updatedRecords: updated };
    return { status: 200, json };
  }

  const double = await serveDouble({ answer, state: () => [...rows], rules }, options);
  return {
    ...double,
    token,
    get rows() {
      return [...rows].map(([id, fields]) => ({ id, fields: withoutEmpty(fields) }));
    },
    removeRow: (id) => void rows.delete(id),
  };
}

function problemOf(name: string, value: unknown, typecast: boolean): string | undefined {
  const type = types[name];
  if (type === undefined) return 'UNKNOWN_FIELD_NAME';
  if (value === null) return undefined;
  if (type === 'text') {
    const isText = typeof value === 'string' || (typecast && typeof value === 'number');
    return isText ? undefined : 'INVALID_VALUE_FOR_COLUMN';
  }
  const isNumber = typeof value === 'number' || (typecast && value !== '' && Number.isFinite(Number(value)));
  return isNumber ? undefined : 'INVALID_VALUE_FOR_COLUMN';
}

/** Removes empty cells, which Airtable does not return. */
function withoutEmpty(fields: Readonly<Record<string, Cell>>): Record<string, Cell> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== ''));
}

/** Reported by third parties; no page of Airtable describes it. */
const monthIsUsedUp: DoubleAnswer = {
  status: 429,
  json: { errors: [{ error: 'PUBLIC_API_BILLING_LIMIT_EXCEEDED', message: 'API billing plan limit exceeded.' }] },
};

function refusal(status: number, type: string): DoubleAnswer {
  return { status, json: { error: { type, message: `${type} for the values that were sent` } } };
}
