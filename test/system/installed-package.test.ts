import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';

const root = resolve(__dirname, '../..');
const run = promisify(execFile);

/**
 * Packs this package as a release does, and installs the archive in an empty folder, beside the packages that it names as
 * its dependencies and no others.
 */
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'installed-package-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
}

let packed: Packed;
const own = join(folder, 'node_modules/pigeonpost');

beforeAll(() => {
  const [first] = JSON.parse(
    execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    }),
  ) as [Packed];
  packed = first;
  mkdirSync(own, { recursive: true });
  execFileSync('tar', ['xzf', join(folder, packed.filename), '-C', own, '--strip-components=1']);
  for (const path of productionPackages()) {
    const name = relative(join(root, 'node_modules'), path);
    if (name.includes('/node_modules/')) continue; // comes with the package above it
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true });
    symlinkSync(path, join(folder, 'node_modules', name));
  }
});

/** Returns the folders of all packages that an installation without development packages has. */
function productionPackages(): string[] {
  return execFileSync('npm', ['ls', '--omit=dev', '--all', '--parseable'], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((path) => path.startsWith(join(root, 'node_modules/')));
}

/** Runs the installed command in an empty working folder, as a new user does. */
async function pigeonpost(...args: readonly string[]): Promise<string> {
  const cwd = mkdtempSync(join(folder, 'work-'));
  const { stdout } = await run(process.execPath, [join(own, 'dist/cli/main.js'), ...args], { cwd });
  return stdout;
}

describe('the package', () => {
  it('is small, and has neither tests nor benchmarks, source maps or sources', () => {
    const paths = packed.files.map(({ path }) => path);
    expect(paths.filter((path) => /\.test\b|test-kit|\.js\.map$|^dist\/bench|\.tsx?$/.test(path))).toEqual([]);
    expect(packed.size).toBeLessThan(8_000_000);
    expect(paths).toEqual(
      expect.arrayContaining([
        'LICENSE',
        'README.md',
        'package.json',
        'tools/temporal/go.mod',
        'llms.txt',
        'docs/operations.md',
        'docs/pigeonpost.schema.json',
      ]),
    );
  });

  it('has every file of the database that a first start copies, and the names of its empty folders', () => {
    const store = 'dist/ledger/new-store';
    const listed = execFileSync('find', [store, '-type', 'f'], { cwd: root, encoding: 'utf8' }).trim().split('\n');
    const missing = listed.filter((path) => !existsSync(join(own, path)));
    expect(missing).toEqual([]);
    expect(JSON.parse(readFileSync(join(own, `${store}.empty-folders.json`), 'utf8'))).toContain('pg_notify');
  });

  it('can be published with provenance, and only with what a release needs', () => {
    const manifest = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as Record<string, unknown>;
    expect(manifest).toMatchObject({
      bin: { pigeonpost: 'dist/cli/main.js' },
      engines: { node: '>=20.19' },
      publishConfig: { access: 'public', provenance: true },
    });
    expect(manifest).not.toHaveProperty('private');
    for (const script of ['preinstall', 'install', 'postinstall'])
      expect(manifest['scripts']).not.toHaveProperty(script);
  });
});

describe('pigeonpost, installed from its archive in an empty folder', () => {
  it('prints its version and that of its dependencies', async () => {
    expect(await pigeonpost('--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(await pigeonpost('--help')).toContain('Get started:');
  });

  it('runs the demo', async () => {
    const shown = await pigeonpost('demo', '--once', '--attendees', '20');
    expect(shown).toMatch(/source = delivered \+ withheld in all \d+ rows/);
  });
});
