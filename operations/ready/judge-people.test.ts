import type { Config } from '../../config/config.js';
import { Expression } from '../../sinks/mapping/expression.js';
import {
  judgeConsent,
  judgeFields,
  judgeRegistrants,
  type RegistrantCounts,
  type RegistrantSettings,
} from './judge-people.js';

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

describe('the consent check of a sink', () => {
  it.each<[string, Parameters<typeof judgeConsent>[2], string, string]>([
    [
      'counts the people whom the sink accepts',
      [{ list: 'attendees', items: 20_000, withheld: {} }],
      'ok',
      'will send 20,000 attendees, withhold 0',
    ],
    [
      'counts the people who refused',
      [{ list: 'attendees', items: 1, withheld: { 'consent-refused': 1200 } }],
      'ok',
      'will send 1 attendee, withhold 1,200 (1,200 have refused)',
    ],
    [
      'warns if nobody has answered yet',
      [{ list: 'registrants', items: 0, withheld: { 'consent-not-known': 20_000 } }],
      'warning',
      'will send 0 registrants, withhold 20,000 (20,000 have not said yet); it accepts consent obtained',
    ],
    ['is ok if no attendee was read yet', [], 'ok', 'no attendee has been read yet; it accepts consent obtained'],
    [
      'counts what the mapping withholds, as a preview does',
      [{ list: 'attendees', items: 7, withheld: { 'no-match': 2 }, failed: 0, estimated: true }],
      'ok',
      'will send about 7 attendees, withhold 2 (2: no value to match by)',
    ],
    [
      'warns if the mapping fails',
      [{ list: 'attendees', items: 0, withheld: {}, failed: 3, estimated: false }],
      'warning',
      'will send 0 attendees, withhold 0, the mapping fails for 3',
    ],
  ])('%s', (_, counts, state, says) => {
    expect(judgeConsent('crm', ['obtained'], counts)).toMatchObject({ id: 'consent:crm', state, says });
  });
});

describe('the profile fields of an event', () => {
  const configWith = (text: string): Config => {
    const email = new Expression(text);
    email.standsAt({ line: 34, key: 'sinks.crm.records[0].properties.email' });
    return {
      syncs: { all: { workspace: 'acme', pigeonholes: {}, sinks: ['crm'] } },
      sinks: {
        crm: {
          type: 'hubspot',
          settings: { records: [{ from: 'attendees', properties: { email: { value: email } } }] },
        },
      },
    } as unknown as Config;
  };
  const known = { workspace: 'acme', pigeonholeId: 101, profile: ['E-mail', 'Name'], seen: new Map() };

  it.each<[string, string, readonly string[], string, RegExp]>([
    ['are ok if mappings read them', 'item.Name', known.profile, 'ok', /"E-mail", "Name"; the mappings find all/],
    [
      'get a warning if they have another name',
      'item.Email',
      known.profile,
      'warning',
      /reads item.Email.*seen: "E-mail"/,
    ],
    ['are ok if the service sets them', 'item.consent.obtained', known.profile, 'ok', /find all/],
    ['get a warning if none is known', 'item.Email', [], 'warning', /nobody was imported/],
    ['are ok if no mapping reads any', '"constant"', [], 'ok', /no mapping reads any/],
  ])('%s', (_, text, profile, state, says) => {
    const check = judgeFields(configWith(text), { ...known, profile });
    expect([check.state, check.says]).toEqual([state, expect.stringMatching(says)]);
  });
});
