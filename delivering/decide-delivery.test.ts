import { listNames } from '../base/lists.js';
import type { Candidate } from './candidates.js';
import { decideDelivery, type DecidingSink } from './decide-delivery.js';

const candidate = (more: Partial<Candidate>): Candidate => ({
  sequence: 1,
  id: 'id',
  list: 'questions',
  key: '11',
  revision: 1,
  kind: 'created',
  sessionId: 1,
  foundAt: new Date(0),
  payload: '{}',
  latest: true,
  visibility: 'named',
  consent: 'obtained',
  sentWithIdentity: null,
  attempts: 0,
  othersPassedSince: false,
  redriven: false,
  sentBefore: false,
  erased: null,
  replay: 0,
  replayId: null,
  repair: false,
  ...more,
});
const sink = (more: Partial<DecidingSink> = {}): DecidingSink => ({
  lists: [...listNames, 'chats'],
  accepts: new Set(['obtained', 'not-asked']),
  revisions: 'every',
  selected: new Set(['101']),
  onConsentWithdrawn: 'keep',
  mayForget: () => true,
  ...more,
});
const person = { list: 'attendees', visibility: null };
const event = { list: 'pigeonholes', visibility: null, consent: 'not-known' } as const;

describe('the decision on a change for a sink', () => {
  it('is to withhold a change of a list that the sink does not receive, whatever the change is', () => {
    const withheld = { kind: 'withhold', reason: 'list-not-wanted' };
    for (const more of [{}, { latest: false }, { payload: null }, { erased: 'received' }] as const) {
      expect(decideDelivery(candidate(more), sink({ lists: ['votes'] }))).toEqual(withheld);
    }
  });

  it.each<[string, Partial<Candidate>, object]>([
    ['a named interaction of a person whose consent it accepts', {}, { kind: 'send', identity: true }],
    [
      'a named interaction of a person who was not asked for consent',
      { consent: 'not-asked' },
      { kind: 'send', identity: true },
    ],
    ['a named interaction of a person who refused consent', { consent: 'refused' }, { kind: 'send', identity: false }],
    [
      'a named interaction of a person whose consent is not known',
      { consent: 'not-known' },
      { kind: 'send', identity: false },
    ],
    ['an anonymous interaction, whatever the consent', { visibility: 'anonymous' }, { kind: 'send', identity: false }],
    [
      'an interaction whose earlier attempt had no identity',
      { sentWithIdentity: false },
      { kind: 'send', identity: false },
    ],
    [
      'an interaction whose earlier attempt had the identity',
      { sentWithIdentity: true },
      { kind: 'send', identity: true },
    ],
    [
      'an interaction whose earlier attempt had the identity, of a person who has refused consent since',
      { sentWithIdentity: true, consent: 'refused' },
      { kind: 'send', identity: false },
    ],
    ['an interaction without a visibility', { visibility: null }, { kind: 'send', identity: false }],
    [
      'an interaction in a list that this version does not know',
      { list: 'chats', visibility: null },
      { kind: 'send', identity: false },
    ],
    ['the record of a person who gave consent', person, { kind: 'send', identity: true }],
    [
      'the record of a person who refused consent',
      { ...person, consent: 'refused' },
      { kind: 'withhold', reason: 'consent-refused' },
    ],
    [
      'the record of a person whose consent is not known',
      { ...person, consent: 'not-known' },
      { kind: 'withhold', reason: 'consent-not-known' },
    ],
    ['engagement counts of a person who gave consent', { list: 'engagement' }, { kind: 'send', identity: true }],
    [
      'engagement counts of a person who refused consent, which would be empty without the identity,',
      { list: 'engagement', consent: 'refused' },
      { kind: 'withhold', reason: 'consent-refused' },
    ],
    ['a session', { list: 'sessions', visibility: null, consent: 'not-known' }, { kind: 'send', identity: true }],
    ['a pigeonhole that a sync selected', { ...event, key: '101' }, { kind: 'send', identity: true }],
    ['a pigeonhole that no sync selected', { ...event, key: '102' }, { kind: 'withhold', reason: 'not-selected' }],
    ['a deleted question', { kind: 'deleted', payload: null }, { kind: 'send', identity: true }],
    [
      'the deleted record of a person whose consent it accepts',
      { ...person, kind: 'deleted', payload: null },
      { kind: 'send', identity: true },
    ],
    [
      'the deletion of a record that it received, after the person withdrew consent',
      { ...person, kind: 'deleted', payload: null, consent: 'refused', sentBefore: true },
      { kind: 'send', identity: false },
    ],
    [
      'the deletion of a record that it never received',
      { ...person, kind: 'deleted', payload: null, consent: 'refused' },
      { kind: 'withhold', reason: 'consent-refused' },
    ],
    [
      'the deletion of a pigeonhole that no sync selected',
      { ...event, key: '102', kind: 'deleted', payload: null },
      { kind: 'withhold', reason: 'not-selected' },
    ],
    ['an older revision whose data is no longer stored', { payload: null, latest: false }, { kind: 'supersede' }],
    ['an older revision, for a sink that receives every revision', { latest: false }, { kind: 'send', identity: true }],
  ])('is correct for %s', (_what, more, expected) => {
    expect(decideDelivery(candidate(more), sink())).toEqual(expected);
  });

  it.each<[string, Partial<Candidate>, Partial<DecidingSink>, object]>([
    ['removed if onConsentWithdrawn is "forget"', {}, {}, { kind: 'send', identity: false }],
    [
      'withheld if onConsentWithdrawn is "keep"',
      {},
      { onConsentWithdrawn: 'keep' },
      { kind: 'withhold', reason: 'consent-refused' },
    ],
    [
      'withheld if the sink never received it',
      { sentBefore: false },
      {},
      { kind: 'withhold', reason: 'consent-refused' },
    ],
    [
      'withheld if consent is unknown and not refused',
      { consent: 'not-known' },
      {},
      { kind: 'withhold', reason: 'consent-not-known' },
    ],
    [
      'withheld if it is not the latest revision, which sends the removal',
      { latest: false },
      {},
      { kind: 'withhold', reason: 'consent-refused' },
    ],
    [
      'withheld in a replay, because the removal is sent once',
      { replay: 1 },
      {},
      { kind: 'withhold', reason: 'consent-refused' },
    ],
    [
      'a dead letter if many people withdraw consent at once',
      {},
      { mayForget: () => false },
      { kind: 'park', cause: 'withdrawals-held' },
    ],
    [
      'removed once an operator has confirmed the removal',
      { sentWithIdentity: false },
      { mayForget: () => false },
      { kind: 'send', identity: false },
    ],
  ])('means that the record of a person who withdrew consent is %s', (_what, more, how, expected) => {
    const refused = candidate({ ...person, kind: 'updated', consent: 'refused', sentBefore: true, ...more });
    expect(decideDelivery(refused, sink({ onConsentWithdrawn: 'forget', ...how }))).toMatchObject(expected);
  });

  it.each<[string, Partial<Candidate>, object]>([
    ['was sent before', { sentBefore: true }, { kind: 'send', identity: false }],
    ['was sent by an earlier attempt at this change', { sentWithIdentity: true }, { kind: 'send', identity: false }],
    ['is being removed', { sentWithIdentity: false }, { kind: 'send', identity: false }],
    ['was never sent', {}, { kind: 'withhold', reason: 'consent-refused' }],
  ])(
    'about engagement counts of a person who withdrew consent, whose record %s, does not count as a removal',
    (_what, more, expected) => {
      const counted = candidate({ list: 'engagement', kind: 'updated', consent: 'refused', ...more });
      const forgetful = sink({ onConsentWithdrawn: 'forget', mayForget: () => false });
      expect(decideDelivery(counted, forgetful)).toEqual(expected);
    },
  );

  it('skips an older revision at a sink that accepts only the latest', () => {
    expect(decideDelivery(candidate({ latest: false }), sink({ revisions: 'latest' }))).toEqual({ kind: 'supersede' });
    expect(decideDelivery(candidate({}), sink({ revisions: 'latest' }))).toEqual({ kind: 'send', identity: true });
  });
});
