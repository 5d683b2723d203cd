import { mayBeAnothers } from './may-be-anothers.js';

describe('a value by which a record is found', () => {
  it.each<[string, string | undefined, (string | null)[], boolean]>([
    ['holds the digits of the canary', '123', ['canary-123@example.com', '-123'], false],
    ['is one of several that do not', '123', ['canary-123@example.com', 'desk@example.com'], true],
    ['is not there', '123', [null], false],
    ['is of a real item', undefined, ['desk@example.com'], false],
  ])('decides whether a record may belong to someone else, where it %s', (_, canary, values, expected) => {
    expect(mayBeAnothers(canary === undefined ? {} : { canary }, values)).toBe(expected);
  });
});
