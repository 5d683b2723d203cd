import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from './config-error.js';
import { loadConfig } from './load-config.js';
import {
  errorOf,
  loadText,
  problemsOf,
  sinkSchemas,
  smallest,
  smallestEnvironment,
  smallestWith,
} from './load-text.test-kit.js';

/** The smallest file; the line numbers below refer to it: the sync is in lines 5 to 8, the sink in 9 to 12. */
const inSync = (lines: string) => smallestWith({ replace: 'workspace: acme\n', by: `workspace: acme\n${lines}` });
const atEnd = (lines: string) => smallestWith({ append: lines });

describe('the smallest file', () => {
  it('loads with all defaults', async () => {
    const config = await loadText(smallest, smallestEnvironment);
    expect(config).toMatchObject({
      syncs: {
        conferences: {
          pigeonholes: {},
          lists: 'auto',
          everyMs: { live: 5_000, new: 3_600_000, upcoming: 300_000, ended: 21_600_000, sweep: 1_800_000, lists: {} },
          drop: {},
        },
      },
      sinks: {
        archive: {
          type: 'file',
          settings: { folder: './archive' },
          history: 'all',
          mode: 'send',
          onConsentWithdrawn: 'keep',
          onForget: 'clear-our-fields',
          audit: 86_400_000,
        },
      },
      store: { kind: 'embedded', folder: join(config.folder, 'data') },
      temporal: { address: 'embedded', namespace: 'default', taskQueue: 'pigeonpost', maxCachedWorkflows: 600 },
      server: { host: '127.0.0.1', port: 8088, maxConnectionsPerAddress: 250 },
      network: { allowHosts: [], maxAnswerMb: 8 },
      warnings: [],
    });
    expect(config.file).toBe(join(config.folder, 'pigeonpost.yaml'));
    expect(config.workspaces.acme?.apiKey.reveal()).toBe('key-1f9c');
    expect(config.server.token).toBeUndefined();
    expect(config.network.proxy).toBeUndefined();
  });
});

