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
  it('keeps the files of a run until the next run deletes them', async () => {
    const first = await claim();
    mkdirSync(join(folder, 'archive'));
    writeFileSync(join(folder, 'receipts.ndjson'), 'one\n');
    await first.release();
    expect(existsSync(first.receipts)).toBe(true);

    await claim();
    expect(readdirSync(folder).toSorted()).toEqual(['demo.json', 'logs']);
  });

  it('keeps files that a person has added', async () => {
    await (await claim()).release();
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    await claim();
    expect(readdirSync(folder)).toContain('notes.txt');
  });

  it('is refused if it contains files that no demo has written', async () => {
    mkdirSync(folder);
    mkdirSync(join(folder, 'archive'));
    await expect(claim()).rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining('contains files') });
    expect(readdirSync(folder)).toEqual(['archive']);
  });

  it('is refused while another demo uses it', async () => {
    other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', 'demo']);
    await (await claim()).release();
    writeFileSync(join(folder, 'demo.json'), JSON.stringify({ pid: other.pid }));
    await expect(claim()).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringContaining(`already running in ${folder} (process ${other.pid})`),
    });
  });

  it.each([
    ['was killed', JSON.stringify({ pid: 2 ** 22 + 1 })],
    ['was killed while it recorded that it runs', '{"pid"'],
  ])('is taken over from a demo that %s', async (_, text) => {
    await (await claim()).release();
    writeFileSync(join(folder, 'demo.json'), text);
    await expect(claim()).resolves.toMatchObject({ shown: folder });
  });

  it('is a subfolder for --once, which does not affect another demo', async () => {
    const kept = await claim();
    writeFileSync(kept.receipts, 'one\n');
    const once = await claim({ once: true });
    expect(once.path).toBe(join(folder, 'once'));
    expect(existsSync(kept.receipts)).toBe(true);
    await (await claim()).release();
    expect(existsSync(once.path)).toBe(true);
  });

  it('that cannot be created is reported in one sentence', async () => {
    writeFileSync(folder, 'a file');
    await expect(claim()).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringMatching(/cannot use .*\((EEXIST|ENOTDIR)\)/),
    });
  });
});
