import { outcomeText } from './delivery-words.js';

const told = (state: string, reason: string | null = null, replay: string | null = null) => ({ state, reason, replay });

describe('the outcome of a delivery in words', () => {
  it.each([
    [
      'is "again" if the sink had the revision before',
      told('delivered', null, 'r1'),
      [told('delivered')],
      'delivered again by a replay',
    ],
    [
      'is not "again" if it had been withheld',
      told('delivered', null, 'r1'),
      [told('delivered', 'by-replay')],
      'delivered by a replay',
    ],
    ['names the replay of what still waits', told('waiting', null, 'r1'), [told('delivered')], 'queued by a replay'],
    [
      'says that a replay delivered what was withheld',
      told('delivered', 'by-replay'),
      [],
      'not delivered at first, but later by a replay',
    ],
    ['is the state without a replay', told('dead', 'http:422'), [], 'dead letter'],
  ])('%s', (_, delivery, others, outcome) => {
    expect(outcomeText(delivery, others)).toBe(outcome);
  });
});
