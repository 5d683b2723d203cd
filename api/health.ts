import type { ApiSources, ApiApp, AccessSources } from './api-app.js';
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { listen } from './listen.js';
import { findToken } from '../ledger/tokens.js';
import { administratorsTokens } from './authenticate.js';
import { Refused } from './problem.js';
import { hashToken, tokenIdOf, type InstanceAnswer, proofKey, prove, realPath, storeName } from './credentials.js';

// Answers without a token: probes, and which pigeonpost this is.

/** A part that a process depends on. */
export interface PartHealth {
  readonly part: 'store' | 'temporal' | 'worker';
  readonly ready: boolean;
}

/** The parts that are not ready. */
async function lacksOf({ health }: Pick<ApiSources, 'health'>): Promise<string[]> {
  return (await health()).filter(({ ready }) => !ready).map(({ part }) => part);
}

/**
 * `GET /healthz` answers while the process runs. `GET /readyz` answers 200 if a worker can do its work, or if the store
 * of an API process answers; otherwise 503 and the missing parts. Both need no token and accept any host name, so they
 * show nothing else.
 */
export function serveHealth(app: ApiApp, sources: Pick<ApiSources, 'health'>): void {
  app.get('/healthz', (c) => c.text('ok'));
  app.get('/readyz', async (c) => {
    const lacks = await lacksOf(sources);
    return lacks.length === 0 ? c.text('ok') : c.text(`not ready: ${lacks.join(', ')}`, 503);
  });
}

/**
 * `/healthz` and `/readyz` at a separate address, so that a client that uses all connections of the API cannot block
 * them.
 */
interface ProbeServer {
  /** The address for clients on this machine. */
  readonly url: string;
  /** Called when the process is ready. Until then it is alive and not ready. */
  serve(sources: Pick<ApiSources, 'health'>): void;
  close(): Promise<void>;
}

/** Maximum number of connections. A probe opens one, sends a request, and closes it. */
const maxProbeConnections = 100;
const withinMs = 5000;

/** @throws {ListenError} with one sentence */
export async function startProbes({
  host,
  port,
}: {
  readonly host: string;
  readonly port: number;
}): Promise<ProbeServer> {
  let ready = async (): Promise<string[]> => ['start'];
  const server = createServer(
    { headersTimeout: withinMs, requestTimeout: withinMs, connectionsCheckingInterval: 1000, maxHeaderSize: 8 * 1024 },
    (request, response) => {
      const answer = (status: number, text: string): void => {
        response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
        response.end(text);
      };
      const [path] = (request.url ?? '').split('?');
      if (request.method !== 'GET' && request.method !== 'HEAD') answer(405, 'only GET is answered here');
      else if (path === '/healthz') answer(200, 'ok');
      else if (path === '/readyz') {
        ready().then(
          (lacks) => (lacks.length === 0 ? answer(200, 'ok') : answer(503, `not ready: ${lacks.join(', ')}`)),
          () => answer(503, 'not ready'),
        );
      } else answer(404, 'only /healthz and /readyz are answered here');
    },
  );
  server.maxConnections = maxProbeConnections;
  await listen(server, { host, port, key: 'server.probes' });
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`,
    serve: (sources) => {
      ready = () => lacksOf(sources);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * `GET /instance?challenge=…` proves which pigeonpost this is. Clients call it before they send their token, because
 * they must not send it to another process. The answer names no person, no event and no path.
 */
export function serveInstance(app: ApiApp, sources: ApiSources): void {
  const keys = new ProofKeys(sources);
  app.get('/instance', async (c) => {
    const challenge = c.req.query('challenge') ?? '';
    const id = c.req.query('token');
    if (!challengeForm.test(challenge) || (id !== undefined && !/^[0-9a-f]{16}$/.test(id))) {
      throw new Refused(
        400,
        'write "challenge" (32 to 64 random characters of base64url) and, for a named token, "token"',
      );
    }
    const { config, ledger, version } = sources;
    const key = await keys.of(id);
    const answer: InstanceAnswer = {
      pigeonpost: version,
      ledger: ledger.id,
      proof: prove(key, challenge, 'ledger', ledger.id),
      store: prove(key, challenge, 'store', storeName(config.store)),
      file: prove(key, challenge, 'file', realPath(config.file)),
    };
    return c.json(answer);
  });
}

/** The keys of proofs. A key that is slow to compute is computed once, however many clients request a proof. */
class ProofKeys {
  #configured: { readonly token: string; readonly key: Promise<Buffer> } | undefined;

  constructor(private readonly sources: AccessSources) {}

  /**
   * Returns the key for the token with this id, or for `server.token` without one. For an unknown token, it returns a key
   * that nobody else has, so the proof is invalid.
   */
  async of(id: string | undefined): Promise<Buffer> {
    const { ledger } = this.sources;
    const own = administratorsTokens(this.sources).map(({ text }) => text);
    const token = own.find((text) => tokenIdOf(text) === id);
    if (token === undefined)
      return (id === undefined ? undefined : await findToken(ledger, id))?.hash ?? randomBytes(32);
    if (id !== undefined) return hashToken(token);
    if (this.#configured?.token !== token) this.#configured = { token, key: proofKey(token, ledger.id) };
    return await this.#configured.key;
  }
}

/** Random text from the command. The proof is valid for this one request. */
const challengeForm = /^[A-Za-z0-9_-]{32,64}$/;
