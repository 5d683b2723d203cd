import type { Argument, Command, Option } from 'commander';

/** What stands in a place of a command line: words that are always the same, names of this configuration, or files. */
export type ValueKind =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'names'; readonly of: NameKind }
  | { readonly kind: 'files' }
  | { readonly kind: 'text' };

/** Names that stand in pigeonpost.yaml. `places`: as `pause` takes them, such as sink:hooks. */
export const nameKinds = ['sinks', 'workspaces', 'places'] as const;
export type NameKind = (typeof nameKinds)[number];

export interface CompletedOption {
  readonly flag: string;
  readonly description: string;
  /** Null: it takes no value. */
  readonly value: ValueKind | null;
}

/** A command with all that can follow it. */
export interface CompletedCommand {
  /** Words after `pigeonpost`, with blanks between them; empty for the program itself. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly CompletedOption[];
  /** What its arguments are; null: it takes none. */
  readonly argument: ValueKind | null;
}

/** Words that some places take, which the caller knows. */
export interface KnownWords {
  readonly lists: readonly string[];
  readonly roles: readonly string[];
}

/** Every command of a program, taken from the program itself, so that none is forgotten. The program comes first. */
export function commandTree(program: Command, known: KnownWords): CompletedCommand[] {
  const shared = program.options.map((option) => completed(option, known)); // they may stand behind every command
  const walk = (command: Command, path: readonly string[]): CompletedCommand[] => {
    const shown = command
      .createHelp()
      .visibleCommands(command)
      .filter((each) => each.name() !== 'help');
    const own = path.length === 0 ? [] : command.options.map((option) => completed(option, known));
    const [argument] = command.registeredArguments;
    return [
      {
        path: path.join(' '),
        commands: shown.map((each) => ({ name: each.name(), description: each.description() })),
        options: [...own, ...shared, { flag: '--help', description: 'how it is used', value: null }],
        argument: argument === undefined ? null : argumentKind(argument, command, known),
      },
      ...shown.flatMap((each) => walk(each, [...path, each.name()])),
    ];
  };
  return walk(program, []);
}

function completed(option: Option, known: KnownWords): CompletedOption {
  const takesValue = option.required || option.optional;
  return {
    flag: option.long ?? option.short ?? option.flags,
    description: option.description,
    value: takesValue ? optionKind(option, known) : null,
  };
}

function optionKind({ long, flags, argChoices }: Option, { lists, roles }: KnownWords): ValueKind {
  if (argChoices !== undefined) return { kind: 'words', words: argChoices };
  switch (long) {
    case '--sink':
      return { kind: 'names', of: 'sinks' };
    case '--workspace':
      return { kind: 'names', of: 'workspaces' };
    case '--list':
      return { kind: 'words', words: lists };
    case '--role':
      return { kind: 'words', words: roles };
    default:
      return /<(file|path)>/.test(flags) ? { kind: 'files' } : { kind: 'text' };
  }
}

function argumentKind(argument: Argument, command: Command, { lists }: KnownWords): ValueKind {
  if (argument.argChoices !== undefined) return { kind: 'words', words: argument.argChoices };
  const name = argument.name();
  if (name === 'what') return { kind: 'names', of: 'places' };
  if (name === 'sink' || (name === 'name' && command.parent?.name() === 'sink')) return { kind: 'names', of: 'sinks' };
  if (name === 'list') return { kind: 'words', words: lists };
  return name === 'file' ? { kind: 'files' } : { kind: 'text' };
}
