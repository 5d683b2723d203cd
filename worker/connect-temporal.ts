import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { Config } from '../config/config.js';
import { TemporalUnreachableError } from './failure-kind.js';

/** Both connections of a worker process. The caller closes them. */
export interface TemporalConnections {
  readonly client: Client;
  readonly native: NativeConnection;
  /** The cluster's id, by which a second cluster for one ledger is recognized and refused. */
  readonly clusterId: string;
  close(): Promise<void>;
}

/** Connects to a Temporal server. @throws {TemporalUnreachableError} */
export async function connectTemporal(address: string, temporal: Config['temporal']): Promise<TemporalConnections> {
  const { namespace } = temporal;
  const options = connectionOptions(address, temporal);
  const connection = Connection.lazy({ ...options, connectTimeout: '10 seconds' });
  let found: string | undefined;
  try {
    await connection.ensureConnected();
    found = namespace;
    const { clusterId } = await connection.workflowService.getClusterInfo({});
    await connection.workflowService.describeNamespace({ namespace });
    const native = await NativeConnection.connect(options);
    const client = new Client({ connection, namespace });
    const close = async (): Promise<void> => {
      await native.close();
      await connection.close();
    };
    return { client, native, clusterId, close };
  } catch (error) {
    await connection.close(); // otherwise it retries forever
    throw unreachable(address, error, found);
  }
}

/**
 * A client for a process that only serves the API. It does not wait for Temporal: calls fail while Temporal cannot be
 * reached, and succeed as soon as it can. The caller closes it.
 */
export function openTemporalClient(
  address: string,
  temporal: Config['temporal'],
): Pick<TemporalConnections, 'client' | 'close'> {
  const connection = Connection.lazy(connectionOptions(address, temporal));
  const client = new Client({ connection, namespace: temporal.namespace });
  return { client, close: () => connection.close() };
}

function connectionOptions(address: string, { apiKey, tls }: Config['temporal']) {
  return {
    address,
    ...(apiKey === undefined ? {} : { apiKey: apiKey.reveal() }),
    ...(tls === undefined ? {} : { tls: tlsOptions(tls) }),
  };
}

function tlsOptions(tls: NonNullable<Config['temporal']['tls']>): object {
  const { ca, certificate, key } = tls;
  return {
    ...(ca === undefined ? {} : { serverRootCACertificate: Buffer.from(ca) }),
    ...(certificate === undefined || key === undefined
      ? {}
      : { clientCertPair: { crt: Buffer.from(certificate), key: Buffer.from(key.reveal()) } }),
  };
}

/**
 * Returns the error for a Temporal server that cannot be used.
 * @param namespace set if the server answered and refused this namespace
 */
export function unreachable(address: string, error: unknown, namespace?: string): TemporalUnreachableError {
  const why = error instanceof Error ? error.message.split('\n')[0] : String(error);
  const where = namespace === undefined ? address : `${address}, namespace ${namespace}`;
  return new TemporalUnreachableError(
    `Temporal at ${where} cannot be used (${why}): check temporal.address, temporal.namespace and that the server is running`,
    { cause: error },
  );
}
