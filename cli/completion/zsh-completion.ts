import type { CompletedCommand, ValueKind } from './command-tree.js';
import { shQuoted } from './sh-quoted.js';

/** A completion for zsh, with descriptions: a file `_pigeonpost` of `fpath`, or read by `eval`. Pure. */
export function zshCompletion(tree: readonly CompletedCommand[]): string {
  return `${[
    '#compdef pigeonpost',
    '# pigeonpost completion for zsh',
    '_pigeonpost_names() {',
    '  local -a found',
    '  found=("${(@f)$(pigeonpost completion names $1 2> /dev/null)}")',
    '  compadd -a found',
    '}',
    '_pigeonpost() {',
    `  local at='' pending='' word`,
    '  local -a commands options',
    '  for word in "${(@)words[2,CURRENT-1]}"; do',
    `    if [[ -n "$pending" ]]; then pending=''; continue; fi`,
    '    case "$at|$word" in',
    ...tree.flatMap(({ path, commands, options }) => [
      ...options.flatMap(({ flag, value }) =>
        value === null ? [] : [`      (${pattern(`${path}|${flag}`)}) pending="$word" ;;`],
      ),
      ...commands.map(
        ({ name }) => `      (${pattern(`${path}|${name}`)}) at=${shQuoted(`${path} ${name}`.trim())} ;;`,
      ),
    ]),
    '    esac',
    '  done',
    '  if [[ -n "$pending" ]]; then',
    '    case "$at|$pending" in',
    ...tree.flatMap(({ path, options }) =>
      options.flatMap(({ flag, value }) =>
        value === null ? [] : [`      (${pattern(`${path}|${flag}`)}) ${offered(value)} ;;`],
      ),
    ),
    '    esac',
    '    return',
    '  fi',
    '  case "$at" in',
    ...tree.flatMap((command) => [
      `    (${pattern(command.path)})`,
      `      options=(${command.options.map(({ flag, description }) => described(flag, description)).join(' ')})`,
      `      if [[ "$PREFIX" == -* ]]; then _describe -t options option options; else ${ofCommand(command)}; fi ;;`,
    ]),
    '  esac',
    '}',
    'if [[ "$funcstack[1]" == _pigeonpost ]]; then _pigeonpost "$@"; else compdef _pigeonpost pigeonpost; fi',
  ].join('\n')}\n`;
}

/** Quoted as a whole: none of its characters is one of a pattern then. */
function pattern(text: string): string {
  return shQuoted(text);
}

function described(name: string, description: string): string {
  return shQuoted(`${name.replaceAll(':', String.raw`\:`)}:${description}`);
}

function ofCommand({ commands, argument }: CompletedCommand): string {
  if (argument !== null || commands.length === 0) return argument === null ? 'true' : offered(argument);
  const words = commands.map(({ name, description }) => described(name, description)).join(' ');
  return `commands=(${words}); _describe -t commands command commands`;
}

function offered(value: ValueKind): string {
  switch (value.kind) {
    case 'words':
      return `compadd -- ${value.words.map(shQuoted).join(' ')}`;
    case 'names':
      return `_pigeonpost_names ${value.of}`;
    case 'files':
      return '_files';
    case 'text':
      return 'true';
  }
}
