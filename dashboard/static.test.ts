import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const sources = readdirSync(__dirname, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !entry.name.endsWith('.test.ts'))
  .map((entry) => join(entry.parentPath, entry.name));

describe('the source of the page', () => {
  it('never turns text into HTML: texts of attendees are shown unchanged', () => {
    const makers =
      /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function\(/;
    expect(sources.filter((file) => makers.test(readFileSync(file, 'utf8')))).toEqual([]);
  });

  it('names no other host, so that it sends requests only to its own', () => {
    expect(sources.filter((file) => /https?:\/\//.test(readFileSync(file, 'utf8')))).toEqual([]);
  });

  it('keeps a token only in the tab', () => {
    expect(
      sources.filter((file) => /localStorage|document\.cookie|indexedDB/.test(readFileSync(file, 'utf8'))),
    ).toEqual([]);
  });
});
