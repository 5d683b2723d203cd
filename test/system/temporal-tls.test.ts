import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createSecureServer, type IncomingHttpHeaders } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type TLSSocket } from 'node:tls';
import { runInThisContext } from 'node:vm';
import { connectTemporal } from '../../worker/connect-temporal.js';
import { loadProcessConfig } from '../../operations/load-process-config.js';
import { Authority, type KeyPair } from '../kit/certificates.js';
import { temporalForTests } from '../temporal.js';

/** Node's own environment: Jest gives tests a copy, which TLS does not read. */
const { env: environment } = runInThisContext('process') as NodeJS.Process;

/**
 * `temporal.tls` and `temporal.apiKey`, as Temporal Cloud and self-hosted clusters require them: both connections, the
 * client's and the worker's, use the settings of pigeonpost.yaml. The server is the tests' own behind a proxy that
 * requires a certificate; a second server records the API key that it receives.
 */
const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-tls-'));
const closers: (() => void)[] = [];
let authority: Authority;
let server: KeyPair;
let client: KeyPair;

beforeAll(() => {
  authority = new Authority(folder);
  server = authority.issue('server');
  client = authority.issue('client');
});
afterAll(() => {
  for (const close of closers) close();
  rmSync(folder, { recursive: true });
});

/** Ends TLS before the tests' Temporal. @returns where it listens, and how many connections showed a certificate */
async function proxyWithTls(): Promise<{ address: string; authorized: () => number }> {
  const [host, port] = temporalForTests().address.split(':');
  let authorized = 0;
  const sockets = new Set<{ destroy(): unknown }>();
  const proxy = createServer(
    {
      cert: server.certificate,
      key: server.key,
      ca: authority.certificate,
      requestCert: true,
      rejectUnauthorized: true,
      ALPNProtocols: ['h2'],
    },
    (socket: TLSSocket) => {
      authorized += 1;
      const behind = connect(Number(port), host);
      sockets.add(socket).add(behind);
      socket.on('error', () => behind.destroy()).pipe(behind);
      behind.on('error', () => socket.destroy()).pipe(socket);
    },
  );
  await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  return { address: `127.0.0.1:${(proxy.address() as AddressInfo).port}`, authorized: () => authorized };
}

/** Starts a server that refuses every request and records it. */
async function serverThatListens(): Promise<{ address: string; sent: IncomingHttpHeaders[] }> {
  const sent: IncomingHttpHeaders[] = [];
  const refusing = createSecureServer({ cert: server.certificate, key: server.key });
  refusing.on('stream', (stream, headers) => {
    sent.push(headers);
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '16' }, { endStream: true });
  });
  await new Promise<void>((listening) => refusing.listen(0, '127.0.0.1', listening));
  closers.push(() => void refusing.close());
  return { address: `127.0.0.1:${(refusing.address() as AddressInfo).port}`, sent };
}

/** Reads the settings like a process: certificates from files, the key from the environment. */
async function temporalFrom(address: string, more: readonly string[], environment: Record<string, string> = {}) {
  writeFileSync(join(folder, 'ca.pem'), authority.certificate);
  writeFileSync(join(folder, 'client.pem'), client.certificate);
  const file = join(folder, 'pigeonpost.yaml');
  const lines = [
    'workspaces: { acme: { baseUrl: "http://127.0.0.1:9", apiKey: "${SERVICE_KEY}" } }',
    'syncs: { all: { workspace: acme, sinks: [archive] } }',
    'sinks: { archive: { type: file, folder: ./archive } }',
    'temporal:',
    ...[`address: ${address}`, ...more].map((line) => `  ${line}`),
  ];
  writeFileSync(file, lines.join('\n'));
  return (await loadProcessConfig(file, { SERVICE_KEY: 'a-key', ...environment })).temporal;
}

describe('temporal.tls', () => {
  it('connects the client and the worker to a server that requires a certificate', async () => {
    const { address, authorized } = await proxyWithTls();
    const temporal = await temporalFrom(
      address,
      ['tls: { ca: ca.pem, certificate: client.pem, key: "${CLIENT_KEY}" }'],
      { CLIENT_KEY: client.key },
    );
    const connections = await connectTemporal(address, temporal);
    expect(connections.clusterId).not.toBe('');
    expect(authorized()).toBe(2);
    await connections.close();
  });

  it('fails without a client certificate, with another authority and without TLS, and prints no key', async () => {
    const { address } = await proxyWithTls();
    const wrong = [['tls: { ca: ca.pem }'], ['tls: {}'], []];
    const failures: unknown[] = [];
    for (const more of wrong) failures.push(connectTemporal(address, await temporalFrom(address, more)));
    const settled = await Promise.allSettled(failures);
    for (const each of settled) {
      expect(each).toMatchObject({ status: 'rejected', reason: { name: 'TemporalUnreachableError' } });
      const { message } = (each as PromiseRejectedResult).reason as Error;
      expect(message).toContain(`Temporal at ${address} cannot be used`);
      expect(message).not.toContain('BEGIN');
    }
  });
});

describe('temporal.apiKey', () => {
  it('sends the key over TLS as Temporal Cloud expects it, and no error contains it', async () => {
    const { address, sent } = await serverThatListens();
    const temporal = await temporalFrom(
      address,
      ['namespace: acme.a1b2c', 'apiKey: "${TEMPORAL_API_KEY}"', 'tls: { ca: ca.pem }'],
      { TEMPORAL_API_KEY: 'a-key-of-the-cloud' },
    );
    const failure = await connectTemporal(address, temporal).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'TemporalUnreachableError' });
    expect(String(failure)).not.toContain('a-key-of-the-cloud');
    expect(sent.length).toBeGreaterThan(0);
    for (const headers of sent) expect(headers).toMatchObject({ authorization: 'Bearer a-key-of-the-cloud' });
  });

  it('is not sent to a server without a trusted certificate, regardless of the environment', async () => {
    const { address, sent } = await serverThatListens();
    const temporal = await temporalFrom(address, ['apiKey: "${TEMPORAL_API_KEY}"', 'tls: {}'], {
      TEMPORAL_API_KEY: 'a-key-of-the-cloud',
    });
    environment['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      await expect(connectTemporal(address, temporal)).rejects.toMatchObject({ name: 'TemporalUnreachableError' });
    } finally {
      delete environment['NODE_TLS_REJECT_UNAUTHORIZED'];
    }
    expect(sent).toEqual([]);
  });
});
