import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replaceFile } from './replace-file.js';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pigeonpost-'));
  file = join(folder, 'pigeonpost.yaml');
  writeFileSync(file, 'before');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a file that is replaced', () => {
  it('keeps its permissions, also those that new files of the process do not have', async () => {
    chmodSync(file, 0o666);
    const mask = process.umask(0o077);
    try {
      expect(await replaceFile(file, 'before', 'after')).toBeNull();
    } finally {
      process.umask(mask);
    }
    expect(readFileSync(file, 'utf8')).toBe('after');
    expect(statSync(file).mode & 0o777).toBe(0o666);
  });

  it('leaves other files as they are, whatever they are called', async () => {
    writeFileSync(join(folder, 'mine'), 'mine');
    symlinkSync('mine', `${file}.new`);
    expect(await replaceFile(file, 'before', 'after')).toBeNull();
    expect(await replaceFile(file, 'before', 'later')).toEqual({ kind: 'changed' });
    expect(readFileSync(join(folder, 'mine'), 'utf8')).toBe('mine');
    expect(readdirSync(folder).toSorted()).toEqual(['mine', 'pigeonpost.yaml', 'pigeonpost.yaml.new']);
  });
});
