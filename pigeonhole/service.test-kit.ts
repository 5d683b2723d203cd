/** Starts an HTTP server on loopback that answers as the test specifies and records the requests. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface AskedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface TestService {
  readonly baseUrl: string;
  readonly port: number;
  readonly requests: AskedRequest[];
  close(): Promise<void>;
}

export type Respond = (request: AskedRequest, response: ServerResponse) => void;

export function startService(respond: Respond): Promise<TestService> {
  const requests: AskedRequest[] = [];
  return listen(createHttpServer(recording(requests, respond)), 'http', requests);
}

export function startTlsService(tls: ServerOptions, respond: Respond): Promise<TestService> {
  const requests: AskedRequest[] = [];
  return listen(createHttpsServer(tls, recording(requests, respond)), 'https', requests);
}

function recording(requests: AskedRequest[], respond: Respond): RequestListener {
  return (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const asked = { method, url, headers, body: Buffer.concat(chunks).toString('utf8') };
      requests.push(asked);
      respond(asked, response);
    });
  };
}

async function listen(server: Server, scheme: string, requests: AskedRequest[]): Promise<TestService> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `${scheme}://127.0.0.1:${port}`,
    port,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function answerJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req-1', ...headers });
  response.end(JSON.stringify(body));
}

/** Returns a collection envelope. `next` is the cursor of the next page, or null on the last page. */
export function collection(data: unknown[], next: string | null = null): object {
  return { data, links: { next: null }, meta: { perPage: 300, nextCursor: next, hasMore: next !== null } };
}

/** Returns a new key and a self-signed certificate for 127.0.0.1 and localhost, as PEM. */
export function makeCertificate(): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'pigeonhole-tls-'));
  try {
    const keyFile = join(folder, 'key.pem');
    const certFile = join(folder, 'cert.pem');
    const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1';
    execFileSync(
      'openssl',
      // prettier-ignore
      ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2',
        '-subj', '/CN=localhost', '-addext', names, '-keyout', keyFile, '-out', certFile],
      { stdio: 'ignore' },
    );
    return { key: readFileSync(keyFile, 'utf8'), cert: readFileSync(certFile, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
