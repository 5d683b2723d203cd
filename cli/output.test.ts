import { itemLine } from './commands/items.js';
import { changeLine } from './commands/live.js';
import { noteMessage, type Output, outputTo, printLabelled, printLine, LiveBlock } from './output.js';
import { paint, renderLine, shownText } from './text-line.js';

/**
 * Text of an attendee with C0 and C1 controls (a CSI and an OSC of one character each), DEL, bidi controls and line
 * ends.
 */
const hostile = '\u001b[2Jname\u009b31m\u009d0;title\u009c\u007f\u0007\u202eevil\u2066\u2028\u0085\u200f end';
const obeyed = /[^\P{Cc}\n]|[\p{Bidi_Control}\u2028\u2029]/u;

function output(terminal: boolean): { out: Output; printed: () => string } {
  let printed = '';
  const write = (text: string): boolean => {
    printed += text;
    return true;
  };
  const stdout = { write, isTTY: terminal, hasColors: () => terminal, columns: 80, rows: 24 };
  return { out: outputTo(stdout as unknown as NodeJS.WriteStream, { write }), printed: () => printed };
}

it('treats a terminal without a size as one of 80 columns and 24 rows', () => {
  const stdout = { write: () => true, isTTY: true, hasColors: () => false, columns: 0, rows: 0 };
  const out = outputTo(stdout as unknown as NodeJS.WriteStream, { write: () => true });
  expect([out.columns, out.rows]).toEqual([80, 24]);
});

const change = {
  workspace: 'acme',
  pigeonholeId: 101,
  sessionId: null,
  list: 'questions',
  key: hostile,
  sequence: 1,
  kind: 'created',
  revision: 1,
  visibility: null,
  foundAt: '2026-11-22T09:00:00.000Z',
  name: { noun: 'a question', title: hostile, person: hostile, session: hostile, event: hostile },
  data: { content: hostile },
} as never;
const item = {
  key: '1',
  name: { noun: 'a question', title: hostile, person: hostile, session: hostile, event: hostile },
  sessionId: null,
  revision: 1,
  deleted: false,
  visibility: null,
  consent: null,
  lastChangedAt: '2026-11-22T09:00:00.000Z',
  data: { content: hostile },
} as never;

describe.each([
  ['a terminal', true],
  ['a pipe', false],
])('what a command prints to %s', (_, terminal) => {
  it.each<[string, (out: Output) => void]>([
    ['a live change', (out) => out.line(renderLine(changeLine(change), { columns: 200, colours: false }))],
    ['an item', (out) => out.line(itemLine('questions', item))],
    ['a message of a vendor', (out) => out.note(`the sink answers: ${hostile}`)],
  ])('contains nothing in %s that a terminal interprets', (_name, print) => {
    const { out, printed } = output(terminal);
    print(out);
    expect(printed()).not.toMatch(obeyed);
  });

  it('is valid JSON with the same values for a program', () => {
    const { out, printed } = output(terminal);
    out.line(JSON.stringify({ data: hostile }));
    expect(printed()).not.toMatch(obeyed);
    expect(JSON.parse(printed())).toEqual({ data: hostile });
  });

  it('keeps tabs, line ends and letters of all scripts', () => {
    const { out, printed } = output(terminal);
    out.line('a\tb שלום 世界 👩‍💻');
    noteMessage(out, 'one\ntwo');
    expect(printed()).toBe('a\tb שלום 世界 👩‍💻\none\ntwo\n');
  });

  it('stays on its line', () => {
    const { out, printed } = output(terminal);
    out.line('a question\r\nPROBLEM forged');
    expect(printed()).toBe('a question\\u000d\\u000aPROBLEM forged\n');
  });
});

describe('a colour', () => {
  it('chosen by pigeonpost is printed on a terminal', () => {
    const { out, printed } = output(true);
    out.line(paint('ready', 'green', true));
    expect(printed()).toBe('\u001b[32mready\u001b[39m\n');
  });

  it('in a text from outside is not printed', () => {
    const { out, printed } = output(true);
    out.line('\u001b[8mhidden\u001b[1;31m \u001b[31mred\u001b[39m \u001b[123m\u001b[1m');
    expect(printed()).not.toContain('\u001b');
  });
});

it('a redrawn block contains no escape sequences except its own cursor movements and colours', () => {
  let drawn = '';
  const block = new LiveBlock({ draw: (text) => (drawn += text), columns: 80, rows: 24 });
  block.show([hostile]);
  expect(drawn.replaceAll('\u001b[K', '').replaceAll('\u001b[J', '')).not.toMatch(obeyed);
});

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

describe('a sentence that is longer than a line', () => {
  const sentence = 'pigeonpost: sink crm withholds what it should send, so an operator has to check it';
  const streams = (isTTY: boolean) => {
    const texts = { stdout: '', stderr: '' };
    const stream = (name: keyof typeof texts) =>
      ({ isTTY, columns: 40, hasColors: () => false, write: (text: string) => (texts[name] += text) }) as never;
    return { texts, out: outputTo(stream('stdout'), stream('stderr')) };
  };
  const lines = 'pigeonpost: sink crm withholds what it\n    should send, so an operator has to\n    check it\n';

  it('is wrapped between words on a terminal, as a result and as a note', () => {
    const { texts, out } = streams(true);
    out.line(sentence);
    noteMessage(out, `the file is wrong:\n${sentence}`);
    expect(texts).toEqual({ stdout: lines, stderr: `the file is wrong:\n${lines}` });
  });

  it('is one line for another program, and as JSON', () => {
    const piped = streams(false);
    piped.out.line(sentence);
    piped.out.note(sentence);
    expect(piped.texts).toEqual({ stdout: `${sentence}\n`, stderr: `${sentence}\n` });
    const { texts, out } = streams(true);
    const json = JSON.stringify({ sentence });
    for (const text of [json, `  "text": "${sentence}"`]) out.line(text);
    expect(texts.stdout).toBe(`${json}\n  "text": "${sentence}"\n`);
  });

  it('keeps an address whole', () => {
    const { texts, out } = streams(true);
    const address = `http://127.0.0.1:8088/sign-in?${'x'.repeat(40)}`;
    out.line(`open the page: ${address}`);
    expect(texts.stdout).toBe(`open the page:\n    ${address}\n`);
  });
});

describe('a text next to a label', () => {
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
    expect(shownText(labelled(true, true)[0]!, { colours: true })).toBe(
      '\u001b[31mPROBLEM\u001b[39m sink crm: the token is',
    );
  });

  it('is one line if another program reads the output', () => {
    expect(labelled(false, false)).toEqual(['PROBLEM sink crm: the token is refused, so nothing is sent']);
  });
});
