import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../test/until.js';
import { storeErrorOf } from './both-databases.test-kit.js';
import { lockFolder, lockPrograms } from './folder-lock.js';

const built = join(__dirname, '../../dist/ledger/drivers/folder-lock.js');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'folder-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe.each(lockPrograms.map((program) => [program[0], program] as const))('a folder locked by %s', (_, program) => {
  it('is refused to others until it is released, and the message names its holder', async () => {
    const lock = await lockFolder(folder, [program]);
    for (const other of lockPrograms) {
      expect(await storeErrorOf(lockFolder(folder, [other]))).toMatchObject({
        kind: 'locked',
        message: `the folder ${folder} is in use by process ${process.pid}: stop that process, or use another folder`,
      });
    }
    await lock.release();
    await lock.release();
    await (await lockFolder(folder)).release();
  });

  it('is available once its holder was killed', async () => {
    const script = `require(${JSON.stringify(built)})
      .lockFolder(${JSON.stringify(folder)}, [${JSON.stringify(program)}])
      .then((lock) => setInterval(() => lock, 1000));`;
    const holder = spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
    const ended = new Promise((resolve) => holder.once('exit', resolve));
    const lockFile = join(folder, 'lock');
    await until('it is held', () => {
      try {
        return readFileSync(lockFile, 'utf8') === `${holder.pid}\n`;
      } catch {
        return false;
      }
    });
    expect(await storeErrorOf(lockFolder(folder, [program]))).toMatchObject({ kind: 'locked' });
    holder.kill('SIGKILL');
    await ended;
    await (await lockFolder(folder, [program])).release();
  });
});

describe('locking a folder', () => {
  it('uses the second program if the first is not installed', async () => {
    const [, last] = lockPrograms;
    const lock = await lockFolder(folder, last === undefined ? [] : [['no-such-program', []], last]);
    expect(await storeErrorOf(lockFolder(folder))).toMatchObject({ kind: 'locked' });
    await lock.release();
  });

  it('fails with the programs to install if none is available', async () => {
    const error = await storeErrorOf(lockFolder(folder, [['no-such-program', []]]));
    expect(error.message).toBe(`${folder} cannot be locked: install "flock" (util-linux) or Perl`);
  });

  it('fails with the reason if the folder cannot be created', async () => {
    writeFileSync(join(folder, 'file'), '');
    const error = await storeErrorOf(lockFolder(join(folder, 'file/below')));
    expect(error.message).toContain('(ENOTDIR)');
  });

  it('ignores a leftover process number in the lock file', async () => {
    writeFileSync(join(folder, 'lock'), `${process.pid}\n`);
    await (await lockFolder(folder)).release();
  });
});
