import {
  judgeObservation,
  type ListOutcomes,
  judgeWithholding,
  withheldByCondition,
  withholdingText,
} from './withholding.js';

const none = { sent: 0, lacking: 0 };
const withheld = (reason: string, changes: number): ListOutcomes['counts'][number] => ({
  state: 'withheld',
  reason,
  changes,
});
const delivered = (changes: number): ListOutcomes['counts'][number] => ({ state: 'delivered', reason: '', changes });
const judge = (counts: ListOutcomes['counts'], recent = none): ReturnType<typeof judgeWithholding> =>
  judgeWithholding({ list: 'attendees', counts, recent });

describe('a condition', () => {
  const list = (...counts: ListOutcomes['counts']): ListOutcomes => ({ list: 'questions', counts, recent: none });

  it('is looked into when it leaves out all of a list', () => {
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

describe('a sink that observes', () => {
  const observed = { wouldSend: 0, wouldSendAnonymously: 0, wouldWithhold: { 'no-match': 30, 'consent-refused': 5 } };

  it('is wrong when it would send nothing for want of a value', () => {
    expect(judgeObservation(observed)).toEqual({ list: 'changes', kind: 'would', reason: 'no-match', changes: 30 });
    expect(judgeObservation({ ...observed, wouldSend: 1 })).toBeNull();
    expect(judgeObservation({ ...observed, wouldWithhold: { 'consent-refused': 50, 'no-match': 9 } })).toBeNull();
  });
});

describe('a sink that withholds', () => {
  it('is wrong when it never sent an item of the list for want of a value', () => {
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
    ['others are sent', [withheld('no-match', 60), delivered(940)]],
    ['the destination refuses the others', [withheld('no-match', 60), { state: 'dead', reason: 'x', changes: 1 }]],
  ] as const)('is right when %s', (_, counts) => {
    expect(judge(counts)).toBeNull();
  });

  it('is wrong when it withholds far more of the latest than of those before', () => {
    const counts = [withheld('no-match', 160), withheld('no-email', 2), delivered(2000)];
    expect(judge(counts, { sent: 40, lacking: 160 })).toMatchObject({ kind: 'more', reason: 'no-match', changes: 80 });
    expect(judge(counts, { sent: 190, lacking: 10 })).toBeNull();
    expect(judge([withheld('no-match', 1000), delivered(1000)], { sent: 90, lacking: 110 })).toBeNull(); // as ever
    expect(judge([delivered(2162)], { sent: 40, lacking: 160 })).toBeNull(); // a replay has sent them since
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
