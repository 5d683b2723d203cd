import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeWholeFile } from './files.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pigeonpost-files-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function* parts(...texts: string[]): AsyncGenerator<string> {
  yield* texts;
}

describe('a written report', () => {
  it('replaces an older one, readable only by its owner', async () => {
    const file = join(folder, 'report.csv');
    writeFileSync(file, 'older');
    await writeWholeFile(file, parts('a,', 'b\n'));
    expect(readFileSync(file, 'utf8')).toBe('a,b\n');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('never replaces a device, whatever its path', async () => {
    const name = join(folder, 'out');
    symlinkSync('/dev/null', name);
    await expect(writeWholeFile(name, parts('a'))).rejects.toThrow(
      `${name} exists and is not a regular file: choose another path`,
    );
    expect(statSync(name).isCharacterDevice()).toBe(true);
  });
});