describe('a file that cannot be read as configuration', () => {
  it.each<[string, string, string, string]>([
    ['an empty file', '', 'empty', '1: the file is empty; docs/configuration.md shows what it must contain'],
    [
      'only comments',
      '# nothing yet\n\n',
      'empty',
      '1: the file is empty; docs/configuration.md shows what it must contain',
    ],
    [
      'an indentation with a tab',
      'workspaces:\n\tacme: {}\n',
      'syntax',
      '2: this is not YAML: the line is indented with a tab; use spaces',
    ],
    [
      'a wrong indentation',
      'workspaces:\n    a: 1\n  b: 2\n',
      'syntax',
      '3: this is not YAML: the line is not indented like its neighbours, or a bracket before it is not closed',
    ],
    [
      'an open quote',
      'store: "embedded\n',
      'syntax',
      '2: this is not YAML: a quote, bracket or colon is missing here or just before',
    ],
    [
      'a second colon',
      'store: embedded: data\n',
      'syntax',
      '1: this is not YAML: the line has two colons; put the value in quotes, or on a line of its own',
    ],
    [
      'a line with too few spaces before one with the right number',
      'sinks:\n  archive:\n   type: file\n    folder: ./x\n',
      'syntax',
      '3: this is not YAML: this line or the next is not indented like its neighbours',
    ],
    [
      'a line with too many spaces',
      'sinks:\n  archive:\n    type: file\n      folder: ./x\n    keep: 1\n',
      'syntax',
      '3: this is not YAML: this line or the next is not indented like its neighbours',
    ],
    [
      'a second colon before other keys',
      'sinks:\n  archive:\n    type: a: b\n    keep: 1\n',
      'syntax',
      '3: this is not YAML: the line has two colons; put the value in quotes, or on a line of its own',
    ],
    [
      'a bare reference in brackets',
      'server: { token: ${TOKEN} }\n',
      'syntax',
      '1: inside { } or [ ] a reference needs quotes: write "${NAME}"',
    ],
    [
      'two documents',
      'store: a\n---\nstore: b\n',
      'syntax',
      '2: this is not YAML: a second document begins here; remove the line of three dashes',
    ],
    [
      'a list',
      '- workspaces\n',
      'invalid',
      '1: found a list, allowed: a group of keys such as workspaces, syncs, sinks',
    ],
    ['a sentence', 'hello\n', 'invalid', '1: found "hello", allowed: a group of keys such as workspaces, syncs, sinks'],
  ])('%s is reported in one sentence', async (_, text, kind, problem) => {
    expect((await errorOf(text))?.kind).toBe(kind);
    expect(await problemsOf(text)).toEqual([problem]);
  });

  describe('read from disk', () => {
    let folder: string;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'pigeonpost-config-'));
    });
    afterEach(() => rm(folder, { recursive: true }));

    const load = (file: string) =>
      loadConfig(file, {}, { sinkSchemas }).then(
        () => undefined,
        (error: unknown) => error as ConfigError,
      );

    it('is reported as missing, with the command that creates one', async () => {
      const file = join(folder, 'none.yaml');
      const error = await load(file);
      expect(error).toBeInstanceOf(ConfigError);
      expect(error).toMatchObject({
        kind: 'missing',
        message: `${file}: the file does not exist: write one with "pigeonpost init", or give another path with --config`,
      });
    });

    it('is reported as a folder', async () => {
      await mkdir(join(folder, 'here'));
      expect(await load(join(folder, 'here'))).toMatchObject({
        kind: 'unreadable',
        message: `${join(folder, 'here')}: this is a folder; name the file in it`,
      });
    });

    it('is reported if it is not UTF-8', async () => {
      const file = join(folder, 'latin1.yaml');
      await writeFile(file, Buffer.from('name: M\xfcnchen\n', 'latin1'));
      expect(await load(file)).toMatchObject({
        kind: 'unreadable',
        message: `${file}: the file is not UTF-8 text; save it as UTF-8`,
      });
    });

    it('is reported if it cannot be read', async () => {
      const file = join(folder, 'loop.yaml');
      await symlink(file, file); // a symbolic link loop, because file permissions do not stop root
      expect(await load(file)).toMatchObject({
        kind: 'unreadable',
        message: `${file}: the file cannot be read (ELOOP); check the path and its permissions`,
      });
    });

    it('is named as the user named it, without a leading ./', async () => {
      expect((await load('./none/such.yaml'))?.file).toBe(join('none', 'such.yaml'));
    });
  });
});

