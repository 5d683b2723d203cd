import { authorOf } from './author.js';

describe('the author of an item', () => {
  it('is the attendee in its content, in both forms of the service', () => {
    expect([authorOf({ attendeeId: 7 }), authorOf({ attendee: { id: 8, anonymous: false } })]).toEqual([7, 8]);
  });

  it('is nobody if it is anonymous or not shown', () => {
    for (const data of [null, undefined, {}, { attendee: { anonymous: true } }, { attendee: null, attendeeId: 'x' }]) {
      expect(authorOf(data)).toBeNull();
    }
  });
});
