import {
  judgeEvent,
  judgeList,
  judgeObservation,
  type ListOutcomes,
  judgeWithholding,
  withheldByCondition,
  withholdingSentence,
  withholdingText,
  lackOf,
} from './withholding.js';
import { whileIdentityHidden } from '../sinks/reasons.js';
import { addDecisions, type Recent, type RecentByList } from '../delivering/recent-decisions.js';
import type { Config } from '../config/config.js';
import type { SeenFields } from '../ledger/seen-fields.js';
import { Expression } from '../sinks/mapping/expression.js';

const none = { sent: 0, lacking: 0, usual: { sent: 0, lacking: 0 } };
const withheld = (reason: string, changes: number): ListOutcomes['counts'][number] => ({
  state: 'withheld',
  reason,
  changes,
});
const delivered = (changes: number): ListOutcomes['counts'][number] => ({ state: 'delivered', reason: '', changes });
const judge = (counts: ListOutcomes['counts'], recent: Recent = none): ReturnType<typeof judgeWithholding> =>
  judgeWithholding({ list: 'attendees', counts, recent: [recent] });

describe('a condition', () => {
  const list = (...counts: ListOutcomes['counts']): ListOutcomes => ({ list: 'questions', counts, recent: [none] });

  it('is reported if it excludes all items of a list, and at least ten', () => {
    expect(withheldByCondition(list(withheld('condition', 10), delivered(0)))).toMatchObject({
      kind: 'all',
      reason: 'condition',
      changes: 10,
    });
    expect(withheldByCondition(list(withheld('condition', 9)))).toBeNull();
    expect(withheldByCondition(list(withheld('condition', 900), delivered(1)))).toBeNull();
  });

  it('is named with the field that it misspells', () => {
    const lack = { values: [], at: 'slack.messages[0].when', fields: 'reads item.stauts; fields seen: "status"' };
    expect(withholdingText(withheldByCondition(list(withheld('condition', 40)))!, lack)).toBe(
      'all 40 questions fail the condition slack.messages[0].when, which reads item.stauts; fields seen: "status"',
    );
  });
});

describe('an event whose items never had a value', () => {
  const filled = { sent: 40, lacking: 0, usual: { sent: 960, lacking: 0 } };
  const first = { sent: 0, lacking: 40, usual: { sent: 0, lacking: 0 } };
  const counts = [delivered(1000), withheld('no-match', 100)];
  const lane = (own: ListOutcomes['counts']) => ({
    workspace: 'acme',
    pigeonholeId: 102,
    outcomes: own.map((each) => ({ ...each, list: 'attendees' })),
  });

  it.each([1, 2, 5])('is no sudden change beside %d other events', (others) => {
    const recent = [...Array.from({ length: others }, () => filled), first];
    expect(judgeList({ list: 'attendees', counts, recent })).toBeNull();
  });

  it('is a note that names the event', () => {
    const event = judgeEvent(lane([withheld('no-match', 100)]), { list: 'attendees', counts })!;
    expect(event).toEqual({ list: 'attendees', kind: 'event', reason: 'no-match', changes: 100, place: 'acme/102' });
    const lack = { values: ['email'], at: 'crm.records[0].match', fields: 'reads item.Email; fields seen: "Name"' };
    expect(withholdingText(event, lack)).toBe(
      'none of the 100 attendees of acme/102 has email (crm.records[0].match reads item.Email; fields seen: "Name")',
    );
  });

  it.each([
    ['the sink sends some of its items', [withheld('no-match', 100), delivered(1)], counts],
    [
      'the sink sends nothing of any event, which is a problem',
      [withheld('no-match', 100)],
      [withheld('no-match', 100)],
    ],
    ['few of its items lack the value', [withheld('no-match', 9)], counts],
  ])('is not noted if %s', (_, own, all) => {
    expect(judgeEvent(lane(own), { list: 'attendees', counts: all })).toBeNull();
  });
});

