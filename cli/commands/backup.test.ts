import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, truncateSync, copyFileSync, writeFileSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded } from '../../ledger/drivers/embedded.js';
import { openLedger } from '../../ledger/ledger.js';
import { testKey, testKeyText } from '../../ledger/ledger-key.test-kit.js';

const command = join(__dirname, '../../dist/cli/main.js');
const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-encrypted-'));
afterAll(() => rmSync(folder, { recursive: true }));

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return spawnSync(process.execPath, [command, ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], KEY: 'a-secret-key', LEDGER_KEY: testKeyText, ...env },
  });
}

/** Writes an identity file like age-keygen. @returns its recipient */
function makeIdentity(name: string): string {
  const script = `import('age-encryption').then(async (age) => {
    const identity = await age.generateX25519Identity();
    process.stdout.write(JSON.stringify([identity, await age.identityToRecipient(identity)]));
  })`;
  const made = spawnSync(process.execPath, ['-e', script], { cwd: __dirname, encoding: 'utf8' });
  const [identity, recipient] = JSON.parse(made.stdout) as [string, string];
  writeFileSync(join(folder, name), `# public key: ${recipient}\n${identity}\n`);
  return recipient;
}

function configuration(...more: string[]): string[] {
  return [
    'workspaces: { acme: { baseUrl: "https://engagement.example.com", apiKey: "${KEY}" } }',
    'syncs: { all: { workspace: acme, sinks: [archive] } }',
    'sinks: { archive: { type: file, folder: ./archive } }',
    'server: { port: 1 }', // no process listens there
    ...more,
  ];
}

describe('a backup encrypted to two recipients', () => {
  const recipients: string[] = [];
  beforeAll(async () => {
    recipients.push(makeIdentity('one.txt'), makeIdentity('two.txt'));
    makeIdentity('other.txt');
    const db = await openEmbedded({ folder: join(folder, 'data') });
    await openLedger(db, testKey);
    await db.close();
    writeFileSync(join(folder, 'pigeonpost.yaml'), configuration().join('\n'));
  });
  const encryptTo = () => recipients.flatMap((recipient) => ['--encrypt-to', recipient]);

  it('restores an embedded store only with the identity of one of them', () => {
    const made = run(['backup', 'store.age', ...encryptTo()]);
    expect([made.status, made.stderr]).toEqual([0, expect.stringContaining('one of its 2 recipients')]);
    const bytes = readFileSync(join(folder, 'store.age'));
    expect(bytes.toString('latin1', 0, 22)).toBe('age-encryption.org/v1\n');
    expect(spawnSync('tar', ['-tzf', join(folder, 'store.age')]).status).not.toBe(0);

    const refused: [string[], number, RegExp][] = [
      [[], 2, /store\.age is encrypted: add --identity FILE/],
      [['--identity', 'other.txt'], 1, /store\.age cannot be decrypted with other\.txt/],
      [['--identity', 'pigeonpost.yaml'], 2, /pigeonpost\.yaml is not an age identity file/],
      [['--identity', 'missing.txt'], 2, /missing\.txt cannot be read \(ENOENT\)/],
    ];
    for (const [args, status, sentence] of refused) {
      const done = run(['restore', 'store.age', '--yes', ...args]);
      expect([done.status, done.stderr]).toEqual([status, expect.stringMatching(sentence)]);
    }
    copyFileSync(join(folder, 'store.age'), join(folder, 'cut.age'));
    truncateSync(join(folder, 'cut.age'), bytes.length - 1000);
    const cut = run(['restore', 'cut.age', '--yes', '--identity', 'two.txt']);
    expect([cut.status, cut.stderr]).toEqual([1, expect.stringContaining('cut.age is cut off or was changed')]);

    const done = run(['restore', 'store.age', '--yes', '--identity', 'two.txt']);
    expect([done.status, done.stdout]).toEqual([0, expect.stringMatching(/data is restored as of 20/)]);
    const left = readdirSync(join(folder, 'data')).filter((name) => /new-|tar/.test(name));
    expect(left).toEqual([]);
  });

  it('is not started for an invalid recipient, nor restored with an identity it does not need', () => {
    const made = run(['backup', 'none.age', '--encrypt-to', 'age1nobody']);
    expect([made.status, made.stderr]).toEqual([2, expect.stringContaining('"age1nobody" is not an age recipient')]);
    const restored = run(['restore', 'pigeonpost.yaml', '--yes', '--identity', 'one.txt']);
    expect([restored.status, restored.stderr]).toEqual([
      2,
      expect.stringContaining('pigeonpost.yaml is not encrypted with age: remove --identity'),
    ]);
  });

  it('is reported as missing before a confirmation is requested', () => {
    for (const args of [[], ['--yes'], ['--identity', 'one.txt']]) {
      const restored = run(['restore', 'gone.tar.gz', ...args]);
      expect([restored.status, restored.stdout, restored.stderr]).toEqual([
        1,
        '',
        expect.stringContaining('there is no file gone.tar.gz: check the path'),
      ]);
      expect(restored.stderr).not.toContain('Restore gone.tar.gz');
    }
  });

  it('is refused for a PostgreSQL store, with the PostgreSQL commands to use instead', () => {
    writeFileSync(join(folder, 'postgres.yaml'), configuration('store: "${DATABASE_URL}"').join('\n'));
    const at = { DATABASE_URL: 'postgres://app@127.0.0.1:1/pigeonpost', LEDGER_KEY: testKeyText };
    const made = run(['backup', 'db.dump', '--config', 'postgres.yaml'], at);
    expect([made.status, made.stderr]).toEqual([
      2,
      expect.stringContaining('pg_dump --format=custom --no-owner --no-privileges --file=db.dump "$DATABASE_URL"'),
    ]);
    const restored = run(['restore', 'db.dump', '--yes', '--config', 'postgres.yaml'], at);
    expect([restored.status, restored.stderr]).toEqual([
      2,
      expect.stringMatching(/pg_restore .* db\.dump, then run "pigeonpost restore --mark-only" before you start/),
    ]);
  });
});
