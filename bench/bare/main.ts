/**
 * Runs the bare loop as a separate process that measures itself and prints one line of JSON.
 * Usage: node dist/bench/bare/main.js '<BareTask as JSON>'
 */
import { measured, printMeasured } from '../processes/print-measured.js';
import type { FreshStore } from '../processes/stage.js';
import type { BareMeasurement, BareTask, BareDelivery } from './run-bare-loop.js';
import { Client } from 'pg';
import { openDatabase } from '../../ledger/drivers/open-database.js';
import { createHmac, randomUUID, hash } from 'node:crypto';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Pool } from 'undici';
import { z } from 'zod';

/** The last step that the bare loop performs on each page. */
export type BareDepth = 'bodies' | 'parse' | 'upsert';

/** A row of a page, as it is stored. */
interface BareRow {
  readonly key: string;
  readonly hash: string;
  readonly json: string;
}

const attendee = z.looseObject({
  id: z.int(),
  registrantId: z.int().nullish(),
  attendeeCode: z.string().nullish(),
  signInTime: z.string().nullish(),
  consent: z.looseObject({ obtained: z.boolean().nullish(), obtainedAt: z.string().nullish() }).nullish(),
  linkedIn: z.looseObject({ url: z.string().nullish() }).nullish(),
  twitter: z.looseObject({ screenName: z.string().nullish() }).nullish(),
});
const page = z.looseObject({
  data: z.array(attendee),
  meta: z.looseObject({ hasMore: z.boolean(), nextCursor: z.string().nullable() }),
});

interface BareReadOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly pigeonholeId: number;
  readonly depth: BareDepth;
  /** Stores a page. The loop requests the next page only afterwards. */
  readonly keep: (rows: readonly BareRow[]) => Promise<void>;
}

export interface BareResult {
  /** 0 if only bodies are read. */
  readonly items: number;
  readonly requests: number;
}

/**
 * A simple loop without overhead: requests a page on one connection, processes and stores it, and requests the next
 * one. It shares no code with the product, so that both cannot be slow for the same reason.
 */
async function bareRead({ baseUrl, apiKey, pigeonholeId, depth, keep }: BareReadOptions): Promise<BareResult> {
  const pool = new Pool(baseUrl, { connections: 1 });
  const path = `/v2/pigeonholes/${pigeonholeId}/attendees?count=300`;
  let items = 0;
  let requests = 0;
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body } = await pool.request({
      method: 'GET',
      path: cursor === '' ? path : `${path}&cursor=${encodeURIComponent(cursor)}`,
      headers: { 'x-api-key': apiKey },
    });
    requests += 1;
    if (depth === 'bodies') {
      cursor = cursorIn(Buffer.from(await body.bytes()));
      continue;
    }
    const parsed = (await body.json()) as z.infer<typeof page>;
    items += parsed.data.length;
    if (depth === 'upsert') await keep(page.parse(parsed).data.map(rowOf));
    cursor = parsed.meta.hasMore ? parsed.meta.nextCursor : null;
  }
  await pool.close();
  return { items, requests };
}

/** Finds the cursor, the last property of the envelope, without parsing the items. */
function cursorIn(body: Buffer): string | null {
  return /"nextCursor":"([^"]+)"/.exec(body.toString('latin1', Math.max(0, body.length - 500)))?.[1] ?? null;
}

function rowOf(item: { readonly id: number }): BareRow {
  const json = canonical(item);
  return { key: String(item.id), hash: hash('sha256', json), json };
}

/** Sorts properties, so that the same item always has the same hash. */
function canonical(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}

/** Concurrent requests, the same number as the product's webhook sink. */
const atOnce = 16;

interface OpenDelivery {
  deliver(rows: readonly BareRow[]): Promise<void>;
  close(): Promise<void>;
}

/** Appends each page's lines to a file and waits for the disk, and posts each line signed by Standard Webhooks. */
async function openBareDelivery({ file, webhook }: BareDelivery): Promise<OpenDelivery> {
  const appender = file === undefined ? undefined : await openFile(file);
  const poster = webhook === undefined ? undefined : new Poster(webhook);
  let sequence = 0;
  return {
    async deliver(rows) {
      if (appender === undefined && poster === undefined) return;
      const changes = rows.map((row) => changeOf(row, (sequence += 1)));
      if (appender !== undefined) {
        await appender.write(`${changes.map(({ body }) => body).join('\n')}\n`);
        await appender.sync();
      }
      await poster?.post(changes);
    },
    async close() {
      await appender?.close();
      await poster?.close();
    },
  };
}

