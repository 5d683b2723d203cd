import { isDroppedName } from './dropped-names.js';

describe('a name in a drop folder', () => {
  it.each(['people.csv', 'People.XLSX', 'list', 'people (1).csv', 'people.csv.corrected.csv'])(
    'is that of a list: %s',
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
  ])('is that of no list: %s', (name) => expect(isDroppedName(name)).toBe(false));
});