describe('loading', () => {
  const load = (text: string, environment = {}, files = {}) =>
    loadText(text, { ...smallestEnvironment, ...environment }, files);

  it('reads numbers, booleans and words from the environment as if they were in the file', async () => {
    const text =
      inSync('    every: { live: "${LIVE}" }\n    pigeonholes: ["${FIRST}", 102]\n') +
      '  hooks:\n    type: webhook\n    url: ${HOOK_URL}\n    secret: ${HOOK_SECRET}\n    allowPrivateAddresses: ${PRIVATE}\nserver: { port: "${PORT}" }\n';
    const config = await load(text, {
      LIVE: '7s',
      FIRST: '101',
      HOOK_URL: 'https://hooks.example.com/x',
      HOOK_SECRET: 's',
      PRIVATE: 'true',
      PORT: '9000',
    });
    expect(config.syncs.conferences).toMatchObject({ everyMs: { live: 7_000 }, pigeonholes: { ids: [101, 102] } });
    expect(config.sinks.hooks?.settings).toMatchObject({
      url: 'https://hooks.example.com/x',
      allowPrivateAddresses: true,
    });
    expect(config.server.port).toBe(9_000);
  });

  it('accepts one secret or a list of secrets, and omits absent ones', async () => {
    const hooks = (written: string) =>
      atEnd(`  hooks:\n    type: webhook\n    url: https://hooks.example.com\n    secret: ${written}\n`);
    const secretsOf = async (written: string) =>
      (await load(hooks(written), { A: 'one', B: 'two' })).sinks.hooks?.settings as { secret: unknown };
    const revealed = ({ secret }: { secret: unknown }) =>
      [secret].flat().map((one) => (one as { reveal(): string }).reveal());
    expect(revealed(await secretsOf('${A}'))).toEqual(['one']);
    expect(revealed(await secretsOf('["${A}", "${B}"]'))).toEqual(['one', 'two']);
    expect(revealed(await secretsOf('["${C:-}", "${B}"]'))).toEqual(['two']);
  });

  it('accepts a sync with every key', async () => {
    const text = inSync(
      '    pigeonholes: { status: [live, upcoming], name: "^ACME ", startsAfter: 2026-01-01, exclude: [99] }\n' +
        '    lists: [attendees, votes]\n' +
        '    every: { live: 1s, new: 2h, upcoming: 10m, ended: 1d, sweep: 1h, lists: { votes: 15s } }\n' +
        '    deletions: { settle: 2h, holdAbove: { share: 10% } }\n' +
        '    drop: { attendees: [linkedIn, "Dietary needs"] }\n',
    );
    expect((await load(text)).syncs.conferences).toEqual({
      workspace: 'acme',
      pigeonholes: { status: ['live', 'upcoming'], name: '^ACME ', startsAfter: '2026-01-01', exclude: [99] },
      lists: ['attendees', 'votes'],
      everyMs: {
        live: 1_000,
        quiet: 1_000, // an explicit interval applies outside session times as well
        new: 7_200_000,
        upcoming: 600_000,
        ended: 86_400_000,
        longestEnded: 86_400_000,
        sweep: 3_600_000,
        lists: { votes: 15_000 },
      },
      deletions: { settleMs: 7_200_000, confirmMs: 30_000, holdAbove: { share: 0.1, items: 50 } },
      drop: { attendees: ['linkedIn', 'Dietary needs'] },
      sinks: ['archive'],
    });
  });

  it('reads the keys that all sinks share, and leaves the other keys to the sink type', async () => {
    const text = atEnd(
      '    history: all\n    mode: send\n    lists: [votes]\n    consent: { accept: [obtained, not-asked], basis: "own records" }\n',
    );
    expect((await load(text)).sinks.archive).toEqual({
      type: 'file',
      settings: { folder: './archive' },
      lists: ['votes'],
      consent: { accept: ['obtained', 'not-asked'], basis: 'own records' },
      history: 'all',
      mode: 'send',
      onConsentWithdrawn: 'keep',
      onForget: 'clear-our-fields',
      audit: 86_400_000,
    });
  });

  it.each([
    ['', 'data'],
    ['store: embedded:ledger\n', 'ledger'],
    ['store: ${STORE:-embedded:./other}\n', 'other'],
    ['store: ${FOLDER}\n', 'from-environment'],
  ])('%j keeps the ledger in the folder %s next to the file', async (line, folder) => {
    const config = await load(atEnd(line), { FOLDER: 'embedded:from-environment' });
    expect(config.store).toEqual({ kind: 'embedded', folder: join(config.folder, folder) });
  });

  it.each([
    ['store: ${STORE:-embedded:./data}\n', 'postgres://me:word@db/ledger'],
    ['store: postgres://me:${WORD}@db/ledger\n', 'postgres://me:word@db/ledger'],
    ['store: postgresql://db/ledger\n', 'postgresql://db/ledger'],
  ])('%j keeps the ledger in %s', async (line, url) => {
    const { store } = await load(atEnd(line), {
      STORE: 'postgres://me:word@db/ledger',
      WORD: 'word',
      TEMPORAL_ADDRESS: 'temporal:7233',
    });
    expect(store.kind === 'postgres' && store.url.reveal()).toBe(url);
  });

  const certificate = '-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n';

  it('reads certificates from their files', async () => {
    const text = atEnd(
      'temporal:\n  address: "[::1]:7233"\n  tls: { ca: ca.pem, certificate: own.pem, key: "${file:own.key}" }\nnetwork: { ca: "${file:ca.pem}" }\n',
    );
    const { temporal, network } = await load(
      text,
      {},
      { 'ca.pem': certificate, 'own.pem': `own\n${certificate}`, 'own.key': 'key' },
    );
    expect(temporal).toMatchObject({
      address: '[::1]:7233',
      tls: { ca: certificate, certificate: `own\n${certificate}` },
    });
    expect(temporal.tls?.key?.reveal()).toBe('key');
    expect(network.ca).toBe(certificate.trimEnd());
  });

  it.each([
    ['  tls: {}\n', {}],
    ['  apiKey: ${ACME_API_KEY}\n', {}],
    ['', undefined],
  ])('with %j uses TLS to Temporal: %j', async (lines, tls) => {
    expect((await load(atEnd(`temporal:\n  address: temporal:7233\n${lines}`))).temporal.tls).toEqual(tls);
  });

  it.each([
    ['', { HTTPS_PROXY: 'http://upper:1' }, 'http://upper:1'],
    ['', { HTTPS_PROXY: 'http://upper:1', https_proxy: 'http://lower:1' }, 'http://lower:1'],
    ['', { https_proxy: 'lower:1' }, 'http://lower:1'],
    ['', { HTTPS_PROXY: '' }, undefined],
    ['network: { proxy: "${OWN_PROXY:-}" }\n', { HTTPS_PROXY: 'http://upper:1' }, 'http://upper:1'],
    ['network: { proxy: "http://own:1" }\n', { HTTPS_PROXY: 'nonsense://x' }, 'http://own:1'],
    ['network: { proxy: "${OWN_PROXY}" }\n', { OWN_PROXY: 'http://me:word@own:1' }, 'http://me:word@own:1'],
    ['network: { proxy: none }\n', { HTTPS_PROXY: 'http://upper:1' }, undefined],
  ])('with %j in the file and %j in the environment uses the proxy %s', async (line, environment, proxy) => {
    expect((await load(atEnd(line), environment)).network.proxy?.reveal()).toBe(proxy);
  });

  it.each([
    ['', { NO_PROXY: 'upper' }, 'upper'],
    ['', { NO_PROXY: 'upper', no_proxy: 'lower' }, 'lower'],
    ['network: { noProxy: own }\n', { NO_PROXY: 'upper' }, 'own'],
  ])('with %j in the file and %j in the environment bypasses the proxy for %s', async (line, environment, noProxy) => {
    expect((await load(atEnd(line), environment)).network.noProxy).toBe(noProxy);
  });

  it('refuses an invalid proxy in the environment', async () => {
    const message = 'the environment variable HTTPS_PROXY holds no http or https URL; correct it, or set network.proxy';
    expect(await problemsOf(smallest, { ...smallestEnvironment, HTTPS_PROXY: 'socks://me:word@x' })).toEqual([
      `1: network.proxy: ${message}`,
    ]);
  });

  it('accepts an address off loopback with a token', async () => {
    const { server } = await load(atEnd('server: { host: 0.0.0.0, port: 0, token: "${TOKEN}" }\n'), {
      TOKEN: 'a-long-word-0123456789abc',
    });
    expect(server).toMatchObject({ host: '0.0.0.0', port: 0 });
    expect(server.token?.reveal()).toBe('a-long-word-0123456789abc');
  });

  it('warns about a sink that no sync names', async () => {
    const config = await load(atEnd('  spare:\n    type: file\n    folder: ./spare\n'));
    expect(config.warnings).toEqual([
      {
        line: 13,
        column: 3,
        key: 'sinks.spare',
        message: 'no sync names this sink, so nothing is sent to it; add it to the sinks of one',
      },
    ]);
  });
});
