import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeWholeFile } from './import-files.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pigeonpost-files-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function* parts(...texts: string[]): AsyncGenerator<string> {
  yield* texts;
}

describe('a report that is written', () => {
  it('takes the place of an older one, for nobody else to read', async () => {
    const file = join(folder, 'report.csv');
    writeFileSync(file, 'older');
    await writeWholeFile(file, parts('a,', 'b\n'));
    expect(readFileSync(file, 'utf8')).toBe('a,b\n');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('never takes the place of a device, by whatever name it goes', async () => {
    const name = join(folder, 'out');
    symlinkSync('/dev/null', name);
    await expect(writeWholeFile(name, parts('a'))).rejects.toThrow(`${name} is there and is no file: name one`);
    expect(statSync(name).isCharacterDevice()).toBe(true);
  });
});
