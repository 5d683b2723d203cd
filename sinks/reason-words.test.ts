import { mappingReasons } from './all-reasons.js';
import {
  causedByWords,
  causeText,
  isMappingCause,
  plannedWords,
  reasonText,
  reasonWords,
  sentByPlan,
} from './reason-words.js';
import { reasonWhileHidden, refused, whileIdentityHidden } from './reasons.js';

describe('the words of reasons', () => {
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

describe('the words of causes', () => {
  it.each([
    ['slack:is_archived', /does not exist, is closed/],
    ['slack:msg_too_long', /rejects their content/],
    ['slack:restricted_action_read_only_channel', /does not exist, is closed/],
    ['hubspot:PROPERTY_DOESNT_EXIST:favourite_color', /has no such property/],
    ['salesforce:INVALID_FIELD:Lead.Color__c', /has no such field/],
    ['mapping: crm.records[0].properties.email: T0410', /expression of the mapping failed/],
    ['outcome-unknown', /answer was lost/],
    ['http:422', /rejects their content/],
  ])('are those of the most precise declaration: %s', (cause, meaning) => {
    expect(causeText(cause)).toEqual({ meaning: expect.stringMatching(meaning), help: expect.any(String) });
  });

  it('are general for a code that a receiver gave', () => {
    expect(causeText('body.too.odd')).toEqual(refused);
  });

  it.each([
    ['mapping: crm: T0410', true],
    ['http:422', false],
  ])('say whether the mapping failed: %s', (cause, isMapping) => {
    expect(isMappingCause(cause)).toBe(isMapping);
  });
});
