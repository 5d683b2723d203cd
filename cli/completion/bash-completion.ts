import type { CompletedCommand, ValueKind } from './command-tree.js';
import { shQuoted } from './sh-quoted.js';

/**
 * A completion for bash (4.4 or newer), to be read by `eval`. Pure. The word is taken from the line itself, since bash
 * breaks words at colons, which stand in `sink:hooks`.
 */
export function bashCompletion(tree: readonly CompletedCommand[]): string {
  return `${[
    '# pigeonpost completion for bash',
    '_pigeonpost() {',
    `  local at='' pending='' kind='' candidates='' options='' word`,
    '  local line="${COMP_LINE:0:COMP_POINT}"',
    '  local cur="${line##*[[:space:]]}"',
    '  local -a before',
    '  read -ra before <<< "${line%"$cur"}"',
    '  for word in "${before[@]:1}"; do',
    `    if [[ -n "$pending" ]]; then pending=''; continue; fi`,
    '    case "$at|$word" in',
    `      ${optionsWithValue(tree)
      .map(({ path, flag }) => shQuoted(`${path}|${flag}`))
      .join('|')}) pending="$word" ;;`,
    ...tree.flatMap(({ path, commands }) =>
      commands.map(({ name }) => `      ${shQuoted(`${path}|${name}`)}) at=${shQuoted(`${path} ${name}`.trim())} ;;`),
    ),
    '    esac',
    '  done',
    '  if [[ -n "$pending" ]]; then',
    '    case "$at|$pending" in',
    ...optionsWithValue(tree).map(
      ({ path, flag, value }) => `      ${shQuoted(`${path}|${flag}`)}) ${assigned(value)} ;;`,
    ),
    '    esac',
    '  else',
    '    case "$at" in',
    ...tree.map((command) => `      ${shQuoted(command.path)}) ${ofCommand(command)} ;;`),
    '    esac',
    `    if [[ "$cur" == -* ]]; then kind='words' candidates="$options"; fi`,
    '  fi',
    '  case "$kind" in',
    '    names) candidates="$(pigeonpost completion names "$candidates" 2> /dev/null)" ;;',
    '    files) compopt -o default 2> /dev/null; COMPREPLY=(); return ;;',
    '  esac',
    '  mapfile -t COMPREPLY < <(compgen -W "$candidates" -- "$cur")',
    '  local typed="${cur%"${cur##*:}"}"',
    '  if [[ -n "$typed" && "$COMP_WORDBREAKS" == *:* ]]; then COMPREPLY=("${COMPREPLY[@]#"$typed"}"); fi',
    '}',
    'complete -F _pigeonpost pigeonpost',
  ].join('\n')}\n`;
}

function optionsWithValue(
  tree: readonly CompletedCommand[],
): { readonly path: string; readonly flag: string; readonly value: ValueKind }[] {
  return tree.flatMap(({ path, options }) =>
    options.flatMap(({ flag, value }) => (value === null ? [] : [{ path, flag, value }])),
  );
}

function ofCommand({ commands, options, argument }: CompletedCommand): string {
  const flags = `options=${shQuoted(options.map(({ flag }) => flag).join(' '))}`;
  const value: ValueKind =
    commands.length > 0 && argument === null
      ? { kind: 'words', words: commands.map(({ name }) => name) }
      : (argument ?? { kind: 'text' });
  return `${flags} ${assigned(value)}`;
}

function assigned(value: ValueKind): string {
  switch (value.kind) {
    case 'words':
      return `kind='words' candidates=${shQuoted(value.words.join(' '))}`;
    case 'names':
      return `kind='names' candidates='${value.of}'`;
    case 'files':
      return `kind='files'`;
    case 'text':
      return `kind='text'`;
  }
}
