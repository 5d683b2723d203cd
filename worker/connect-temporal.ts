import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { Config } from '../config/config.js';
import { TemporalUnreachableError } from './temporal-unreachable-error.js';

/** Both connections that a worker process needs. Whoever opens them closes them. */
export interface TemporalConnections {
  readonly client: Client;
  readonly native: NativeConnection;
  /** Of the cluster, as the server names itself: two clusters must not drive one ledger. */
  readonly clusterId: string;
  close(): Promise<void>;
}

/** @throws {TemporalUnreachableError} */
export async function connectTemporal(
  address: string,
  { namespace, apiKey, tls }: Config['temporal'],
): Promise<TemporalConnections> {
  const options = {
    address,
    ...(apiKey === undefined ? {} : { apiKey: apiKey.reveal() }),
    ...(tls === undefined ? {} : { tls: tlsOptions(tls) }),
  };
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
    await connection.close(); // or it would go on trying
    throw unreachable(address, error, found);
  }
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

function unreachable(address: string, error: unknown, namespace: string | undefined): TemporalUnreachableError {
  const why = error instanceof Error ? error.message.split('\n')[0] : String(error);
  const where = namespace === undefined ? address : `${address}, namespace ${namespace}`;
  return new TemporalUnreachableError(
    `Temporal at ${where} cannot be used (${why}): check temporal.address, temporal.namespace and that the server is running`,
    { cause: error },
  );
}
