import { mappingReasons } from '../delivering/recent-decisions.js';
import {
  causedByWords,
  outcomeText,
  plannedWords,
  reasonText,
  reasonWhileHidden,
  whileIdentityHidden,
  reasonWords,
  replayWords,
  sentByPlan,
} from './delivery-words.js';

describe('the words of deliveries', () => {
  it('say that the identity was hidden', () => {
    const reason = whileIdentityHidden('no-actor');
    expect(reasonWords(reason)).toBe('no actor while the identity is hidden');
    expect(reasonText(reason)).toBe(
      'the identity of the person must not be sent, and without it the mapping finds no actor for it',
    );
    expect([reasonWhileHidden(reason), reasonWhileHidden('no-actor')]).toEqual(['no-actor', null]);
  });

  it.each(mappingReasons)('describe the mapping reason %s in a short and in a long form', (reason) => {
    expect([reasonWords(reason), reasonText(reason)]).toEqual([expect.stringMatching(/ /), expect.stringMatching(/ /)]);
  });

  it('show the code of a reason that this repository does not define', () => {
    expect([reasonWords('no-badge'), reasonText('no-badge')]).toEqual(['no-badge', 'no-badge']);
  });

  it('count what a sink would do', () => {
    const count = { items: 2, withheld: { 'no-match': 2140, condition: 0 }, failed: 3, estimated: true };
    expect(plannedWords(count)).toBe(
      'about 2 to send, 2,140 withheld: no value to match by, 3 for which the mapping fails',
    );
    expect(plannedWords({ items: 1, withheld: {} })).toBe('1 to send');
  });

  it('count what a new configuration sends, without what a sink only observes', () => {
    const caused = { cause: 'released', reason: 'consent-refused', changes: 1200, observed: false } as const;
    const observed = { ...caused, changes: 5, observed: true, estimated: false };
    expect(sentByPlan([{ ...caused, estimated: true }, observed])).toBe('about 1,200 changes');
    expect(sentByPlan([observed])).toBeNull();
    expect(causedByWords(caused)).toBe('withheld until now: consent refused');
  });
});

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
