import { CheckTally } from './check-summary.js';
import { plainProblem } from './problem-words.js';

describe('the summary of a check', () => {
  it('counts rows, problems by kind, and notes by column and kind with the first of them', () => {
    const tally = new CheckTally();
    const profile = { attendeeCode: 'A1' };
    tally.add([
      { row: 2, profile, notes: [plainProblem(2, 'Code', 'trimmed'), plainProblem(2, 'Name', 'trimmed')] },
      {
        row: 3,
        values: {},
        problems: [plainProblem(3, 'Code', 'missing-code'), plainProblem(3, 'Name', 'empty-name')],
      },
    ]);
    tally.add([
      { row: 4, profile, notes: [plainProblem(4, 'Code', 'trimmed')] },
      { row: 5, values: {}, problems: [plainProblem(5, 'Code', 'missing-code')] },
    ]);
    expect(tally.summary()).toEqual({
      rows: 4,
      sendable: 2,
      invalid: 2,
      problems: [
        plainProblem(3, 'Code', 'missing-code'),
        plainProblem(3, 'Name', 'empty-name'),
        plainProblem(5, 'Code', 'missing-code'),
      ],
      problemCounts: { 'missing-code': 2, 'empty-name': 1 },
      notes: [
        { first: plainProblem(2, 'Code', 'trimmed'), rows: 2 },
        { first: plainProblem(2, 'Name', 'trimmed'), rows: 1 },
      ],
    });
  });

  it('keeps the first 1,000 problems and counts all', () => {
    const tally = new CheckTally();
    for (let row = 2; row < 1_502; row++)
      tally.add([{ row, values: {}, problems: [plainProblem(row, null, 'too-long')] }]);
    const { problems, problemCounts } = tally.summary();
    expect([problems.length, problems.at(-1)?.row, problemCounts['too-long']]).toEqual([1_000, 1_001, 1_500]);
  });
});
