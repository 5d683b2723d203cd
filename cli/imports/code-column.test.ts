import { candidateLines, mappingsFor } from './code-column.js';

const codeColumn = {
  basis: 'several' as const,
  doubt: 'Several columns may hold the attendee codes.',
  candidates: [
    { column: 'Ticket', first: 'Early Bird', filled: 40, different: 2, withDigit: 0, isDoubtful: true },
    { column: 'Ref', first: 'C42A-1', filled: 40, different: 40, withDigit: 40, isDoubtful: false },
  ],
};

describe('the question for the column of the codes', () => {
  it('shows what each column holds', () => {
    expect(candidateLines(codeColumn, false)).toEqual([
      '   column  holds                                             for example',
      '1  Ticket  2 different values in 40 rows, none with a digit  Early Bird',
      '2  Ref     40 different values in 40 rows                    C42A-1',
    ]);
    expect(candidateLines(codeColumn, true)[1]).toBe('0  none of them  generate a code for each row');
  });

  it.each<[string, boolean, string[] | null]>([
    ['2', false, ['Ref=attendeeCode']],
    ['1', true, ['Ticket=attendeeCode']],
    ['0', true, ['Ticket=Ticket', 'Ref=Ref']],
    ['0', false, null],
    ['3', false, null],
    ['', false, null],
    ['y', false, null],
    ['1.5', false, null],
  ])('takes the answer %j (with codes to generate: %s) as %j', (answer, mayGenerate, expected) => {
    expect(mappingsFor(answer, codeColumn, mayGenerate)).toEqual(expected);
  });
});
