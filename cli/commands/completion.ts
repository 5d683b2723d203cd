import { readFile } from 'node:fs/promises';
import type { Command as TabCommand, Complete } from '@bomb.sh/tab' with { 'resolution-mode': 'import' };
import { Argument, type Command, type Option } from 'commander';
import { listNames } from '../../base/lists.js';
import type { CliCommand } from '../command.js';
import { ExitCode } from '../exit-code.js';
import { sinkTypes } from '../init/write-configuration.js';
import { roles } from './access.js';

const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;

const examples = `
Examples:
  eval "$(pigeonpost completion bash)"                                         # in ~/.bashrc
  pigeonpost completion zsh > "\${fpath[1]}/_pigeonpost"
  pigeonpost completion fish > ~/.config/fish/completions/pigeonpost.fish`;

/**
 * Adds `pigeonpost completion <shell>`, which prints a script for the shell, and the hidden `complete`, which the
 * script runs when a person presses Tab. The bash script needs the package bash-completion.
 */
export function addCompletion(program: CliCommand): void {
  program
    .command('completion')
    .description('Print a script that lets your shell complete commands, options and names')
    .addArgument(new Argument('<shell>', 'your shell').choices(shells))
    .addHelpText('after', examples)
    .runs(
      async ({ out }, shell: (typeof shells)[number]) => {
        const tab = await import('@bomb.sh/tab');
        const script = printedBy(() => tab.script(shell, 'pigeonpost', 'pigeonpost'));
        for (const line of script.flatMap((part) => part.split('\n'))) out.line(line);
        // Added because the library's script does not make bash complete file names if there are no other completions.
        if (shell === 'bash') out.line('complete -o default -F __pigeonpost_complete pigeonpost');
        return ExitCode.Done;
      },
      { offline: 'completion' },
    );
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .allowUnknownOption()
    .runs(async ({ config, out }, words: string[]) => {
      for (const line of await complete(program, words, config)) out.line(line);
      return ExitCode.Done;
    });
}

/** Names that can complete a word of a command line. */
interface KnownWords {
  readonly sinks: readonly string[];
  readonly workspaces: readonly string[];
  readonly syncs: readonly string[];
  /** WORKSPACE/ID of the pigeonholes that the file names by their ids. */
  readonly pigeonholes: readonly string[];
  readonly lists: readonly string[];
}

/**
 * Returns the completions of the last word, one per line, and a line with a directive for the shell. Without
 * completions, the shell completes file names.
 */
async function complete(program: Command, words: readonly string[], config: string): Promise<string[]> {
  const { RootCommand } = await import('@bomb.sh/tab');
  const known = { ...(await namesIn(configIn(words) ?? config)), lists: listNames };
  const root = new RootCommand();
  describe(root, program, known);
  for (const [path, command] of commandsBelow(program, [])) {
    const described = root.command(path, command.description());
    describe(described, command, known);
    for (const option of program.options) addOption(described, option, known); // global options are allowed anywhere
  }
  const lines = printedBy(() => root.parse([...words]));
  return lines.length === 1 ? [':0'] : lines; // 0 is the shell's default, which completes file names
}

/** Returns the value of `--config` on the line that is being completed. */
function configIn(words: readonly string[]): string | undefined {
  const index = words.indexOf('--config');
  return index < 0 || index === words.length - 1 ? undefined : words[index + 1];
}

/** Runs `work` and returns the lines that it prints: the library prints its completions with `console.log`. */
function printedBy(work: () => void): string[] {
  const lines: string[] = [];
  const { log } = console;
  console.log = (line: string) => void lines.push(line);
  try {
    work();
  } finally {
    console.log = log;
  }
  return lines;
}

function commandsBelow(command: Command, path: readonly string[]): [path: string, command: Command][] {
  const visible = command.createHelp().visibleCommands(command);
  return visible.flatMap((each) => {
    const own = [...path, each.name()];
    return [[own.join(' '), each] as [string, Command], ...commandsBelow(each, own)];
  });
}

function describe(described: TabCommand, command: Command, known: KnownWords): void {
  for (const option of command.options) addOption(described, option, known);
  for (const argument of command.registeredArguments) {
    const words = argument.argChoices ?? wordsFor(argument.name(), command, known);
    described.argument(argument.name(), offering(words), argument.variadic);
  }
}

function addOption(described: TabCommand, option: Option, known: KnownWords): void {
  const name = option.long?.slice(2);
  if (name === undefined) return;
  const takesValue = option.required || option.optional;
  if (takesValue) described.option(name, option.description, offering(option.argChoices ?? wordsOf(option, known)));
  else described.option(name, option.description);
}

function offering(words: readonly string[]): (complete: Complete) => void {
  return (offer) => {
    for (const word of words) offer(word, '');
  };
}

/** The names in the help of an option, such as `--sink <name>`, say what it takes: `init --sink <type>` takes a type. */
function wordsOf(option: Option, { sinks, workspaces, syncs, pigeonholes, lists }: KnownWords): readonly string[] {
  const name = option.long!.slice(2);
  if (name === 'sink' && option.flags.includes('<type>')) return sinkTypes;
  return (
    { sink: sinks, workspace: workspaces, sync: syncs, pigeonhole: pigeonholes, list: lists, role: roles }[name] ?? []
  );
}

function wordsFor(argument: string, command: Command, known: KnownWords): readonly string[] {
  const { sinks, workspaces, pigeonholes, lists } = known;
  if (argument === 'list') return lists;
  if (argument === 'pigeonhole') return pigeonholes;
  if (argument === 'sink' || (argument === 'name' && command.parent?.name() === 'sink')) return sinks;
  return argument === 'what' ? [...workspaces, ...sinks, ...pigeonholes] : []; // a name without its kind is enough if only one object has it
}

/** Reads names from the text of a configuration, which need not be valid. Returns none if it cannot be read. */
async function namesIn(file: string): Promise<Omit<KnownWords, 'lists'>> {
  const { parse } = await import('yaml');
  const document: unknown = await readFile(file, 'utf8')
    .then((text) => parse(text, { logLevel: 'silent' }) as unknown)
    .catch(() => undefined); // an error cannot be shown while the shell completes a word
  const groupOf = (key: string): [name: string, value: unknown][] => {
    const group = isRecord(document) ? document[key] : undefined;
    return isRecord(group) ? Object.entries(group).filter(([name]) => isName(name)) : [];
  };
  const namesOf = (key: string): string[] => groupOf(key).map(([name]) => name);
  const pigeonholes = groupOf('syncs').flatMap(([, sync]) => {
    const { workspace, pigeonholes: ids } = isRecord(sync) ? sync : {};
    const known = Array.isArray(ids) && isName(workspace) ? ids.filter((id) => Number.isSafeInteger(id)) : [];
    return known.map((id) => `${String(workspace)}/${String(id)}`);
  });
  return {
    sinks: namesOf('sinks'),
    workspaces: namesOf('workspaces'),
    syncs: namesOf('syncs'),
    pigeonholes: [...new Set(pigeonholes)],
  };
}

const isName = (name: unknown) => typeof name === 'string' && /^[a-z0-9][a-z0-9-]{0,62}$/.test(name);

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
