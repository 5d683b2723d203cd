import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiSources, emptyConfig } from '../api/api-sources.test-kit.js';
import { startApi } from '../api/start-api.js';
import { hashToken, type InstanceAnswer, makeToken, prove, realPath } from '../api/credentials.js';
import type { Config } from '../config/config.js';
import { Secret } from '../config/secret.js';
import type { Ledger } from '../ledger/ledger.js';
import { freeTestPort } from '../test/free-port.js';
import { instanceOf } from './api-client.js';
import { checkGiven, findInstance, type InstanceConfig } from './find-instance.js';
import type { Output } from './output.js';

const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-instance-'));
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});
afterAll(() => rmSync(folder, { recursive: true }));

interface Installation {
  readonly config: InstanceConfig;
  readonly ledger: string;
  /** The generated token. */
  readonly token: string;
}

/** Creates a folder with a configuration and the token that the first start generated. */
function installation(
  name: string,
  more: Partial<InstanceConfig['server']> = {},
  { writes = true }: { readonly writes?: boolean } = {},
): Installation {
  const store = join(folder, name, 'data');
  mkdirSync(store, { recursive: true });
  const token = makeToken().text;
  if (writes) writeFileSync(join(store, 'api.token'), token);
  const config: InstanceConfig = {
    file: join(folder, name, 'pigeonpost.yaml'),
    folder: join(folder, name),
    store: { kind: 'embedded', folder: store },
    server: { host: '127.0.0.1', port: 1, ...more },
  };
  return { config, ledger: `ledger of ${name}`, token };
}

/** Serves the API of this installation. @returns the port */
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

/** Writes the file that the process leaves in its data folder. */
function noted({ config, ledger }: Installation, port: number): void {
  const file = join((config.store as { folder: string }).folder, 'api.instance');
  writeFileSync(file, JSON.stringify({ url: `http://127.0.0.1:${port}`, ledger, pid: 1 }));
}

describe('a command whose file can no longer be used', () => {
  const valid = [
    'workspaces:\n  acme: { baseUrl: "https://engagement.example.com", apiKey: "${KEY}" }\n',
    'sinks:\n  archive: { type: file, folder: ./archive }\n',
  ];
  const context = (file: string, notes: string[]) => {
    const note = (text: string): void => void notes.push(text);
    return { config: file, out: { note } as unknown as Output };
  };

  it.each<[string, string | null]>([
    ['a missing colon', `${valid[0]}sinks\n  archive: { type: file }\n`],
    ['a line that is indented wrongly', `${valid.join('')}syncs:\n   all: { workspace: acme }\n  other: {}\n`],
    ['a quote that is not closed', `store: embedded:./data\nsinks: { archive: "file }\n`],
    ['marks of a merge', `<<<<<<< mine\n${valid.join('')}=======\n>>>>>>> theirs\n`],
    ['a server that cannot be read', `server: { port: [ }\n${valid.join('')}`],
    ['an invalid server', `server: { port: many }\n${valid.join('')}`],
    ['an invalid store', `store: ledger\n${valid.join('')}`],
    ['the same key twice', `server: { port: 1 }\nserver: { port: 2 }\n`],
    ['nothing in it', ''],
    ['no file at all', null],
  ])('finds the pigeonpost that runs, and says that the next start would fail: %s', async (mistake, text) => {
    const own = installation(`broken by ${mistake}`);
    const port = await serve(own);
    noted(own, port);
    if (text !== null) writeFileSync(own.config.file, text);
    const notes: string[] = [];
    const { address } = await instanceOf(context(own.config.file, notes));
    expect(await address()).toEqual({ url: `http://127.0.0.1:${port}`, token: own.token });
    expect(notes).toEqual([
      expect.stringContaining('pigeonpost.yaml'),
      expect.stringMatching(/is not affected, but its next start would fail: correct .*"pigeonpost check"$/),
    ]);
  });

  it('finds it at the store that the file still names', async () => {
    const own = installation('broken elsewhere');
    const moved = join(own.config.folder, 'kept');
    const config = { ...own.config, store: { kind: 'embedded', folder: moved } as const };
    mkdirSync(moved);
    writeFileSync(join(moved, 'api.token'), own.token);
    const port = await serve({ ...own, config });
    noted({ ...own, config }, port);
    writeFileSync(config.file, `# mine\nstore: embedded:./kept # here\n${valid[0]}sinks\n  archive: { }\n`);
    const { config: found, address } = await instanceOf(context(config.file, []));
    expect(await address()).toMatchObject({ url: `http://127.0.0.1:${port}` });
    expect(found?.workspaces).toEqual(['acme']);
  });

  it('ends with the problem of the file if no pigeonpost runs', async () => {
    const own = installation('broken and stopped');
    writeFileSync(own.config.file, 'sinks\n  archive: { }\n');
    noted(own, await freeTestPort());
    await expect(instanceOf(context(own.config.file, []))).rejects.toMatchObject({ name: 'ConfigError' });
  });

  it('sends nothing to another pigeonpost that listens there', async () => {
    const [own, other] = [installation('broken and replaced'), installation('another one')];
    writeFileSync(own.config.file, 'sinks\n  archive: { }\n');
    noted(own, await serve(other));
    await expect(instanceOf(context(own.config.file, []))).rejects.toMatchObject({ name: 'ConfigError' });
  });
});

