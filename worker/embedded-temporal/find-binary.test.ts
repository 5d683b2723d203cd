import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../test/until.js';
import { toolEnvironment } from './build-program.js';
import { type BinarySources, binarySources, findBinary } from './find-binary.js';

// Scripts take the place of the servers and of Go, and print the same output. Nothing can be downloaded.

let folder: string;
let sources: BinarySources;
let progress: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'find-binary-'));
  for (const name of ['bin', 'cache', 'module']) mkdirSync(join(folder, name));
  writeFileSync(
    join(folder, 'module/go.mod'),
    'module x\n\nrequire (\n\tgithub.com/temporalio/cli v1.8.2 // indirect\n)\n',
  );
  sources = {
    explicit: undefined,
    searchFolders: [join(folder, 'bin'), join(folder, 'other')],
    cacheFolder: join(folder, 'cache'),
    goModule: join(folder, 'module'),
    downloadHost: 'temporal.invalid', // a name that never resolves (RFC 6761)
    hasProxy: false,
  };
  progress = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

const find = (more: Partial<BinarySources> = {}): Promise<string> =>
  findBinary({ ...sources, ...more }, (line) => progress.push(line));

function script(name: string, body: string): string {
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  return file;
}

const server = (version = '1.31.2'): string => `echo 'temporal version 1.8.2 (Server ${version}, UI 2.50.1)'`;

/** Creates a Go that records its builds, runs `build`, and writes a server to the requested path. */
function go(version = 'go1.26.4', build = ''): string {
  return script(
    'bin/go',
    `if [ "$1" = env ]; then echo ${version}; exit; fi
     echo "$PWD $*" >> ${join(folder, 'builds')}
     ${build}
     while [ "$1" != -o ]; do shift; done
     printf '%s\\n' '#!/bin/sh' "${server()}" > "$2"; chmod +x "$2"`,
  );
}

const builds = (): string[] => readFileSync(join(folder, 'builds'), 'utf8').trim().split('\n');

