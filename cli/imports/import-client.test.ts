import { type ImportOptions, uploadQueryOf } from './import-client.js';

const optionsOf = (given: Partial<ImportOptions> = {}): ImportOptions => ({
  file: 'lists/people.csv',
  pigeonhole: '101',
  map: [],
  generateCodes: false,
  force: false,
  dryRun: false,
  yes: false,
  wait: true,
  json: false,
  ...given,
});

describe('the query of an upload', () => {
  it('contains only the given options, and the file name without its folder', () => {
    expect(uploadQueryOf(optionsOf(), undefined)).toEqual({ pigeonhole: '101', name: 'people.csv' });
  });

  it('contains each option as the API names it', () => {
    const options = optionsOf({
      pigeonhole: 'pigeonhole:acme/101',
      map: ['A=B=Name', 'tickets'],
      saveMap: 'next',
      delimiter: 'tab',
      canary: 1,
      generateCodes: true,
      force: true,
    });
    expect(uploadQueryOf(options, 'ada')).toEqual({
      pigeonhole: 'acme/101',
      name: 'people.csv',
      map: '["A=B=Name","tickets"]',
      saveMapping: 'next',
      delimiter: '\t',
      canary: '1',
      generateCodes: 'true',
      force: 'true',
      by: 'ada',
    });
  });

  it.each([
    [{ pigeonhole: undefined }, 'name the pigeonhole to import into: add --pigeonhole ID'],
    [{ pigeonhole: 'summit' }, '--pigeonhole is "summit": give an ID, or WORKSPACE/ID'],
    [{ pigeonhole: '0' }, '--pigeonhole is "0": give an ID, or WORKSPACE/ID'],
    [{ saveMap: 'a b' }, '--save-map is "a b": use letters, digits, ".", "_" and "-", at most 63 of them'],
  ])('is refused for %j', (given, message) => {
    expect(() => uploadQueryOf(optionsOf(given), undefined)).toThrow(message);
  });
});
