import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, CommanderError } from 'commander';
import { createProgram } from '../../cli/run-command-line.js';
import { parse as parseSandbox } from '../../sandbox/command.js';
import { commandLines, root, shellCommands } from './documented-commands.test-kit.js';

const out = {
  line: () => undefined,
  note: () => undefined,
  draw: () => undefined,
  terminal: false,
  colours: false,
  columns: 80,
  rows: 24,
};

/** The real command line, of which nothing is carried out. */
function program(): Command {
  const made = createProgram(out, () => undefined);
  const still = (command: Command): void => {
    command.exitOverride().configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
    command.action(() => undefined);
    for (const each of command.commands) still(each);
  };
  for (const command of made.commands) still(command);
  return made.configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
}

const commandLine = program();

/** The usage error of a command line; undefined: it is valid. */
function refusalOf(args: readonly string[], isWhole: boolean): string | undefined {
  try {
    if (args[0] === 'sandbox') parseSandbox(args.slice(1).filter((arg) => arg !== '--help'));
    else commandLine.parse([...args], { from: 'user' });
    return undefined;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const isIncomplete = /missing|^commander\.help$/i.test(error.code);
    return error.exitCode === 0 || (isIncomplete && !isWhole) ? undefined : error.message;
  }
}

function leaves(command: Command, path: readonly string[] = []): { path: readonly string[]; command: Command }[] {
  return command.commands.flatMap((each) => [
    { path: [...path, each.name()], command: each },
    ...leaves(each, [...path, each.name()]),
  ]);
}

describe('the documented command lines', () => {
  /** Texts in sinks that begin like a command: the mark on a note. */
  const invented = /^pigeonpost [^ ]+\//;
  const own = commandLines(/^pigeonpost |^node dist\/cli\/main\.js/).filter(
    ({ words }) => !invented.test(words.join(' ')),
  );

  it('are found', () => {
    expect(own.filter(({ isWhole }) => isWhole).length).toBeGreaterThan(30);
    expect(own.filter(({ where }) => /\.ts: /.test(where)).length).toBeGreaterThan(20);
    const lines = own.map(({ words }) => words.join(' '));
    expect(lines).toContain('pigeonpost --url https://pigeonpost.example.com status');
    expect(lines).toContain('pigeonpost start --adopt');
    expect(lines).toContain('pigeonpost completion bash');
  });

  it('use existing commands and options', () => {
    const refused = own.flatMap(({ where, words, isWhole }) => {
      const args = words.slice(words[0] === 'pigeonpost' ? 1 : 2).map((word) => (word === 'COMMAND' ? 'status' : word));
      const refusal = refusalOf(args, isWhole);
      return refusal === undefined ? [] : [`${where}: ${refusal}`];
    });
    expect(refused).toEqual([]);
  });

  it('are valid in the help of each command', () => {
    const refused = leaves(program()).flatMap(({ path, command }) => {
      let help = '';
      command.configureOutput({ writeOut: (part) => (help += part) });
      command.outputHelp();
      const examples = [...help.matchAll(/^ {2}pigeonpost (.*?)(?: {2,}.*)?$/gm)].map(([, example]) => example!);
      return examples.flatMap((example) => {
        const refusal = refusalOf(shellCommands(example)[0]!, true);
        return refusal === undefined ? [] : [`${path.join(' ')}: ${example}: ${refusal}`];
      });
    });
    expect(refused).toEqual([]);
  });
});

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

/** The program that a script of package.json ends in, with its own arguments. */
function programOf(script: string): string[] {
  return /(?:^|&& (?:exec )?)node ([^&]+)$/.exec(scripts[script]!)![1]!.split(' ');
}

const withArguments = ['bench', 'chaos', 'properties', 'import-proof', 'start'];
const tools = [
  'check-documents.mjs',
  'check-language.mjs',
  'check-vendor-calendar.mjs',
  'fuzz-api.mjs',
  'record-histories.mjs',
  'run-typescript.cjs',
  'take-screenshots.mjs',
  'trim-image.mjs',
];

describe('the scripts', () => {
  const written = commandLines(/^npm (?:run|start)/);

  it('exist if a page names them', () => {
    const named = written.map(({ words }) =>
      words[1] === 'run' ? words.find((word, at) => at > 1 && !word.startsWith('-')) : words[1],
    );
    expect(named.filter((name) => name === undefined || scripts[name] === undefined)).toEqual([]);
  });

  /** With --help behind it a program reads all of its line, and does nothing. */
  const lines = [
    ...withArguments.map((script) => [script, '--']),
    ...written.filter(({ words }) => words.includes('--')).map(({ words }) => words.slice(words[1] === 'run' ? 2 : 1)),
  ];
  const flagsOf = (words: readonly string[]): readonly string[] =>
    words.filter((word, at) => /^--./.test(word) || (at > 1 && !words[at - 1]!.startsWith('--')) || at === 0);
  const isWithin = (line: readonly string[], other: readonly string[]): boolean =>
    flagsOf(line).every((flag) => flagsOf(other).includes(flag));
  const different = lines
    .filter(
      (line, at) => !lines.some((other, place) => isWithin(line, other) && (!isWithin(other, line) || place < at)),
    )
    .map((words) => words.join(' '));

  it.each(different)('accept the documented arguments: npm run %s', (line) => {
    const [script = '', args = ''] = line.split(/ -- ?/);
    const given = args === '' || args === '--help' ? [] : args.split(' ');
    const { status, stdout, stderr } = spawnSync('node', [...programOf(script), ...given, '--help'], {
      cwd: root,
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/--help/);
  });

  it.each(tools)('in tools/ print their usage: %s', (tool) => {
    const { status, stdout } = spawnSync('node', [join(root, 'tools', tool), '--help'], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, expect.stringContaining(`usage: node tools/${tool}`)]);
  });

  it.each(
    readdirSync(join(root, 'sandbox'), { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('main.ts'),
    ),
  )('of sandbox/ say how they are used: %s', (file) => {
    const run = [join(root, 'tools/run-typescript.cjs'), join('sandbox', file), '--help'];
    const { status, stdout, stderr } = spawnSync('node', run, { cwd: root, encoding: 'utf8' });
    expect([status, stdout, stderr]).toEqual([0, expect.stringContaining('--port'), '']);
  });

  it('refuse unknown arguments', () => {
    for (const [script, args] of [
      ['bench', ['--nothing']],
      ['import-proof', ['--duplicates', 'nothing']],
    ] as const) {
      const { status, stderr } = spawnSync('node', [...programOf(script), ...args], { cwd: root, encoding: 'utf8' });
      expect([script, status, stderr]).toEqual([script, 2, expect.stringContaining('npm run')]);
    }
  });
});
