import { chooseSubscription } from './plan-event.js';

const events = { id: 7, name: 'Events', endDate: '2027-01-01T00:00:00+01:00' };
const others = { id: 8, name: 'Others', endDate: null };

describe('the subscription', () => {
  it.each([
    ['in the file, by name,', 'Events', [events, others], 7],
    ['in the file, by id,', 8, [events, others], 8],
    ['of a Personal workspace', null, [], null],
  ])('%s is used', (_, wanted, there, id) => {
    expect(chooseSubscription(wanted, there)).toMatchObject({ id });
  });

  it.each([
    ['is set in a Personal workspace', 7, [], /has no subscriptions/],
    [
      'is not set in a Team workspace, even one with a single subscription,',
      null,
      [events],
      /Team workspace: choose one.*"Events" \(7\)/,
    ],
    ['does not exist in the workspace', 9, [events, others], /no such subscription.*"Events" \(7\), "Others" \(8\)/],
    ['is a number written as a name', '7', [events], /no such subscription/],
    ['has the name of several', 'Events', [events, { ...others, name: 'Events' }], /several.*7 or 8/],
  ])('that %s is a problem', (_, wanted, there, problem) => {
    expect(chooseSubscription(wanted, there)).toEqual({ problem: expect.stringMatching(problem) });
  });
});
