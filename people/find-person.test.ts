import { waysToName, whyNameless } from './find-person.js';

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

  it.each([
    ['email:somebody', /whole e-mail address/],
    ['email: ', /must be followed by an e-mail address/],
    ['id:X-17', /number of an attendee/],
    ['id:042', /number of an attendee/],
    ['id:', /number of an attendee/],
    ['code:', /an attendee code/],
  ])('%s says nothing that anybody could have', (text, why) => {
    expect(whyNameless(text)).toMatch(why);
  });

  it.each(['email:somebody@example.com', 'id:42', 'code:X-17', 'code:42', 'somebody', '42', 'X:17'])(
    '%s may be of someone',
    (text) => {
      expect(whyNameless(text)).toBeUndefined();
    },
  );
});