describe('a missing value of a person whose identity is hidden', () => {
  const hidden = (changes: number) => withheld(whileIdentityHidden('no-actor'), changes);
  const config = {
    syncs: {
      events: { workspace: 'acme', sinks: ['lms'], pigeonholes: {} },
    },
    sinks: { lms: { type: 'xapi', settings: { actor: { name: new Expression('attendee.Code & item.attendeeId') } } } },
  } as unknown as Pick<Config, 'syncs' | 'sinks'>;
  const seenField = (field: string) => ({ field, member: null, types: { string: 5 }, filled: 5, values: null });
  const seenOf = (field: string): ReadonlyMap<string, readonly SeenFields[]> =>
    new Map([
      ['attendees', [{ workspace: 'acme', pigeonholeId: 1, items: 5, fields: [seenField(field)] }]],
      ['answers', [{ workspace: 'acme', pigeonholeId: 1, items: 5, fields: [seenField('answer')] }]],
    ]);

  it.each<[string, ListOutcomes['counts'], string?]>([
    ['all are anonymous', [hidden(60)]],
    ['the mapping reads a field that no attendee has', [hidden(60)], 'Badge'],
    ['others are sent', [hidden(60), delivered(3)]],
    ['a few others lack the value', [hidden(60), withheld('no-actor', 9)]],
  ])('is no fault of the mapping if %s', (_, counts, field = 'Code') => {
    const withholding = judgeList({ list: 'answers', counts, recent: [none] });
    const text = withholding === null ? null : withholdingSentence(config, 'lms', withholding, seenOf(field));
    expect(text).toBeNull();
  });

  it('does not hide that items with a visible identity lack the value', () => {
    const counts = [hidden(60), withheld('no-actor', 10)];
    expect(judgeList({ list: 'answers', counts, recent: [none] })).toMatchObject({ reason: 'no-actor', changes: 10 });
  });

  it('does not count as a decision that lacks a value', () => {
    const reason = whileIdentityHidden('no-actor');
    expect(addDecisions({}, [{ list: 'answers', sequence: 1, replay: 0, state: 'withheld', reason }])).toEqual({});
  });
});

describe('a sink that observes', () => {
  const observed = { wouldSend: 0, wouldSendAnonymously: 0, wouldWithhold: { 'no-match': 30, 'consent-refused': 5 } };

  it('is reported if it would send nothing because a value is missing', () => {
    expect(judgeObservation(observed)).toEqual({ list: 'changes', kind: 'would', reason: 'no-match', changes: 30 });
    expect(judgeObservation({ ...observed, wouldSend: 1 })).toBeNull();
    expect(judgeObservation({ ...observed, wouldWithhold: { 'consent-refused': 50, 'no-match': 9 } })).toBeNull();
  });
});

describe('a sink that withholds', () => {
  it('is reported if it never sent an item of the list because a value is missing', () => {
    expect(judge([withheld('no-match', 2142)])).toEqual({
      list: 'attendees',
      kind: 'all',
      reason: 'no-match',
      changes: 2142,
    });
  });

  it.each([
    ['few items lack a value', [withheld('no-match', 9)]],
    ['consent is the reason', [withheld('consent-refused', 500)]],
    ['a condition leaves them out', [withheld('condition', 500)]],
    ['other items are sent', [withheld('no-match', 60), delivered(940)]],
    ['the destination refuses other items', [withheld('no-match', 60), { state: 'dead', reason: 'x', changes: 1 }]],
  ] as const)('is not reported if %s', (_, counts) => {
    expect(judge(counts)).toBeNull();
  });

  it('is reported if it withholds a far larger share of the latest items than before', () => {
    const counts = [withheld('no-match', 160), withheld('no-email', 2), delivered(2000)];
    const usual = { sent: 1960, lacking: 2 };
    expect(judge(counts, { sent: 40, lacking: 160, usual })).toMatchObject({
      kind: 'more',
      reason: 'no-match',
      changes: 80,
    });
    expect(judge(counts, { sent: 190, lacking: 10, usual })).toBeNull();
    const asBefore = { sent: 90, lacking: 110, usual: { sent: 910, lacking: 890 } };
    expect(judge([withheld('no-match', 1000), delivered(1000)], asBefore)).toBeNull();
    expect(judge([delivered(2162)], { sent: 40, lacking: 160, usual })).toBeNull(); // a replay has delivered them since
  });

  it.each([
    ['one event', 1250, 0],
    ['a small event', 300, 0],
    ['an event beside one that ended', 1250, 121],
    ['an event beside a large one that ended', 300, 5000],
  ])('stays reported while it withholds every attendee of %s', (_, sentBefore, sentElsewhere) => {
    const decided = (state: 'delivered' | 'withheld', reason: string | null, count: number) =>
      Array.from({ length: count }, () => ({ list: 'attendees', sequence: 1, replay: 0, state, reason }));
    const ended = addDecisions({}, decided('delivered', null, sentElsewhere));
    let live = addDecisions({}, decided('delivered', null, sentBefore));
    const reported: boolean[] = [];
    for (let lacking = 1; lacking <= 2000; lacking += 1) {
      live = addDecisions(live, decided('withheld', 'no-match', 1));
      const counts = [delivered(sentBefore + sentElsewhere), withheld('no-match', lacking)];
      const recent = [live, ended].flatMap((lists) => lists['attendees'] ?? []);
      reported.push(judgeWithholding({ list: 'attendees', counts, recent })?.kind === 'more');
    }
    expect(reported.indexOf(true)).toBeLessThan(30);
    expect(reported.slice(30)).not.toContain(false);
  });

  it('is not reported while the changes that its previous settings withheld are released', () => {
    const list = (isReleasing: boolean): ListOutcomes => ({
      list: 'attendees',
      counts: [withheld('no-match', 748)],
      recent: [none, isReleasing ? { ...none, isReleasing } : none],
    });
    expect(judgeWithholding(list(false))).toMatchObject({ kind: 'all', changes: 748 });
    expect(judgeWithholding(list(true))).toBeNull();
  });

  it('is not reported if two of three attendees lack the value from the beginning', () => {
    let recent: RecentByList = {};
    for (let n = 1; n <= 1000; n += 1) {
      const isSent = n % 3 === 0;
      const decided = isSent
        ? ({ state: 'delivered', reason: null } as const)
        : ({ state: 'withheld', reason: 'no-match' } as const);
      recent = addDecisions(recent, [{ list: 'attendees', sequence: n, replay: 0, ...decided }]);
      const sent = Math.floor(n / 3);
      const counts = [delivered(sent), withheld('no-match', n - sent)];
      if (n > 250) expect(judge(counts, recent['attendees'])).toBeNull();
    }
  });

  it('is described by fields and counts', () => {
    const all = { list: 'attendees', kind: 'all', reason: 'no-match', changes: 2142 } as const;
    const lack = {
      values: ['email'],
      at: 'crm.records[0].match',
      fields: 'reads item.email; fields seen: "Email"',
    };
    expect(withholdingText(all, lack)).toBe(
      'all 2,142 attendees lack a value for email: crm.records[0].match, which reads item.email; fields seen: "Email"',
    );
    expect(withholdingText({ ...all, kind: 'more', changes: 80 }, null)).toBe(
      'suddenly 80 of every 100 attendees, far more than before, lack a value that its mapping needs',
    );
  });
});

