import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const sources = readdirSync(__dirname, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.name.endsWith('.test.ts'))
  .map((entry) => join(entry.parentPath, entry.name));

describe('the source of the page', () => {
  it('makes HTML of no text: what people have written is shown as they have written it', () => {
    const makers =
      /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function\(/;
    expect(sources.filter((file) => makers.test(readFileSync(file, 'utf8')))).toEqual([]);
  });

  it('names no other host, so that nothing is asked of one', () => {
    expect(sources.filter((file) => /https?:\/\//.test(readFileSync(file, 'utf8')))).toEqual([]);
  });

  it('keeps a token in the tab alone', () => {
    expect(
      sources.filter((file) => /localStorage|document\.cookie|indexedDB/.test(readFileSync(file, 'utf8'))),
    ).toEqual([]);
  });
});
