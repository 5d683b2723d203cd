import type { CompletedCommand, ValueKind } from './command-tree.js';

/** A completion for fish, with descriptions: a file pigeonpost.fish in its `completions` folder, or read by `source`. Pure. */
export function fishCompletion(tree: readonly CompletedCommand[]): string {
  const paths = tree.map(({ path }) => path).filter((path) => path !== '');
  const valued = [
    ...new Set(tree.flatMap(({ options }) => options.filter(({ value }) => value !== null).map(({ flag }) => flag))),
  ];
  return `${[
    '# pigeonpost completion for fish',
    'function __pigeonpost_at',
    '    set -l at',
    '    set -l pending 0',
    '    for word in (commandline -opc)[2..-1]',
    '        if test $pending = 1',
    '            set pending 0',
    `        else if contains -- $word ${valued.map(quoted).join(' ')}`,
    '            set pending 1',
    `        else if contains -- (string join ' ' -- $at $word) ${paths.map(quoted).join(' ')}`,
    '            set at $at $word',
    '        end',
    '    end',
    `    test "$argv[1]" = (string join ' ' -- $at | string collect --allow-empty)`,
    'end',
    'complete -c pigeonpost -f',
    ...tree.flatMap(commandLines),
  ].join('\n')}\n`;
}

function commandLines({ path, commands, options, argument }: CompletedCommand): string[] {
  const here = `complete -c pigeonpost -n ${quoted(`__pigeonpost_at ${quoted(path)}`)}`;
  const takesCommands = argument === null;
  return [
    ...(takesCommands ? commands : []).map(
      ({ name, description }) => `${here} -a ${quoted(name)} -d ${quoted(description)}`,
    ),
    ...(argument === null || argument.kind === 'text' ? [] : [`${here} ${offered(argument)}`]),
    ...options.map(({ flag, description, value }) => {
      // Without -x fish would offer files beside the words.
      const takes = value === null ? '' : value.kind === 'files' ? ' -r -F' : ` -x ${offered(value)}`;
      return `${here} -l ${flag.replace(/^-+/, '')} -d ${quoted(description)}${takes}`.trimEnd();
    }),
  ];
}

function offered(value: ValueKind): string {
  switch (value.kind) {
    case 'words':
      return `-a ${quoted(value.words.join(' '))}`;
    case 'names':
      return `-a ${quoted(`(pigeonpost completion names ${value.of} 2> /dev/null)`)}`;
    case 'files':
      return '-F';
    case 'text':
      return '';
  }
}

/** Within single quotes fish knows two escapes. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', String.raw`\\`).replaceAll("'", String.raw`\'`)}'`;
}
