import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findDroppedFiles, readDroppedFile } from './drop-places.js';

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
  it('is a file, and neither a link nor a pipe', async () => {
    writeFileSync(join(folder, 'people.csv'), 'attendeeCode');
    symlinkSync(join(folder, 'people.csv'), join(folder, 'link.csv'));
    execFileSync('mkfifo', [join(folder, 'pipe.csv')]);
    const place = { entry: { workspace: 'acme', pigeonhole: 101, folder }, folder, pigeonhole: 'acme/101' };
    const found = await findDroppedFiles(place, () => undefined);
    expect(found.map(({ path }) => path)).toEqual([join(folder, 'people.csv')]);
  });

  it('is not read where a link or a pipe has taken its place since it was found', async () => {
    writeFileSync(join(folder, 'theirs'), 'secret');
    symlinkSync(join(folder, 'theirs'), join(folder, 'people.csv'));
    await expect(textOf('people.csv')).rejects.toMatchObject({ code: 'ELOOP', path: join(folder, 'people.csv') });
    execFileSync('mkfifo', [join(folder, 'pipe.csv')]);
    expect(await textOf('pipe.csv')).toBe('');
    expect(await textOf('theirs')).toBe('secret');
  });
});
