import { waysToName } from './find-person.js';

describe('the text that identifies a person', () => {
  it.each([
    ['42', ['id', 'code']],
    ['id:42', ['id']],
    ['code:42', ['code']],
    ['somebody@example.com', ['email', 'code']],
    ['email:somebody@example.com', ['email']],
    ['X-17', ['code']],
    ['042', ['code']],
    ['99999999999999999', ['code']],
  ])('%s can be: %j', (text, ways) => {
    expect(waysToName(text).map(({ by }) => by)).toEqual(ways);
  });
});
