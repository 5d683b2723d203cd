import { emptyLedger } from './api-sources.test-kit.js';
import { namedPerson } from './persons.js';

describe('a request about a person', () => {
  it.each([
    ['email:ann.miller', /whole e-mail address/],
    ['id:X-17', /number of an attendee/],
  ])('that names them as %s is refused with a sentence that says what is missing', async (text, why) => {
    await expect(namedPerson(emptyLedger(), text, null)).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(why) as string,
    });
  });
});