const at = (config: InstanceConfig, port: number): InstanceConfig => ({
  ...config,
  server: { ...config.server, port },
});

/** Starts a program that answers every request with a body. @returns its port, and the headers it received */
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

describe('the pigeonpost of a configuration', () => {
  it('is found at the address that it recorded, even if the configuration has changed since', async () => {
    const own = installation('moved');
    const port = await serve(own);
    noted(own, port);
    expect(await findInstance(own.config)).toEqual({ url: `http://127.0.0.1:${port}`, token: own.token });
  });

  it('is found at the configured address if the recorded address belonged to a killed process', async () => {
    const own = installation('killed');
    const port = await serve(own);
    noted(own, await freeTestPort());
    expect(await findInstance(at(own.config, port))).toMatchObject({ url: `http://127.0.0.1:${port}` });
    noted(own, await serve(installation('took the port')));
    expect(await findInstance(at(own.config, port))).toMatchObject({ url: `http://127.0.0.1:${port}` });
  });

  it.each([
    ['that was never started', false],
    ['that was killed, and whose port another process uses,', true],
  ])('%s is not found, and no request is sent to another process at its address', async (_, wasKilled) => {
    const port = await serve(installation('other'));
    const own = installation(`own ${wasKilled}`);
    if (wasKilled) noted(own, port);
    await expect(findInstance(at(own.config, port))).rejects.toMatchObject({
      exitCode: 3,
      message: expect.stringMatching(
        /^the pigeonpost at http:\S+ belongs to another configuration, not to .+pigeonpost\.yaml, so nothing/,
      ),
    });
  });

  describe('if several installations share one server.token', () => {
    const token = new Secret('one-token-for-staging-and-production');

    it.each([true, false])('is identified by its own token or its store (writes its own token: %s)', async (writes) => {
      const other = installation(`staging ${writes}`, { token }, { writes });
      const port = await serve(other);
      const own = installation(`production ${writes}`, { token }, { writes });
      await expect(findInstance(at(own.config, port))).rejects.toMatchObject({ exitCode: 3 });
      expect(await findInstance(at(other.config, port))).toMatchObject({
        token: writes ? other.token : token.reveal(),
      });
    });
  });

  it('is not confused with another program or an imitation, neither of which receives the token', async () => {
    const own = installation('impersonated');
    const answer = { pigeonpost: '1.0.0', ledger: own.ledger, proof: 'a', store: 'b', file: 'c' };
    for (const text of ['hello', '{}', JSON.stringify(answer)]) {
      const { port, sent } = await otherProgram(text);
      await expect(findInstance(at(own.config, port))).rejects.toMatchObject({ exitCode: 3 });
      expect(sent.map(({ authorization }) => authorization)).toEqual([undefined]);
    }
  });

  it('is found with a named token in the configuration', async () => {
    const named = makeToken();
    const own = installation('named', { token: new Secret(named.text) }, { writes: false });
    const port = await serve({ ...own, config: { ...own.config, server: { host: '127.0.0.1', port: 0 } } }, named);
    expect(await findInstance(at(own.config, port))).toMatchObject({ token: named.text });
  });
});

describe('an address given with --url', () => {
  it('is used if the pigeonpost there knows the token, and otherwise refused before the token is sent', async () => {
    const other = installation('elsewhere');
    const url = `http://127.0.0.1:${await serve(other)}`;
    expect(await checkGiven({ url, token: other.token })).toEqual({ url, token: other.token });
    await expect(checkGiven({ url, token: makeToken().text })).rejects.toMatchObject({ exitCode: 1 });
  });

  it('proves its knowledge of a chosen token only with a key that is slow to compute', async () => {
    const text = 'correct-horse-battery-staple';
    const url = `http://127.0.0.1:${await serve(installation('chosen', { token: new Secret(text) }))}`;
    expect(await checkGiven({ url, token: text })).toEqual({ url, token: text });
    await expect(checkGiven({ url, token: `${text}r` })).rejects.toMatchObject({ exitCode: 1 });

    const challenge = 'c'.repeat(43);
    const answer = (await (await fetch(`${url}/instance?challenge=${challenge}`)).json()) as InstanceAnswer;
    const proofs = [answer.proof, answer.store, answer.file];
    for (const fast of [Buffer.from(text), hashToken(text), hashToken(`${text}${answer.ledger}`)]) {
      for (const statement of ['ledger', 'store', 'file'] as const) {
        const values = [
          answer.ledger,
          realPath(join(folder, 'chosen/pigeonpost.yaml')),
          `embedded:${realPath(join(folder, 'chosen/data'))}`,
        ];
        for (const value of values) expect(proofs).not.toContain(prove(fast, challenge, statement, value));
      }
    }
  });

  it('gives a proof that nobody can check for a token that does not exist', async () => {
    const url = `http://127.0.0.1:${await serve(installation('without a chosen token'))}`;
    const ask = async (): Promise<string> => {
      const answer = await fetch(`${url}/instance?challenge=${'c'.repeat(43)}`);
      return ((await answer.json()) as InstanceAnswer).proof;
    };
    expect(await ask()).not.toBe(await ask());
  });
});
