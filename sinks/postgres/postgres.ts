import type { Pool, PoolClient } from 'pg';
import type { Sink, SinkEnvironment, SinkType } from '../sink.js';
import { checkDatabase } from './check.js';
import { classifyFailure } from './classify.js';
import { postgresConfigSchema, type PostgresConfig, readUrl, serverName } from './config.js';
import { createPool } from './connect.js';
import { planRow, type PostgresOperation } from './plan.js';
import { prepareSchema } from './schema.js';
import { writeBatch, type Written } from './send.js';

const BATCH_SIZE = 500;

interface PostgresTuning {
  readonly connectTimeoutMs?: number;
  readonly statementTimeoutMs?: number;
}

/** Writes a table for each list and a row for each item. */
export function createPostgresSink(
  config: PostgresConfig,
  environment: SinkEnvironment,
  tuning: PostgresTuning = {},
): Sink<PostgresOperation> {
  const { connectTimeoutMs = 10_000, statementTimeoutMs = 30_000 } = tuning;
  const url = readUrl(config.url.reveal());
  const server = serverName(url);
  const { schema } = config;
  const pool = createPool(url, environment.network, { connectTimeoutMs, statementTimeoutMs });
  /** Undefined if the schema has to be inspected first, once for all lanes. */
  let ready: Promise<void> | undefined;

  return {
    traits: {
      order: 'item',
      needsContext: false, // a row is the item; queries join the names of sessions and attendees
      revisions: 'latest',
      repeats: 'harmless', // by the revision in each row
      batchSize: BATCH_SIZE,
    },
    check: (signal) => checkDatabase({ pool, server, schema, sink: environment.name, ignored: url.ignored }, signal),
    plan: (subjects) => Promise.resolve(subjects.map((subject) => planRow(subject, environment.onForget))),
    async send(operations, lane, signal) {
      const owner = { ledgerId: lane.ledgerId, sink: environment.name };
      const target = { server, schema, owner, statementTimeoutMs };
      const nothingSent = (): Written => ({ outcomes: operations.map(() => ({ kind: 'unsent' })), looksAgain: false });
      if (operations.length === 0 || signal.aborted) return nothingSent();
      try {
        const written = await withConnection(pool, signal, async (client) => {
          ready ??= prepareSchema(client, schema, owner);
          await ready;
          return await writeBatch(client, operations, target, () => !signal.aborted);
        });
        if (written.looksAgain) ready = undefined;
        return { outcomes: written.outcomes };
      } catch (error) {
        ready = undefined;
        const failure = classifyFailure(error, server, schema);
        // No row can be at fault before the first one: a failure while tables are created is about the schema.
        const outcome = failure.about === 'destination' ? failure.outcome : retryOf(failure.detail);
        return { outcomes: operations.map(() => outcome) };
      }
    },
    close: () => pool.end(),
  };
}

function retryOf(detail: string) {
  return { kind: 'retry', detail } as const;
}

/** Closes the connection when stopped: the server rolls back what was not committed. */
async function withConnection(
  pool: Pool,
  signal: AbortSignal,
  use: (client: PoolClient) => Promise<Written>,
): Promise<Written> {
  const client = await pool.connect();
  const stop = (): void => void client.end().catch(() => undefined);
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  let isWhole = false;
  try {
    const written = await use(client);
    isWhole = written.outcomes.every(({ kind }) => kind === 'delivered' || kind === 'rejected');
    return written;
  } finally {
    signal.removeEventListener('abort', stop);
    client.release(!isWhole); // a connection with a failure is not used for the next batch
  }
}

export const postgresSinkType: SinkType<PostgresConfig> = {
  type: 'postgres',
  configSchema: postgresConfigSchema,
  acceptsByDefault: ['obtained', 'not-asked', 'not-known'],
  lists: () => 'all',
  destination({ url, schema }) {
    // Without the user: another user is another credential, not another destination.
    const { host, port, database } = readUrl(url.reveal());
    return JSON.stringify([host, port, database, schema]);
  },
  create: (config, environment) => createPostgresSink(config, environment),
};
