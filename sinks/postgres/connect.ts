import { rootCertificates, type ConnectionOptions } from 'node:tls';
import { type ClientBase, Pool, type PoolConfig } from 'pg';
import { strictTls } from '../network/guarded-connector.js';
import type { NetworkSettings } from '../sink.js';
import { readCertificates, type Server } from './config.js';

/** As many lanes of a sink as are sent at once: each uses one connection. */
const CONNECTIONS = 4;

interface ConnectOptions {
  readonly connectTimeoutMs: number;
  /** The server ends a statement that takes longer. */
  readonly statementTimeoutMs: number;
}

/** How much longer than the server's own limit we wait for its answer, before we take the connection for dead. */
const ANSWER_MARGIN_MS = 5_000;

/**
 * The connections to a database; none is opened before it is needed. Not by `network.proxy`, which speaks HTTP, and
 * without the guard against private addresses: a database mostly stands in a private network.
 */
export function createPool(server: Server, network: NetworkSettings, options: ConnectOptions): Pool {
  const config: PoolConfig = {
    host: server.host,
    port: server.port,
    user: server.user,
    database: server.database,
    // a function, for without a password the driver would take one from its own environment variable or file
    password: () => server.password ?? '',
    ssl: tlsOptions(server, network),
    enableChannelBinding: server.channelBinding,
    ...(server.options !== undefined && { options: server.options }),
    max: CONNECTIONS,
    connectionTimeoutMillis: server.connectTimeoutMs ?? options.connectTimeoutMs,
    idleTimeoutMillis: 60_000,
    // for a server that is gone without a word (a cut network): nothing else would ever end the wait
    query_timeout: options.statementTimeoutMs + ANSWER_MARGIN_MS,
    keepAlive: true,
    application_name: server.applicationName ?? 'pigeonpost',
    onConnect: prepareConnection as (client: ClientBase) => void, // awaited, whatever its type says
  };
  const pool = new Pool(config);
  pool.on('error', () => undefined); // an idle connection broke: the pool has dropped it, the next use opens another
  return pool;
}

function tlsOptions(server: Server, network: NetworkSettings): ConnectionOptions | false {
  const { sslMode, host } = server;
  if (sslMode === 'disable') return false;
  const { ca, ...own } = readCertificates(server);
  // As in libpq: who names an authority wants it asked.
  if (sslMode === 'require' && ca === undefined) return { ...strictTls, ...own, rejectUnauthorized: false };
  return {
    ...strictTls,
    ...own,
    // Given a list, Node trusts nothing else, so its own certificates are named too; `sslrootcert` takes their place.
    ...(network.ca !== undefined && { ca: [...rootCertificates, network.ca] }),
    ...(ca !== undefined && { ca }),
    ...(sslMode !== 'verify-full' ? { checkServerIdentity: () => undefined } : { host }),
  };
}

async function prepareConnection(client: ClientBase): Promise<void> {
  // A connection that breaks while it is in use says so twice: to the running statement, which is enough, and here.
  client.on('error', () => undefined);
}
