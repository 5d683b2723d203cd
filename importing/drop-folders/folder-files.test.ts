import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findDroppedFiles, readDroppedFile, isDroppedName, type FileLook, SettledFiles } from './folder-files.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'drop-places-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function textOf(name: string): Promise<string> {
  let text = '';
  for await (const piece of readDroppedFile(join(folder, name))) text += piece.toString();
  return text;
}

describe('a dropped file', () => {
  it('is found only if it is a regular file, not a link or a pipe', async () => {
    writeFileSync(join(folder, 'people.csv'), 'attendeeCode');
    symlinkSync(join(folder, 'people.csv'), join(folder, 'link.csv'));
    execFileSync('mkfifo', [join(folder, 'pipe.csv')]);
    const place = { entry: { workspace: 'acme', pigeonhole: 101, folder }, folder, pigeonhole: 'acme/101' };
    const found = await findDroppedFiles(place, () => undefined);
    expect(found.map(({ path }) => path)).toEqual([join(folder, 'people.csv')]);
  });

  it('is not read if a link or a pipe has replaced it since', async () => {
    writeFileSync(join(folder, 'theirs'), 'secret');
    symlinkSync(join(folder, 'theirs'), join(folder, 'people.csv'));
    await expect(textOf('people.csv')).rejects.toMatchObject({ code: 'ELOOP', path: join(folder, 'people.csv') });
    execFileSync('mkfifo', [join(folder, 'pipe.csv')]);
    expect(await textOf('pipe.csv')).toBe('');
    expect(await textOf('theirs')).toBe('secret');
  });
});

describe('a name in a drop folder', () => {
  it.each(['people.csv', 'People.XLSX', 'list', 'people (1).csv', 'people.csv.corrected.csv'])(
    'belongs to a list: %s',
    (name) => expect(isDroppedName(name)).toBe(true),
  );

  it.each([
    'people.csv.report.csv',
    'people.csv.error.txt',
    '.people.csv.swp',
    '~$people.xlsx',
    '.~lock.people.ods#',
    'people.csv~',
    'people.csv.part',
    'people.csv.4711.tmp',
    'people.csv.crdownload',
  ])('does not belong to a list: %s', (name) => expect(isDroppedName(name)).toBe(false));
});

const lookOf = (given: Partial<FileLook> = {}): FileLook => ({
  path: '/in/people.csv',
  bytes: 100,
  modifiedMs: 1,
  inode: 5,
  ...given,
});

describe('a file in a drop folder', () => {
  it('is complete once it has not changed for three seconds, even with a modification time in the future', () => {
    const files = new SettledFiles();
    const look = lookOf({ modifiedMs: 9e12 });
    expect(files.whole([look], 0)).toEqual([]);
    expect(files.whole([look], 2999)).toEqual([]);
    expect(files.whole([look], 3000)).toEqual([look]);
  });

  it.each<[string, Partial<FileLook>]>([
    ['it grows', { bytes: 101 }],
    ['it is written to', { modifiedMs: 2 }],
    ['another file replaces it', { inode: 6 }],
  ])('starts its three seconds again if %s', (_, change) => {
    const files = new SettledFiles();
    files.whole([lookOf()], 0);
    expect(files.whole([lookOf(change)], 3000)).toEqual([]);
    expect(files.whole([lookOf(change)], 6000)).toEqual([lookOf(change)]);
  });

  it('starts its three seconds again after it was missing', () => {
    const files = new SettledFiles();
    files.whole([lookOf()], 0);
    files.whole([], 1000);
    expect(files.whole([lookOf()], 3000)).toEqual([]);
  });
});