describe('the search for the Temporal server', () => {
  it('prefers the binary that the operator named', async () => {
    script('bin/temporal', server());
    const named = script('named', server());
    expect(await find({ explicit: named })).toBe(named);
  });

  it('fails if the operator named an unusable binary, even if there is another one', async () => {
    script('bin/temporal', server());
    const named = script('named', 'exit 1');
    await expect(find({ explicit: named })).rejects.toMatchObject({
      name: 'BinaryNotFoundError',
      message: `${named} (TEMPORAL_BINARY) cannot be used: it does not run or is not Temporal`,
    });
  });

  it('finds the binary in the first search folder that contains one', async () => {
    const installed = script('bin/temporal', server());
    expect(await find({ searchFolders: [join(folder, 'none'), join(folder, 'bin')] })).toBe(installed);
  });

  it('skips a server that is too old, and reports the reason', async () => {
    const old = script('bin/temporal', server('1.22.0'));
    const cached = script('cache/temporal-1.8.2', server());
    expect(await find()).toBe(cached);
    expect(progress).toEqual([`${old} cannot be used: its server 1.22 is older than 1.27`]);
  });

  it('finds a binary that the SDK has downloaded', async () => {
    const cached = script('cache/temporal-sdk-typescript-1.24.0', server());
    expect(await find()).toBe(cached);
  });

  it('ignores an incomplete download', async () => {
    writeFileSync(join(folder, 'cache/temporal-sdk-typescript-1.24.0'), 'half', { mode: 0o755 });
    writeFileSync(join(folder, 'cache/temporal-sdk-typescript-1.24.0.downloading'), server(), { mode: 0o755 });
    await expect(find()).rejects.toMatchObject({ name: 'BinaryNotFoundError' });
  });

  it('builds the server with Go once, and then finds it in the cache', async () => {
    go();
    const built = join(folder, 'cache/temporal-1.8.2');
    expect(await find()).toBe(built);
    expect(await find()).toBe(built);
    expect(builds()).toEqual([
      `${join(folder, 'module')} build -buildvcs=false -ldflags=-s -w -o ${built}.new github.com/temporalio/cli/cmd/temporal`,
    ]);
    expect(progress[0]).toContain('temporal.invalid cannot be reached');
    expect(progress[1]).toMatch(/^building the Temporal server with Go/);
  });

  it('builds the server in only one of two processes that need it at the same time', async () => {
    const mayEnd = join(folder, 'may-end');
    go('go1.26.4', `while [ ! -e ${mayEnd} ]; do sleep 0.02; done`); // until the other process waits for this build
    const built = join(folder, 'cache/temporal-1.8.2');
    const both = Promise.all([find(), find()]);
    await until('one waits for the other', () =>
      progress.includes('another pigeonpost is building the Temporal server: waiting for it'),
    );
    writeFileSync(mayEnd, '');
    expect(await both).toEqual([built, built]);
    expect(builds()).toHaveLength(1);
  });

  it('leaves no server after a failed build, and names the log', async () => {
    go('go1.27.0', 'echo no space left >&2; exit 1');
    await expect(find()).rejects.toMatchObject({ name: 'BinaryNotFoundError' });
    expect(progress.at(-1)).toContain(join(folder, 'cache/build.log'));
    expect(readFileSync(join(folder, 'cache/build.log'), 'utf8')).toBe('no space left\n');
    expect(readdirSync(join(folder, 'cache')).filter((name) => name.startsWith('temporal'))).toEqual([]);
  });

  it.each(['go1.26.3', 'go1.25.9', 'go1.9', 'devel'])(
    'does not build with %s, and the error names the alternatives',
    async (version) => {
      go(version);
      const error = await find().catch((thrown: Error) => thrown);
      expect(error).toMatchObject({ name: 'BinaryNotFoundError' });
      for (const way of ['temporal.address', 'TEMPORAL_BINARY', 'Go 1.26.4']) expect(String(error)).toContain(way);
      expect(existsSync(join(folder, 'builds'))).toBe(false);
    },
  );

  it.each(['go1.26.4', 'go1.27rc1', 'go2.0.0'])('builds with %s', async (version) => {
    go(version);
    expect(await find()).toBe(join(folder, 'cache/temporal-1.8.2'));
  });

  it('downloads and builds nothing if only a look-up was requested', async () => {
    await expect(find({ onlyLook: true })).rejects.toMatchObject({ name: 'BinaryNotFoundError' });
    go();
    expect(await find({ onlyLook: true })).toBe(join(folder, 'cache/temporal-1.8.2'));
    expect(existsSync(join(folder, 'builds'))).toBe(false);
  });

  it('detects that a build has ended if the process that ran it was killed', async () => {
    go('go1.26.4', 'sleep 60');
    const program = `
      const { findBinary } = require(${JSON.stringify(join(__dirname, '../../dist/worker/embedded-temporal/find-binary.js'))});
      findBinary(${JSON.stringify(sources)}, () => {});`;
    const other = spawn(process.execPath, ['-e', program], { stdio: 'ignore' });
    await until('the other builds', () => existsSync(join(folder, 'builds')));
    other.kill('SIGKILL');
    go();
    expect(await find()).toBe(join(folder, 'cache/temporal-1.8.2'));
  });
});

describe('the search locations of a user', () => {
  it('come from the environment', () => {
    const found = binarySources({
      TEMPORAL_BINARY: '/opt/temporal',
      PATH: '/usr/bin:relative:/bin',
      XDG_CACHE_HOME: '/cache',
      HTTPS_PROXY: 'http://proxy:3128',
    });
    expect(found).toMatchObject({
      explicit: '/opt/temporal',
      searchFolders: ['/usr/bin', '/bin'],
      cacheFolder: '/cache/pigeonpost',
      hasProxy: true,
    });
    expect(existsSync(join(found.goModule, 'go.sum'))).toBe(true);
  });

  it('include no named binary if TEMPORAL_BINARY is empty', () => {
    expect(binarySources({ TEMPORAL_BINARY: '' }).explicit).toBeUndefined();
  });
});

describe('the environment of a download or a build', () => {
  it('has paths, proxies and settings of Go, and no secret', () => {
    const kept = {
      PATH: '/bin',
      HOME: '/home/a',
      HTTPS_PROXY: 'http://p',
      no_proxy: 'x',
      GOPROXY: 'y',
      SSL_CERT_FILE: 'z',
    };
    const secrets = {
      SERVICE_KEY: 's',
      LEDGER_KEY: 's',
      DATABASE_URL: 's',
      SLACK_BOT_TOKEN: 's',
      GOOGLE_API_KEY: 's',
      MY_PATH: 's',
    };
    expect(toolEnvironment({ ...kept, ...secrets })).toEqual(kept);
  });
});
