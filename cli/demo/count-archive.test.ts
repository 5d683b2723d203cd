import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countArchive } from './count-archive.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'count-archive-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Line {
  readonly pigeonholeId?: number;
  readonly key: string;
  readonly revision?: number;
  readonly data?: object | null;
}

function writeDay(day: string, list: string, lines: readonly Line[]): void {
  const path = join(folder, 'sandbox', '101', list);
  mkdirSync(path, { recursive: true });
  const text = lines.map((line) => `${JSON.stringify({ pigeonholeId: 101, list, revision: 1, data: {}, ...line })}\n`);
  writeFileSync(join(path, `${day}.ndjson`), text.join(''));
}

describe('the items of an archive', () => {
  it('count once, however many revisions and days they have', async () => {
    writeDay('2026-11-20', 'questions', [{ key: '1' }, { key: '2' }]);
    writeDay('2026-11-21', 'questions', [{ key: '1', revision: 2 }]);
    writeDay('2026-11-21', 'votes', [{ key: '1' }]);
    expect(await countArchive(folder)).toEqual(
      new Map([
        ['questions', 2],
        ['votes', 1],
      ]),
    );
  });

  it('are different ones in different pigeonholes', async () => {
    writeDay('2026-11-20', 'questions', [{ key: '1' }, { key: '1', pigeonholeId: 102 }]);
    expect(await countArchive(folder)).toEqual(new Map([['questions', 2]]));
  });

  it('do not count when their last revision is a deletion, in whichever order it is found', async () => {
    writeDay('2026-11-20', 'questions', [{ key: '1', revision: 2, data: null }, { key: '2' }]);
    writeDay('2026-11-21', 'questions', [
      { key: '1' },
      { key: '2', revision: 2, data: null },
      { key: '2', revision: 3 },
    ]);
    expect(await countArchive(folder)).toEqual(new Map([['questions', 1]]));
  });

  it('cannot be counted where a line is torn', async () => {
    writeDay('2026-11-20', 'questions', [{ key: '1' }]);
    writeFileSync(join(folder, 'sandbox/101/questions/2026-11-21.ndjson'), '{"key":"2"');
    await expect(countArchive(folder)).rejects.toThrow(SyntaxError);
  });
});
