import { type ClientBase, Pool, type PoolClient, type PoolConfig } from 'pg';
import type { HeldResult, NetworkSettings, Outcome, Sink, SinkEnvironment, SinkType } from '../sink.js';
import { checkDatabase } from './check.js';
import { classifyFailure } from './classify.js';
import {
  type PostgresConfig,
  postgresConfigSchema,
  readCertificates,
  readUrl,
  type Server,
  serverName,
} from './config.js';
import { planRow, type PostgresOperation } from './plan.js';
import { prepareSchema } from './schema.js';
import { differingColumns, readRows } from './read-back.js';
import { writeBatch } from './send.js';
import { type ConnectionOptions, rootCertificates } from 'node:tls';
import { tlsOptionsOf } from '../../base/postgres-tls.js';
import { postgresCauses, postgresReasons } from './reasons.js';

const BATCH_SIZE = 500;

/** The method of each write in a preview. */
const methods: Readonly<Record<PostgresOperation['write'], string>> = {
  row: 'upsert',
  tombstone: 'upsert',
  clear: 'update',
  remove: 'delete',
};

interface PostgresTuning {
  readonly connectTimeoutMs?: number;
  /** The server cancels a statement that takes longer. */
  readonly statementTimeoutMs?: number;
}

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
  /** The inspection of the schema, which all lanes share; undefined if it must be done before the next batch. */
  let ready: Promise<void> | undefined;

  return {
    traits: {
      order: 'item',
      needsContext: false, // a row contains only the item, because queries can join sessions and attendees
      revisions: 'latest',
      repeats: 'harmless', // because each row has a revision, and an older one does not replace a newer one
      batchSize: BATCH_SIZE,
    },
    check: (signal) => checkDatabase({ pool, server, schema, sink: environment.name, ignored: url.ignored }, signal),
    plan: (subjects) => Promise.resolve(subjects.map((subject) => planRow(subject, environment.onForget))),
    preview: ({ table, write, row }) => [{ method: methods[write], address: `${schema}.${table}`, body: row }],
    async send(operations, lane, signal) {
      const owner = { ledgerId: lane.ledgerId, sink: environment.name };
      const target = { server, schema, owner, statementTimeoutMs };
      if (operations.length === 0 || signal.aborted) return { outcomes: operations.map(() => ({ kind: 'unsent' })) };
      try {
        const written = await withConnection(pool, signal, async (client) => {
          ready ??= prepareSchema(client, schema, owner);
          await ready;
          const result = await writeBatch(client, operations, target, () => !signal.aborted);
          const isWhole = result.outcomes.every(({ kind }) => kind === 'delivered' || kind === 'rejected');
          return { result, isWhole };
        });
        if (written.looksAgain) ready = undefined;
        return { outcomes: written.outcomes };
      } catch (error) {
        ready = undefined;
        const failure = classifyFailure(error, server, schema);
        // No row has been sent yet, so a failure here has its cause in the schema and not in a row.
        const outcome: Outcome =
          failure.about === 'destination' ? failure.outcome : { kind: 'retry', detail: failure.detail };
        return { outcomes: operations.map(() => outcome) };
      }
    },
    async readBack(wanted, _lane, signal) {
      try {
        return await withConnection(pool, signal, async (client) => ({
          result: await readRows(client, wanted, schema),
          isWhole: true,
        }));
      } catch (error) {
        const failure = classifyFailure(error, server, schema);
        const result: HeldResult =
          failure.about === 'destination' ? failure.outcome : { kind: 'retry', detail: failure.detail };
        return wanted.map(() => result);
      }
    },
    compareHeld: (operation, held) => differingColumns(operation, held as Readonly<Record<string, unknown>>),
    close: () => pool.end(),
  };
}

/**
 * Runs work with a connection of the pool. If the signal is aborted, closes the connection, so that the server rolls
 * back what was not committed.
 * @param use returns its result, and whether the connection can be used again
 */
async function withConnection<T>(
  pool: Pool,
  signal: AbortSignal,
  use: (client: PoolClient) => Promise<{ readonly result: T; readonly isWhole: boolean }>,
): Promise<T> {
  const client = await pool.connect();
  const stop = (): void => void client.end().catch(() => undefined);
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  let isWhole = false;
  try {
    const used = await use(client);
    isWhole = used.isWhole;
    return used.result;
  } finally {
    signal.removeEventListener('abort', stop);
    client.release(!isWhole); // after a failure, the connection is closed and not used again
  }
}

export const postgresSinkType: SinkType<PostgresConfig> = {
  type: 'postgres',
  configSchema: postgresConfigSchema,
  acceptsByDefault: ['obtained', 'not-asked', 'not-known'],
  mappingKeys: [],
  reasons: postgresReasons,
  causes: postgresCauses,
  lists: () => 'all',
  destination({ url, schema }) {
    // The user is not included, because another user writes to the same destination.
    const { host, port, database } = readUrl(url.reveal());
    return JSON.stringify([host, port, database, schema]);
  },
  create: createPostgresSink,
};

/** Maximum number of connections. Each lane that is sending uses one. */
const CONNECTIONS = 4;

/** Wait for an answer after the server's statement timeout. If none arrives, the connection counts as dead. */
const ANSWER_MARGIN_MS = 5_000;

/**
 * Creates the pool of connections, which opens a connection when it is needed. It does not use `network.proxy`, which
 * is for HTTP. It also does not refuse private addresses, because most databases are in a private network.
 */
function createPool(server: Server, network: NetworkSettings, options: Required<PostgresTuning>): Pool {
  const config: PoolConfig = {
    host: server.host,
    port: server.port,
    user: server.user,
    database: server.database,
    // a function, because without a password the driver would read an environment variable or a password file
    password: () => server.password ?? '',
    ssl: tlsOptions(server, network),
    enableChannelBinding: server.channelBinding,
    ...(server.options !== undefined && { options: server.options }),
    max: CONNECTIONS,
    connectionTimeoutMillis: server.connectTimeoutMs ?? options.connectTimeoutMs,
    idleTimeoutMillis: 60_000,
    // ends the wait if the server no longer answers, for example because the network is cut; nothing else would
    query_timeout: options.statementTimeoutMs + ANSWER_MARGIN_MS,
    keepAlive: true,
    application_name: server.applicationName ?? 'pigeonpost',
    onConnect: prepareConnection as (client: ClientBase) => void, // the pool awaits it, although its type does not say so
  };
  const pool = new Pool(config);
  pool.on('error', () => undefined); // an idle connection broke; the pool has removed it and opens another one when needed
  return pool;
}

function tlsOptions(server: Server, network: NetworkSettings): ConnectionOptions | false {
  const { tlsMode, host } = server;
  if (tlsMode === 'disable') return false;
  return {
    host,
    ...tlsOptionsOf(tlsMode),
    // If Node receives a list, it trusts no other certificates, so the list includes Node's own. `sslrootcert` replaces
    // the whole list.
    ...(network.ca !== undefined && { ca: [...rootCertificates, network.ca] }),
    ...readCertificates(server),
  };
}

async function prepareConnection(client: ClientBase): Promise<void> {
  // If a connection breaks during a statement, the statement fails, which is enough. The driver also emits this event,
  // which would otherwise end the process.
  client.on('error', () => undefined);
}
