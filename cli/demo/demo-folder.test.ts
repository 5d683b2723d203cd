import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claimDemoFolder } from './demo-folder.js';

let parent: string;
let folder: string;
let other: ChildProcess | undefined;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'demo-folder-'));
  folder = join(parent, 'demo-data');
});
afterEach(() => {
  other?.kill('SIGKILL');
  rmSync(parent, { recursive: true });
});

const claim = (options = { once: false }) => claimDemoFolder(folder, options);

describe('the folder of a demo', () => {
  it('is emptied of the run before, of which all stays until then', async () => {
    const first = await claim();
    mkdirSync(join(folder, 'archive'));
    writeFileSync(join(folder, 'receipts.ndjson'), 'one\n');
    await first.release();
    expect(existsSync(first.receipts)).toBe(true);

    await claim();
    expect(readdirSync(folder).toSorted()).toEqual(['demo.json', 'logs']);
  });

  it('keeps what a person has put beside it', async () => {
    await (await claim()).release();
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    await claim();
    expect(readdirSync(folder)).toContain('notes.txt');
  });

  it('is not taken where it holds files that no demo has written', async () => {
    mkdirSync(folder);
    mkdirSync(join(folder, 'archive'));
    await expect(claim()).rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining('holds other files') });
    expect(readdirSync(folder)).toEqual(['archive']);
  });

  it('is not taken from a demo that runs', async () => {
    other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', 'demo']);
    await (await claim()).release();
    writeFileSync(join(folder, 'demo.json'), JSON.stringify({ pid: other.pid }));
    await expect(claim()).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringContaining(`running as process ${other.pid}`),
    });
  });

  it.each([
    ['was killed', JSON.stringify({ pid: 2 ** 22 + 1 })],
    ['was killed while it wrote down that it runs', '{"pid"'],
  ])('is taken over from a demo that %s', async (_, text) => {
    await (await claim()).release();
    writeFileSync(join(folder, 'demo.json'), text);
    await expect(claim()).resolves.toMatchObject({ shown: folder });
  });

  it('is another one for a run that ends by itself, which leaves the first alone', async () => {
    const kept = await claim();
    writeFileSync(kept.receipts, 'one\n');
    const once = await claim({ once: true });
    expect(once.path).toBe(join(folder, 'once'));
    expect(existsSync(kept.receipts)).toBe(true);
    await (await claim()).release();
    expect(existsSync(once.path)).toBe(true);
  });

  it('that cannot be made is told in a sentence', async () => {
    writeFileSync(folder, 'a file');
    await expect(claim()).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringMatching(/cannot use .*\((EEXIST|ENOTDIR)\)/),
    });
  });
});
