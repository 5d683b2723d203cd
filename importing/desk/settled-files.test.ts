import { type FileLook, SettledFiles } from './settled-files.js';

const lookOf = (given: Partial<FileLook> = {}): FileLook => ({
  path: '/in/people.csv',
  bytes: 100,
  modifiedMs: 1,
  inode: 5,
  ...given,
});

describe('a file in a drop folder', () => {
  it('is whole when it has looked the same for three seconds, whatever times it carries', () => {
    const files = new SettledFiles();
    const look = lookOf({ modifiedMs: 9e12 });
    expect(files.whole([look], 0)).toEqual([]);
    expect(files.whole([look], 2999)).toEqual([]);
    expect(files.whole([look], 3000)).toEqual([look]);
  });

  it.each<[string, Partial<FileLook>]>([
    ['it grows', { bytes: 101 }],
    ['it is written to', { modifiedMs: 2 }],
    ['another one takes its place', { inode: 6 }],
  ])('is waited for again when %s', (_, change) => {
    const files = new SettledFiles();
    files.whole([lookOf()], 0);
    expect(files.whole([lookOf(change)], 3000)).toEqual([]);
    expect(files.whole([lookOf(change)], 6000)).toEqual([lookOf(change)]);
  });

  it('is another one when it was away in between', () => {
    const files = new SettledFiles();
    files.whole([lookOf()], 0);
    files.whole([], 1000);
    expect(files.whole([lookOf()], 3000)).toEqual([]);
  });
});
