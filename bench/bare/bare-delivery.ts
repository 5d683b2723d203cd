import { createHmac, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Pool } from 'undici';
import type { BareRow } from './bare-read.js';
import type { BareDelivery } from './run-bare-loop.js';

/** Concurrent requests, the same number as the product's webhook sink. */
const atOnce = 16;

interface OpenDelivery {
  deliver(rows: readonly BareRow[]): Promise<void>;
  close(): Promise<void>;
}

/** Appends each page's lines to a file and waits for the disk, and posts each line signed by Standard Webhooks. */
export async function openBareDelivery({ file, webhook }: BareDelivery): Promise<OpenDelivery> {
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
