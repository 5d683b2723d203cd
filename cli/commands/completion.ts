import type { Command } from 'commander';
import { serviceAndDerivedLists } from '../../operations/command-words.js';
import { bashCompletion } from '../completion/bash-completion.js';
import { type CompletedCommand, commandTree, type NameKind } from '../completion/command-tree.js';
import { fishCompletion } from '../completion/fish-completion.js';
import { namesInConfiguration } from '../completion/names-in-configuration.js';
import type { Shell } from '../completion/shells.js';
import { zshCompletion } from '../completion/zsh-completion.js';
import type { Context } from '../context.js';
import { ExitCode } from '../exit-code.js';
import { roles } from '../roles.js';

const scripts: Readonly<Record<Shell, (tree: readonly CompletedCommand[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

/** `pigeonpost completion <shell>`: a script that lets the shell complete commands, options and names. Exit 0. */
export function completion(program: Command, { out }: Context, shell: Shell): ExitCode {
  out.line(scripts[shell](commandTree(program, { lists: serviceAndDerivedLists, roles })).trimEnd());
  return ExitCode.Done;
}

/** `pigeonpost completion names <kind>`: what the scripts ask while a person types. A name a line; exit 0, also with none. */
export async function completionNames({ config, out }: Context, kind: NameKind): Promise<ExitCode> {
  for (const name of await namesInConfiguration(config, kind)) out.line(name);
  return ExitCode.Done;
}