const email = { value: new Expression('$email(item.email)'), write: 'always' };
const expression = new Expression('item.Email');
const configOf = (settings: unknown, type = 'hubspot'): Config =>
  ({
    syncs: { all: { workspace: 'acme', pigeonholes: {}, sinks: ['crm'] } },
    sinks: { crm: { type, settings } },
  }) as unknown as Config;
const place = (fields: readonly string[]): SeenFields => ({
  workspace: 'acme',
  pigeonholeId: 101,
  items: 3,
  fields: fields.map((field) => ({ field, member: null, types: { string: 3 }, filled: 3, values: null })),
});
const seen = new Map([['attendees', [place(['Email', 'Name'])]]]);
const lack = (settings: unknown, reason: string, type?: string): ReturnType<typeof lackOf> =>
  lackOf(configOf(settings, type), { sink: 'crm', list: 'attendees', reason }, seen);

describe('the position at which a mapping lacks a value', () => {
  it('is the key by which a CRM matches, with the field that it reads and similar existing fields', () => {
    const name = { value: new Expression('item.Nick'), write: 'always' };
    const records = [{ from: 'attendees', match: ['email'], properties: { name, email } }];
    expect(lack({ records }, 'no-match')).toEqual({
      values: ['email'],
      at: 'crm.records[0].match',
      fields: 'reads item.email; fields seen: "Email"',
    });
  });

  it('is the address of the contact if a record has no key to match by', () => {
    const properties = { hs_note_body: { value: new Expression('item.content') } };
    const records = [
      {
        from: 'attendees',
        object: 'contacts',
        match: ['email'],
        email: new Expression('item.Mail'),
        properties: { email },
      },
      { from: 'qna-questions', object: 'notes', email: new Expression('$email(attendee.Email)'), properties },
    ];
    expect(
      lackOf(configOf({ records }), { sink: 'crm', list: 'qna-questions', reason: 'no-match' }, new Map()),
    ).toEqual({
      values: ['email'],
      at: 'crm.records[1].email',
      fields: null,
    });
    expect(lack({ records }, 'no-match')).toMatchObject({ values: ['email'], at: 'crm.records[0].match' });
  });

  it.each([
    ['hubspot', 'no-email', { records: [{ from: 'attendees', email: expression }] }, 'crm.records[0].email'],
    ['canvas', 'no-user', { records: [{ from: 'attendees', user: expression }] }, 'crm.records[0].user'],
    ['salesforce', 'no-key', { records: [{ from: 'attendees', externalId: email }] }, 'crm.records[0].externalId'],
    ['xapi', 'no-actor', { actor: { name: expression } }, 'crm.actor.name'],
    ['slack', 'no-text', { messages: [{ from: 'attendees', text: expression }] }, 'crm.messages[0].text'],
    [
      'http',
      'no-value',
      { records: [{ from: 'attendees', requires: ['mail'], properties: { name: expression, mail: expression } }] },
      'crm.records[0].requires',
    ],
  ])('is what the type %s declares for the reason %s', (type, reason, settings, at) => {
    expect(lack(settings, reason, type)).toMatchObject({ at });
  });

  it('omits fields that exist, and is unknown for other lists and reasons', () => {
    const there = { records: [{ from: 'attendees', email: new Expression('item.Email') }] };
    expect(lack(there, 'no-email')?.fields).toBeNull();
    expect(lack(there, 'unchanged')).toBeNull();
    expect(lack({ records: [{ from: 'votes', email: new Expression('item.Email') }] }, 'no-email')).toBeNull();
  });
});
