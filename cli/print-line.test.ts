import { printLine } from './print-line.js';

function printed(text: string, terminal: boolean): string[] {
  const lines: string[] = [];
  printLine({ line: (line) => void lines.push(line), terminal, columns: 20 }, text);
  return lines;
}

describe('a line that is printed', () => {
  const long = '  sink crm:  working, nothing to go';

  it('is broken between words on a terminal that is narrower, and goes on further in', () => {
    expect(printed(long, true)).toEqual(['  sink crm: working,', '      nothing to go']);
  });

  it('stays as it is where it has room, and where another program reads it', () => {
    expect(printed('a  table  row', true)).toEqual(['a  table  row']);
    expect(printed(long, false)).toEqual([long]);
  });
});
