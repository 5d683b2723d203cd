import { type RegistrantCounts, judgeRegistrants, type RegistrantSettings } from './judge-people.js';

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
    ['are ok if all were created', {}, all, 'ok', /^20,000 registrants can sign in$/],
    ['are ok if the event uses none', { registrants: false }, {}, 'ok', /no registrants: people sign in by themselves/],
    [
      'fail if they are switched off although some were imported',
      { registrants: false },
      all,
      'failed',
      /switched off/,
    ],
    [
      'fail if they are switched off although everyone needs a code to join',
      { registrants: false, attendeeCodeRequired: true },
      {},
      'failed',
      /nobody signs in without a code/,
    ],
    ['get a warning if none was imported', {}, {}, 'warning', /^none was imported with pigeonpost$/],
    ['fail if some were rejected', {}, { ...all, rejected: 3 }, 'failed', /3 rows refused/],
    ['fail if the outcome of some is unknown', {}, { ...all, unknown: 1 }, 'failed', /1 row with an unknown outcome/],
    ['fail if some were never sent', {}, { ...all, givenUp: 2 }, 'failed', /2 rows not sent/],
    [
      'fail while some are still being sent',
      {},
      { ...all, waiting: 500, openImports: [7] },
      'failed',
      /500 rows still to be sent/,
    ],
    [
      'get a warning if some already existed with different data',
      {},
      { ...all, conflict: 4 },
      'warning',
      /^20,004 registrants can sign in; 4 rows already registered/,
    ],
    [
      'get a warning if there are more than expected',
      { expectedParticipants: 100 },
      all,
      'warning',
      /expects 100 participants/,
    ],
    [
      'are ok if the settings of the event are unknown',
      { registrants: undefined, expectedParticipants: undefined },
      all,
      'ok',
      /20,000/,
    ],
  ])('%s', (_, settings, counts, state, says) => {
    const check = judgeRegistrants({ ...on, ...settings }, { ...nobody, ...counts });
    expect([check.state, check.says]).toEqual([state, expect.stringMatching(says)]);
    expect(check.todo === undefined).toBe(state === 'ok');
  });
});