interface Posted {
  readonly id: string;
  readonly body: string;
}

/** Wraps an item in the product's change envelope. */
function changeOf({ key, json }: BareRow, sequence: number): Posted {
  const id = randomUUID();
  const head = { id, type: 'attendees.created', timestamp: new Date().toISOString(), workspace: 'acme' };
  const rest = { pigeonholeId: 101, sessionId: null, list: 'attendees', key, revision: 1, sequence };
  return { id, body: `${JSON.stringify({ ...head, ...rest }).slice(0, -1)},"data":${json}}` };
}

async function openFile(path: string): Promise<FileHandle> {
  await mkdir(dirname(path), { recursive: true });
  return await open(path, 'a');
}

class Poster {
  readonly #pool: Pool;
  readonly #path: string;
  readonly #secret: Buffer;

  constructor({ url, secret }: NonNullable<BareDelivery['webhook']>) {
    const { origin, pathname } = new URL(url);
    this.#pool = new Pool(origin, { connections: atOnce });
    this.#path = pathname;
    this.#secret = Buffer.from(secret.replace('whsec_', ''), 'base64');
  }

  async post(changes: readonly Posted[]): Promise<void> {
    const queue = changes.values();
    const work = async (): Promise<void> => {
      for (const change of queue) await this.#postOne(change);
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  }

  async #postOne({ id, body }: Posted): Promise<void> {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = createHmac('sha256', this.#secret).update(`${id}.${timestamp}.${body}`).digest('base64');
    const answer = await this.#pool.request({
      method: 'POST',
      path: this.#path,
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signature}`,
      },
      body,
    });
    await answer.body.dump();
    if (answer.statusCode >= 300) throw new Error(`the receiver answers HTTP ${answer.statusCode}`);
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }
}

const nowhere: BareStore = { keep: async () => undefined, close: async () => undefined };

async function run(task: BareTask): Promise<BareMeasurement> {
  const store = task.store === undefined ? nowhere : await openBareStore(task.store);
  const delivery = await openBareDelivery(task.deliver ?? {});
  const read = () =>
    bareRead({
      ...task,
      keep: async (rows) => {
        await store.keep(rows);
        await delivery.deliver(rows);
      },
    });
  const measurement = await measured(read);
  await delivery.close();
  await store.close();
  return measurement;
}

printMeasured('bare', run(JSON.parse(process.argv[2] ?? '') as BareTask));

interface BareStore {
  keep(rows: readonly BareRow[]): Promise<void>;
  close(): Promise<void>;
}

const table = 'create table bare (key text primary key, hash text not null, payload json not null)';

/** One statement per page with its rows as one JSON text, which is the fastest way with `pg`. */
const upsert = `insert into bare (key, hash, payload)
  select key, hash, payload from json_to_recordset($1::json) as n (key text, hash text, payload json)
  on conflict (key) do update set hash = excluded.hash, payload = excluded.payload`;

/** Creates a table in the given store. For a server, uses only `pg`. */
async function openBareStore(store: FreshStore): Promise<BareStore> {
  if (store.kind === 'postgres') {
    const client = new Client({ connectionString: store.url });
    await client.connect();
    await client.query(table);
    return {
      async keep(rows) {
        await client.query({ name: 'upsert', text: upsert, values: [asJson(rows)] });
      },
      close: () => client.end(),
    };
  }
  // Opens PGlite with fsync, as the product does. Otherwise, the benchmark would compare disks instead of code.
  const database = await openDatabase({ kind: 'embedded', folder: store.folder });
  await database.script(table);
  return {
    async keep(rows) {
      await database.query(upsert, [asJson(rows)]);
    },
    close: () => database.close(),
  };
}

/** Builds the JSON of a page with the unchanged JSON of its items. */
function asJson(rows: readonly BareRow[]): string {
  return `[${rows.map(({ key, hash, json }) => `{"key":"${key}","hash":"${hash}","payload":${json}}`).join(',')}]`;
}
