import { outcomeText, replayWords } from './delivery-words.js';

const told = (state: string, reason: string | null = null, replay: string | null = null) => ({ state, reason, replay });

describe('the outcome of a delivery in words', () => {
  it.each([
    [
      'says "again" if the sink had received the revision before',
      told('delivered', null, 'r1'),
      [told('delivered')],
      'delivered again by a replay',
    ],
    [
      'does not say "again" if the revision had been withheld',
      told('delivered', null, 'r1'),
      [told('delivered', 'by-replay')],
      'delivered by a replay',
    ],
    [
      'says that a replay queued a delivery that still waits',
      told('waiting', null, 'r1'),
      [told('delivered')],
      'queued by a replay',
    ],
    [
      'says that a replay delivered what was withheld',
      told('delivered', 'by-replay'),
      [],
      'not delivered at first, but later by a replay',
    ],
    ['says that an observing sink does not send it', told('behind', 'observe'), [], 'not sent'],
    ['is the state of the delivery without a replay', told('dead', 'http:422'), [], 'dead letter'],
  ])('%s', (_, delivery, others, outcome) => {
    expect(outcomeText(delivery, others)).toBe(outcome);
  });
});

describe('the progress of a replay', () => {
  it.each([
    [{ total: 18_331, sent: 0, taken: 0, open: 0 }, '0 of 18,331 sent again'],
    [
      { total: 18_331, sent: 4231, taken: 4246, open: 3 },
      '4,231 of 18,331 sent again, 12 withheld or refused, 3 in progress',
    ],
    [{ total: null, sent: 40, taken: 4246, open: 3 }, '4,246 items so far, 3 in progress'],
  ])('%j is shown as "%s"', (progress, words) => {
    expect(replayWords(progress)).toBe(words);
  });
});
