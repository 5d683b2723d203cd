// Fuzzes the API from its own description: a sandbox, a pigeonpost on it, and schemathesis (PyPI) against both.
//
//   python3 -m venv venv && venv/bin/pip install schemathesis
//   npm run build && node tools/fuzz-api.mjs venv/bin/schemathesis [seconds]
//
// Fails on an answer of 500 or above, and on one that does not match its description. Requests may be refused for
// reasons that a schema cannot express (a cursor must come from a list, a file must be usable), and the stream of live
// changes never ends. Both are excluded from the checks.
import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

if (process.argv.includes('--help')) {
  console.log('usage: node tools/fuzz-api.mjs [SCHEMATHESIS (schemathesis)] [SECONDS (180)]');
  process.exit(0);
}
const [, , schemathesis = 'schemathesis', seconds = '180'] = process.argv;
const dist = fileURLToPath(new URL('../dist', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-fuzz-'));
const token = randomBytes(16).toString('hex');
const children = [];

try {
  const [servicePort, port] = [await freePort(), await freePort()];
  await ready(run('sandbox/main.js', ['--port', String(servicePort), '--attendees', '60', '--rate', '1']));
  writeFileSync(
    join(folder, 'pigeonpost.yaml'),
    [
      `workspaces: { acme: { baseUrl: "http://127.0.0.1:${servicePort}", apiKey: "\${SERVICE_KEY}" } }`,
      'syncs: { all: { workspace: acme, sinks: [archive] } }',
      'sinks: { archive: { type: file, folder: ./archive } }',
      `server: { port: ${port}, token: "\${API_TOKEN}" }`,
    ].join('\n'),
  );
  await ready(run('cli/main.js', ['start']));
  const url = `http://127.0.0.1:${port}`;
  writeFileSync(join(folder, 'schemathesis.toml'), knownWords(await makeThings(url)));
  process.exitCode = await ended(
    spawn(
      schemathesis,
      [
        'run',
        `${url}/openapi.json`,
        `--url=${url}`,
        `--header=Authorization: Bearer ${token}`,
        '--exclude-path=/api/changes/live',
        '--exclude-checks=positive_data_acceptance',
        `--max-time=${seconds}`,
      ],
      { stdio: 'inherit', cwd: folder },
    ),
  );
} finally {
  for (const child of children.toReversed()) {
    child.kill('SIGTERM');
    await ended(child);
  }
  rmSync(folder, { recursive: true });
}

/** Creates an import, an erasure and a token, so that their addresses return data. @returns the erasure's id */
async function makeThings(url) {
  await until(async () => (await ask(url, '/api/items/acme/101/attendees?limit=1')).items.length > 0);
  const people = 'attendeeCode,Name\nA1,Ada\n,Nobody\n';
  await ask(url, '/api/imports?pigeonhole=acme/101&name=people.csv', people, 'application/octet-stream');
  await ask(url, '/api/tokens', JSON.stringify({ name: 'desk', roles: ['viewer'], expiresInDays: 1 }));
  const [{ key }] = (await ask(url, '/api/items/acme/101/attendees?limit=1')).items;
  const id = randomUUID();
  await ask(url, '/api/erasures', JSON.stringify({ id, attendee: `id:${key}` }));
  return id;
}

async function ask(url, path, body, type = 'application/json') {
  const headers = { authorization: `Bearer ${token}`, 'content-type': type };
  const answer = await fetch(`${url}${path}`, body === undefined ? { headers } : { method: 'POST', headers, body });
  const text = await answer.text();
  if (answer.ok) return JSON.parse(text);
  if (answer.status === 404) return { items: [] };
  throw new Error(`${path} is answered with ${answer.status}: ${text}`);
}

async function until(isSo) {
  for (let left = 300; left > 0; left -= 1) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error('nothing was read within a minute');
}

/**
 * Returns a configuration of schemathesis with existing names, which it mixes with invented ones. Unknown names would
 * be refused before any other check.
 */
function knownWords(erasure) {
  const words = {
    workspace: ['acme'],
    id: ['101', '1', '0', erasure],
    name: ['archive', 'all', 'desk'],
    sink: ['archive'],
    sync: ['all'],
    list: ['attendees', 'questions', 'sessions', 'votes'],
    key: ['1000001', '9001'],
    pigeonhole: ['acme/101'],
  };
  const dictionaries = Object.entries(words).map(
    ([name, values]) => `${name} = { values = ${JSON.stringify(values)} }`,
  );
  const parameters = Object.keys(words).map((name) => `${name} = { dictionary = "${name}", probability = 0.6 }`);
  // A body that is too large is refused before it is read, even if it is also invalid in other ways.
  const checks = ['[checks.negative_data_rejection]', `expected-statuses = ["4xx"]`];
  return ['[dictionaries]', ...dictionaries, '[parameters]', ...parameters, ...checks, ''].join('\n');
}

function run(script, args) {
  const child = spawn(process.execPath, [join(dist, script), ...args], {
    cwd: folder,
    env: { ...process.env, DATABASE_URL: '', TEMPORAL_ADDRESS: '', SERVICE_KEY: 'sandbox-key', API_TOKEN: token },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  return child;
}

/** Waits until the program is ready. If it exits earlier, fails with its output. */
function ready(child) {
  return new Promise((resolve, reject) => {
    let said = '';
    const hear = (text) => {
      said += text;
      if (/\bready\b/.test(said)) resolve();
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', (text) => (said += text));
    child.once('close', () => reject(new Error(`the program exited before it was ready:\n${said}`)));
  });
}

function ended(child) {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode ?? 1;
  return new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)));
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
