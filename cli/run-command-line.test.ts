import { createProgram } from './run-command-line.js';
import type { Command } from 'commander';

const nothing = { line: () => undefined, note: () => undefined, draw: () => undefined };

async function run(...words: string[]): Promise<void> {
  const out = { ...nothing, terminal: false, colours: false, columns: 80, rows: 24 };
  await createProgram(out, () => undefined).parseAsync(words, { from: 'user' });
}

describe('a command that does not use --url', () => {
  it.each([
    ['start'],
    ['worker'],
    ['check'],
    ['doctor'],
    ['init', '--yes'],
    ['restore', 'a.age'],
    ['key', 'export', '-'],
  ])('refuses --url instead of ignoring it: %s', async (...words) => {
    const name = words.filter((word) => /^[a-z]+$/.test(word)).join(' ');
    await expect(run('--url', 'http://127.0.0.1:1', ...words)).rejects.toThrow(
      `"${name}" does not use --url: remove it`,
    );
  });

  it('refuses --token as well', async () => {
    await expect(run('--token', 'x', 'start')).rejects.toThrow('"start" does not use --token: remove it');
  });
});

function programOf(columns: number): Command {
  return createProgram({ ...nothing, terminal: false, colours: false, columns, rows: 24 }, () => undefined);
}

/** Lists every command that can be run, by its full name. */
function leavesOf(program: Command, path: readonly string[] = []): { path: string; command: Command }[] {
  return program.commands.flatMap((command) => {
    const own = [...path, command.name()];
    const does = command.commands.length === 0 || command.registeredArguments.length > 0;
    return [...(does ? [{ path: own.join(' '), command }] : []), ...leavesOf(command, own)];
  });
}

function helpOf(command: Command, columns: number): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => (text += part),
    getOutHelpWidth: () => columns,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  return text;
}

describe('the help of a command', () => {
  it('marks the options that it requires', () => {
    const { command } = leavesOf(programOf(80)).find(({ path }) => path === 'preview')!;
    expect(helpOf(command, 80)).toMatch(/--sink <name> +sink to plan for \(required\)\n/);
  });
});

/** Commands that run until a signal, have no output for programs, or write a file; `person --export` prints JSON. */
const withoutJson = [
  'start',
  'worker',
  'api',
  'demo',
  'sandbox',
  'completion',
  'complete',
  'backup',
  'erasures export',
  'export',
  'key export',
  'mcp',
  'person',
];
/** The sandbox prints its own help; only shells run `complete`. */
const withoutExample = ['sandbox', 'complete'];

describe('every command', () => {
  const leaves = leavesOf(programOf(80));

  it('has an option to print one JSON document', () => {
    const without = leaves.filter(({ command }) => !command.options.some(({ long }) => long === '--json'));
    expect(without.map(({ path }) => path).toSorted()).toEqual(withoutJson.toSorted());
  });

  it('has an example in its help', () => {
    const without = leaves.filter(
      ({ path, command }) => !helpOf(command, 80).includes(`\n  pigeonpost ${path.split(' ')[0]}`),
    );
    expect(without.map(({ path }) => path).toSorted()).toEqual(withoutExample.toSorted());
  });

  it('is listed under a heading of the help', () => {
    const visible = programOf(80).commands.filter((command) => command.name() !== 'complete');
    expect(visible.filter((command) => command.helpGroup() === '').map((each) => each.name())).toEqual([]);
  });
});

describe('the help', () => {
  it.each([60, 160])(
    'is never wider than a terminal of %i columns, except for examples, which can be copied',
    (columns) => {
      const program = programOf(columns);
      const wide = [program, ...leavesOf(program).map(({ command }) => command)].flatMap((command) =>
        helpOf(command, columns)
          .split('\n')
          .filter((line) => line.length > columns && !/^ {2}(pigeonpost|eval) /.test(line)),
      );
      expect(wide).toEqual([]);
    },
  );
});
