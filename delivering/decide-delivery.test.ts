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
  sentBefore: false,
  erased: null,
  replay: 0,
  replayId: null,
  ...more,
});
const sink = (more: Partial<DecidingSink> = {}): DecidingSink => ({
  accepts: new Set(['obtained', 'not-asked']),
  revisions: 'every',
  selected: new Set(['101']),
  onConsentWithdrawn: 'keep',
  mayForget: () => true,
  ...more,
});
const person = { list: 'attendees', visibility: null };
const event = { list: 'pigeonholes', visibility: null, consent: 'not-known' } as const;

describe('what happens with a change at a sink', () => {
  it.each<[string, Partial<Candidate>, object]>([
    ['a named interaction of a person whose consent it accepts', {}, { kind: 'send', identity: true }],
    ['one of a person who was not asked', { consent: 'not-asked' }, { kind: 'send', identity: true }],
    ['one of a person who refused', { consent: 'refused' }, { kind: 'send', identity: false }],
    ['one of a person of whom nothing is known', { consent: 'not-known' }, { kind: 'send', identity: false }],
    ['an anonymous one, whatever the consent', { visibility: 'anonymous' }, { kind: 'send', identity: false }],
    ['one that went out without the person before', { sentWithIdentity: false }, { kind: 'send', identity: false }],
    ['one that went out with the person before', { sentWithIdentity: true }, { kind: 'send', identity: true }],
    [
      'one that did, of a person who has refused since',
      { sentWithIdentity: true, consent: 'refused' },
      { kind: 'send', identity: false },
    ],
    ['one that nobody has judged', { visibility: null }, { kind: 'send', identity: false }],
    [
      'one of a list that this version does not know',
      { list: 'chats', visibility: null },
      { kind: 'send', identity: false },
    ],
    ['the record of a person who has agreed', person, { kind: 'send', identity: true }],
    ['of one who has refused', { ...person, consent: 'refused' }, { kind: 'withhold', reason: 'consent-refused' }],
    [
      'of one whose consent is not known',
      { ...person, consent: 'not-known' },
      { kind: 'withhold', reason: 'consent-not-known' },
    ],
    ['what was counted of a person who has agreed', { list: 'engagement' }, { kind: 'send', identity: true }],
    [
      'what was counted of one who has refused, of which nothing is left without them,',
      { list: 'engagement', consent: 'refused' },
      { kind: 'withhold', reason: 'consent-refused' },
    ],
    ['a session', { list: 'sessions', visibility: null, consent: 'not-known' }, { kind: 'send', identity: true }],
    ['a pigeonhole that a sync has chosen', { ...event, key: '101' }, { kind: 'send', identity: true }],
    ['a pigeonhole that none has chosen', { ...event, key: '102' }, { kind: 'withhold', reason: 'not-selected' }],
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
      'the deleted record of a person that it was never told of',
      { ...person, kind: 'deleted', payload: null, consent: 'refused' },
      { kind: 'withhold', reason: 'consent-refused' },
    ],
    [
      'a deleted pigeonhole that none has chosen',
      { ...event, key: '102', kind: 'deleted', payload: null },
      { kind: 'withhold', reason: 'not-selected' },
    ],
    ['an older revision whose text is gone', { payload: null, latest: false }, { kind: 'supersede' }],
    ['an older revision, at a sink that wants every one', { latest: false }, { kind: 'send', identity: true }],
  ])('for %s', (_what, more, expected) => {
    expect(decideDelivery(candidate(more), sink())).toEqual(expected);
  });

  it.each<[string, Partial<Candidate>, Partial<DecidingSink>, object]>([
    ['taken back where the sink is to forget', {}, {}, { kind: 'send', identity: false }],
    ['kept where it is to keep', {}, { onConsentWithdrawn: 'keep' }, { kind: 'withhold', reason: 'consent-refused' }],
    [
      'no matter where it was never told of them',
      { sentBefore: false },
      {},
      { kind: 'withhold', reason: 'consent-refused' },
    ],
    [
      'only withheld while they have not refused',
      { consent: 'not-known' },
      {},
      { kind: 'withhold', reason: 'consent-not-known' },
    ],
    ['taken back once, by the latest revision', { latest: false }, {}, { kind: 'withhold', reason: 'consent-refused' }],
    ['not taken back again by a replay', { replay: 1 }, {}, { kind: 'withhold', reason: 'consent-refused' }],
    ['held where many withdraw at once', {}, { mayForget: () => false }, { kind: 'park', cause: 'withdrawals-held' }],
    [
      'taken back once a person has looked',
      { sentWithIdentity: false },
      { mayForget: () => false },
      { kind: 'send', identity: false },
    ],
  ])('of a person who refuses now, is %s', (_what, more, how, expected) => {
    const refused = candidate({ ...person, kind: 'updated', consent: 'refused', sentBefore: true, ...more });
    expect(decideDelivery(refused, sink({ onConsentWithdrawn: 'forget', ...how }))).toMatchObject(expected);
  });

  it.each<[string, Partial<Candidate>, object]>([
    ['was sent before', { sentBefore: true }, { kind: 'send', identity: false }],
    ['was sent by this very change', { sentWithIdentity: true }, { kind: 'send', identity: false }],
    ['is being taken back', { sentWithIdentity: false }, { kind: 'send', identity: false }],
    ['was never sent', {}, { kind: 'withhold', reason: 'consent-refused' }],
  ])('of what was counted of a person who refuses now, and %s, follows their record', (_what, more, expected) => {
    const counted = candidate({ list: 'engagement', kind: 'updated', consent: 'refused', ...more });
    const forgetful = sink({ onConsentWithdrawn: 'forget', mayForget: () => false });
    expect(decideDelivery(counted, forgetful)).toEqual(expected);
  });

  it('skips an older revision at a sink that accepts only the latest', () => {
    expect(decideDelivery(candidate({ latest: false }), sink({ revisions: 'latest' }))).toEqual({ kind: 'supersede' });
    expect(decideDelivery(candidate({}), sink({ revisions: 'latest' }))).toEqual({ kind: 'send', identity: true });
  });
});
