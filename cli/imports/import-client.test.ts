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
  it('holds only what was asked for, and the name of the file without its folder', () => {
    expect(uploadQueryOf(optionsOf(), undefined)).toEqual({ pigeonhole: '101', name: 'people.csv' });
  });

  it('holds each option in the words of the API', () => {
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
    [{ pigeonhole: undefined }, 'say into which pigeonhole: add --pigeonhole ID'],
    [{ pigeonhole: 'summit' }, '--pigeonhole is "summit": write its ID, or WORKSPACE/ID'],
    [{ pigeonhole: '0' }, '--pigeonhole is "0": write its ID, or WORKSPACE/ID'],
    [{ saveMap: 'a b' }, '--save-map is "a b": use letters, digits, ".", "_" and "-", at most 63 of them'],
  ])('is refused for %j', (given, message) => {
    expect(() => uploadQueryOf(optionsOf(given), undefined)).toThrow(message);
  });
});
