import { rootCertificates, type ConnectionOptions } from 'node:tls';
import { type ClientBase, Pool, type PoolConfig } from 'pg';
import { tlsOptionsOf } from '../../base/postgres-tls.js';
import type { NetworkSettings } from '../sink.js';
import { readCertificates, type Server } from './config.js';

/** One connection for each lane of a sink that sends at the same time. */
const CONNECTIONS = 4;

interface ConnectOptions {
  readonly connectTimeoutMs: number;
  /** The server ends a statement that takes longer. */
  readonly statementTimeoutMs: number;
}

/** Wait beyond the server's statement timeout before the connection counts as dead. */
const ANSWER_MARGIN_MS = 5_000;

/**
 * Creates the pool of connections, which opens each when it is needed. It uses neither `network.proxy`, which is for
 * HTTP, nor the guard against private addresses, because most databases are in a private network.
 */
export function createPool(server: Server, network: NetworkSettings, options: ConnectOptions): Pool {
  const config: PoolConfig = {
    host: server.host,
    port: server.port,
    user: server.user,
    database: server.database,
    // a function: without a password, the driver would read its environment variable or file
    password: () => server.password ?? '',
    ssl: tlsOptions(server, network),
    enableChannelBinding: server.channelBinding,
    ...(server.options !== undefined && { options: server.options }),
    max: CONNECTIONS,
    connectionTimeoutMillis: server.connectTimeoutMs ?? options.connectTimeoutMs,
    idleTimeoutMillis: 60_000,
    // for a server that disappeared (a cut network): nothing else would end the wait
    query_timeout: options.statementTimeoutMs + ANSWER_MARGIN_MS,
    keepAlive: true,
    application_name: server.applicationName ?? 'pigeonpost',
    onConnect: prepareConnection as (client: ClientBase) => void, // awaited, despite its type
  };
  const pool = new Pool(config);
  pool.on('error', () => undefined); // an idle connection broke: the pool dropped it and opens another when needed
  return pool;
}

function tlsOptions(server: Server, network: NetworkSettings): ConnectionOptions | false {
  const { tlsMode, host } = server;
  if (tlsMode === 'disable') return false;
  return {
    host,
    ...tlsOptionsOf(tlsMode),
    // With a list, Node trusts nothing else, so its own certificates are included; `sslrootcert` replaces them.
    ...(network.ca !== undefined && { ca: [...rootCertificates, network.ca] }),
    ...readCertificates(server),
  };
}

async function prepareConnection(client: ClientBase): Promise<void> {
  // A connection that breaks in use reports it twice: to the running statement, which is enough, and here.
  client.on('error', () => undefined);
}
