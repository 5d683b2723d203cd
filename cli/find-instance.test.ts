import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiSources, emptyConfig } from '../api/api-sources.test-kit.js';
import { startApi } from '../api/start-api.js';
import { hashToken, makeToken } from '../api/token-text.js';
import type { Config } from '../config/config.js';
import { Secret } from '../config/secret.js';
import type { Ledger } from '../ledger/ledger.js';
import { checkGiven, findInstance, type InstanceConfig } from './find-instance.js';

const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-instance-'));
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Installation {
  readonly config: InstanceConfig;
  readonly ledger: string;
  /** The token that it has made for itself. */
  readonly token: string;
}

/** A folder with a configuration, and the token that its first start has left there. */
function installation(name: string, more: Partial<InstanceConfig['server']> = {}): Installation {
  const store = join(folder, name, 'data');
  mkdirSync(store, { recursive: true });
  const token = makeToken().text;
  writeFileSync(join(store, 'api.token'), token);
  const config: InstanceConfig = {
    file: join(folder, name, 'pigeonpost.yaml'),
    folder: join(folder, name),
    store: { kind: 'embedded', folder: store },
    server: { host: '127.0.0.1', port: 1, ...more },
  };
  return { config, ledger: `ledger of ${name}`, token };
}

/** Serves its API. @returns the port */
async function serve({ config, ledger, token }: Installation, named?: { id: string; text: string }): Promise<number> {
  const api = await startApi({ host: '127.0.0.1', port: 0 });
  closers.push(() => api.close());
  const query = async (_: string, [id]: readonly unknown[] = []): Promise<unknown[]> =>
    named !== undefined && id === named.id ? [{ hash: hashToken(named.text), roles: '' }] : [];
  api.serve(
    apiSources({
      config: { ...emptyConfig(config.server), file: config.file, store: config.store } as Config,
      ledger: { id: ledger, db: { query } } as unknown as Ledger,
      localToken: () => token,
    }),
  );
  return Number(new URL(api.url).port);
}

/** What its process has left in the data folder. */
function noted({ config, ledger }: Installation, port: number): void {
  const file = join((config.store as { folder: string }).folder, 'api.instance');
  writeFileSync(file, JSON.stringify({ url: `http://127.0.0.1:${port}`, ledger, pid: 1 }));
}

const at = (config: InstanceConfig, port: number): InstanceConfig => ({
  ...config,
  server: { ...config.server, port },
});

/** A program that answers every request with this. @returns its port, and the headers that it was sent */
async function otherProgram(answer: string): Promise<{ port: number; sent: IncomingMessage['headers'][] }> {
  const sent: IncomingMessage['headers'][] = [];
  const server: Server = createServer((request, response) => {
    sent.push(request.headers);
    response.end(answer);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  closers.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { port: (server.address() as AddressInfo).port, sent };
}

async function closedPort(): Promise<number> {
  const server = createSocketServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('a command looks for the pigeonpost of its configuration', () => {
  it('and finds it where it has noted that it listens, whatever the file says by now', async () => {
    const own = installation('moved');
    const port = await serve(own);
    noted(own, port);
    expect(await findInstance(own.config)).toEqual({ url: `http://127.0.0.1:${port}`, token: own.token });
  });

  it('and finds it where the file says, when what was noted is of a process that was killed', async () => {
    const own = installation('killed');
    const port = await serve(own);
    noted(own, await closedPort());
    expect(await findInstance(at(own.config, port))).toMatchObject({ url: `http://127.0.0.1:${port}` });
    noted(own, await serve(installation('took the port')));
    expect(await findInstance(at(own.config, port))).toMatchObject({ url: `http://127.0.0.1:${port}` });
  });

  it.each([
    ['which was never started', false],
    ['which was killed, and whose port another has', true],
  ])('%s, and asks nothing of another that answers there', async (_, wasKilled) => {
    const port = await serve(installation('other'));
    const own = installation(`own ${wasKilled}`);
    if (wasKilled) noted(own, port);
    await expect(findInstance(at(own.config, port))).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringMatching(
        /^another pigeonpost answers at http:\S+, not the one of .+pigeonpost\.yaml, and nothing/,
      ),
    });
  });

  it('although several share one server.token: by the store', async () => {
    const token = new Secret('one-token-for-staging-and-production');
    const other = installation('staging', { token });
    const port = await serve(other);
    const own = installation('production', { token });
    await expect(findInstance(at(own.config, port))).rejects.toMatchObject({ exitCode: 3 });
    expect(await findInstance(at(other.config, port))).toMatchObject({ token: token.reveal() });
  });

  it('and sends no token to another program, or to one that only pretends', async () => {
    const own = installation('impersonated');
    const answer = { pigeonpost: '1.0.0', ledger: own.ledger, proof: 'a', store: 'b', file: 'c' };
    for (const text of ['hello', '{}', JSON.stringify(answer)]) {
      const { port, sent } = await otherProgram(text);
      await expect(findInstance(at(own.config, port))).rejects.toMatchObject({ exitCode: 3 });
      expect(sent.map(({ authorization }) => authorization)).toEqual([undefined]);
    }
  });

  it('with a named token in its own configuration', async () => {
    const named = makeToken();
    const own = installation('named', { token: new Secret(named.text) });
    const port = await serve({ ...own, config: { ...own.config, server: { host: '127.0.0.1', port: 0 } } }, named);
    expect(await findInstance(at(own.config, port))).toMatchObject({ token: named.text });
  });
});

describe('an address that is given on purpose', () => {
  it('is used when the pigeonpost there knows the token, and else refused before the token is sent', async () => {
    const other = installation('elsewhere');
    const url = `http://127.0.0.1:${await serve(other)}`;
    expect(await checkGiven({ url, token: other.token })).toEqual({ url, token: other.token });
    await expect(checkGiven({ url, token: makeToken().text })).rejects.toMatchObject({ exitCode: 1 });
  });
});
