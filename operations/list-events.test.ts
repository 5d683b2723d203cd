import { describeSelection } from './list-events.js';

const event = { id: 101, name: 'Summit', status: 'live' };

describe('the sentence about a selection', () => {
  it.each([
    [[event], [event], false, 'selects 1 of 1 event: Summit (101, live)'],
    [[], [event], false, 'selects none of 1 event'],
    [[], [event, event], true, 'selects none of the first 2 events'],
  ])('has a noun that agrees with its number: %#', (selected, events, hasMore, text) => {
    type Arguments = Parameters<typeof describeSelection>;
    const chosen = { selected, missing: [] } as unknown as Arguments[0];
    expect(describeSelection(chosen, { events, hasMore } as unknown as Arguments[1])).toBe(text);
  });
});
