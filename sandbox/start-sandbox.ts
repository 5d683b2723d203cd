import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Controlled } from './control/control-routes.js';
import { isControlPath, serveControl } from './control/serve-control.js';
import { resolveOptions, type SandboxOptions } from './options.js';
import { Faults } from './service/faults.js';
import { knobsSchema } from './service/knobs.js';
import { PageCache, type ServiceState } from './service/service.js';
import { Quota } from './service/quota.js';
import { RequestLog, serveRequest } from './service/serve-request.js';
import { Conference } from './world/conference.js';
import { Traffic } from './world/traffic.js';

export interface Sandbox {
  /** `http://127.0.0.1:<port>`, without the path (such as `/v2/pigeonholes`). */
  baseUrl: string;
  port: number;
  apiKeys: readonly string[];
  /** Stops live events and closes every connection. A second call does nothing. */
  close(): Promise<void>;
}

/**
 * Starts the Event Engagement Service on loopback: a seeded conference, live traffic unless frozen, and the
 * control API under `/_control/`. Several can run in one process.
 * @throws {RangeError} for an option outside its range, and the server's error when the port is taken
 */
export async function runSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const now = (): number => Date.now();
  const resolved = resolveOptions(options, now());
  const conference = new Conference(resolved, resolved.workspaceKind);
  const knobs = knobsSchema.parse(resolved.knobs);
  const service: ServiceState = {
    conference,
    workspaceKind: resolved.workspaceKind,
    apiKeys: new Set(resolved.apiKeys),
    knobs,
    faults: new Faults(resolved.seed),
    quota: new Quota(),
    log: new RequestLog(),
    pages: new PageCache(),
    now,
  };
  for (const fault of resolved.faults) service.faults.add(fault);
  const traffic = new Traffic({ conference, seed: resolved.seed, now, settings: () => service.knobs });
  const controlled: Controlled = { service, traffic, rate: resolved.rate, initialKnobs: knobs };

  const server = createServer((incoming, response) => {
    const served = isControlPath(incoming.url ?? '')
      ? serveControl(controlled, incoming, response)
      : serveRequest(service, incoming, response);
    served.catch((error: unknown) => answerBug(error, incoming, response));
  });
  server.keepAliveTimeout = 60_000;
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', reject);
    server.listen(resolved.port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
  if (!resolved.frozen) traffic.thaw(resolved.rate);

  let closed: Promise<void> | null = null;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    port,
    apiKeys: resolved.apiKeys,
    close: () => {
      closed ??= new Promise((resolve) => {
        traffic.freeze();
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return closed;
    },
  };
}

/** An unexpected error is a defect of the sandbox. Make it visible, so that nobody mistakes it for a service fault. */
function answerBug(error: unknown, incoming: IncomingMessage, response: ServerResponse): void {
  if (incoming.destroyed && !incoming.complete) return; // the client closed the connection while it sent its body
  process.stderr.write(
    `sandbox: ${incoming.method} ${incoming.url}: ${error instanceof Error ? error.stack : String(error)}\n`,
  );
  if (response.headersSent) response.destroy();
  else
    response.writeHead(500, { 'Content-Type': 'text/plain' }).end('the sandbox itself failed; see its standard error');
}
