import { printLabelled, printLine } from './print-line.js';

function printed(text: string, terminal: boolean): string[] {
  const lines: string[] = [];
  printLine({ line: (line) => void lines.push(line), terminal, columns: 20 }, text);
  return lines;
}

describe('a printed line', () => {
  const long = '  sink crm:  working, nothing to do';

  it('is wrapped between words on a narrow terminal, with an indented continuation', () => {
    expect(printed(long, true)).toEqual(['  sink crm: working,', '      nothing to do']);
  });

  it('is unchanged if it fits, and for other programs', () => {
    expect(printed('a  table  row', true)).toEqual(['a  table  row']);
    expect(printed(long, false)).toEqual([long]);
  });
});

describe('a text beside a label', () => {
  const labelled = (terminal: boolean, colours: boolean): string[] => {
    const lines: string[] = [];
    const out = { line: (line: string) => void lines.push(line), terminal, columns: 30, colours };
    printLabelled(out, ['PROBLEM', 'red'], 'sink crm: the token is refused, so nothing is sent');
    return lines;
  };

  it('stays in its column on every line of a terminal', () => {
    expect(labelled(true, false)).toEqual([
      'PROBLEM sink crm: the token is',
      '        refused, so nothing is',
      '        sent',
    ]);
    expect(labelled(true, true)[0]).toBe('\u001b[31mPROBLEM\u001b[39m sink crm: the token is');
  });

  it('is one line for other programs', () => {
    expect(labelled(false, false)).toEqual(['PROBLEM sink crm: the token is refused, so nothing is sent']);
  });
});
