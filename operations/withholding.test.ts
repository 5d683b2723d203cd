import { type ListOutcomes, judgeWithholding, withholdingText } from './withholding.js';

const none = { sent: 0, lacking: 0 };
const withheld = (reason: string, changes: number): ListOutcomes['counts'][number] => ({
  state: 'withheld',
  reason,
  changes,
});
const delivered = (changes: number): ListOutcomes['counts'][number] => ({ state: 'delivered', reason: '', changes });
const judge = (counts: ListOutcomes['counts'], recent = none): ReturnType<typeof judgeWithholding> =>
  judgeWithholding({ list: 'attendees', counts, recent });

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
