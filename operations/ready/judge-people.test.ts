import type { RegistrantCounts } from '../../importing/count-registrants.js';
import { judgeRegistrants, type RegistrantSettings } from './judge-people.js';

const on: RegistrantSettings = { registrants: true, attendeeCodeRequired: false, expectedParticipants: 25_000 };
const nobody: RegistrantCounts = {
  present: 0,
  conflict: 0,
  rejected: 0,
  unknown: 0,
  waiting: 0,
  givenUp: 0,
  newestImport: null,
  openImports: [],
};
const all = { ...nobody, present: 20_000, newestImport: 7 };

describe('the registrants of an event', () => {
  it.each<[string, Partial<RegistrantSettings>, Partial<RegistrantCounts>, string, RegExp]>([
    ['who are all there', {}, all, 'ok', /^20,000 registrants can sign in$/],
    ['who are not wanted', { registrants: false }, {}, 'ok', /no registrants: people sign in by themselves/],
    ['who are switched off, though they were imported', { registrants: false }, all, 'failed', /switched off/],
    [
      'that are switched off although everyone needs a code to join',
      { registrants: false, attendeeCodeRequired: true },
      {},
      'failed',
      /nobody signs in without a code/,
    ],
    ['of whom none was imported', {}, {}, 'warning', /^none was imported with pigeonpost$/],
    ['of whom some were refused', {}, { ...all, rejected: 3 }, 'failed', /3 rows refused/],
    ['of whom some may be there', {}, { ...all, unknown: 1 }, 'failed', /1 row with an unknown outcome/],
    ['of whom some were never sent', {}, { ...all, givenUp: 2 }, 'failed', /2 rows not sent/],
    ['who are still being sent', {}, { ...all, waiting: 500, openImports: [7] }, 'failed', /500 rows still to be sent/],
    [
      'who were there with other data',
      {},
      { ...all, conflict: 4 },
      'warning',
      /^20,004 registrants can sign in; 4 rows already registered/,
    ],
    ['who are more than expected', { expectedParticipants: 100 }, all, 'warning', /expects 100 participants/],
    ['of whom nothing else is known', { registrants: undefined, expectedParticipants: undefined }, all, 'ok', /20,000/],
  ])('%s', (_, settings, counts, state, says) => {
    const check = judgeRegistrants({ ...on, ...settings }, { ...nobody, ...counts });
    expect([check.state, check.says]).toEqual([state, expect.stringMatching(says)]);
    expect(check.todo === undefined).toBe(state === 'ok');
  });
});
