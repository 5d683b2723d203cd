import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const root = resolve(__dirname, '../..');

/** A documented command line. */
export interface CommandLine {
  /** `test/README.md: npm run chaos -- --seed 42`. */
  readonly where: string;
  /** Words as a shell splits them. */
  readonly words: readonly string[];
  /** Whether the line is complete and can be typed. A mention in a sentence may contain only the command. */
  readonly isWhole: boolean;
}

/** Returns the lines in guides, and the mentions in guides and messages, that start with `program`. */
export function commandLines(program: RegExp): CommandLine[] {
  const pages = [...filesIn('.', /\.(?:md|yml)$/), ...filesIn('deploy', /\.yaml$/), 'test/README.md', 'Dockerfile'];
  return [...pages.flatMap(ofPage), ...filesIn('.', /(?<!test|test-kit|fixture)\.tsx?$/).flatMap(ofSource)].filter(
    ({ words }) => program.test(words.join(' ')),
  );
}

const skipped = new Set(['node_modules', 'dist', '.git', 'test', 'decisions', 'fixtures']);

function filesIn(folder: string, wanted: RegExp): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return skipped.has(entry.name) || entry.name.startsWith('.') ? [] : filesIn(path, wanted);
    return wanted.test(entry.name) ? [path] : [];
  });
}

function ofPage(page: string): CommandLine[] {
  const text = readFileSync(join(root, page), 'utf8');
  const fence = /^ *```([a-z]*)\n([^]*?)^ *```$/gm;
  const shells = [...text.matchAll(fence)].filter(([, language]) => /^(?:|sh|bash|console)$/.test(language!));
  const blocks = shells.flatMap(([, , block]) => block!.replaceAll(/\\\n\s*/g, ' ').split('\n'));
  const comments = page.endsWith('.md') ? [] : [...text.matchAll(/^# {2,}(\S.*)$/gm)].map(([, line]) => line!);
  const prose = text.replaceAll(fence, '');
  const mentions = [...prose.matchAll(/(?<!`)`([^`]+)`(?!`)/g)].map(([, mention]) => mention!);
  return [
    ...[...blocks, ...comments].flatMap((line) => toLines(page, line, true)),
    ...mentions.flatMap((mention) => toLines(page, mention, false)),
  ];
}

/** Returns the commands in messages, which are in quotes or backticks after a space or a bracket. */
function ofSource(file: string): CommandLine[] {
  const text = readFileSync(join(root, file), 'utf8');
  const quoted = [...text.matchAll(/[\s(](?:"|\\`)((?:pigeonpost|npm run) [^"`'\\\n]+?)(?:"|\\`)/g)].map(
    ([, line]) => line!,
  );
  return quoted.flatMap((line) => toLines(file, line.replaceAll(/\$\{[^}]*\}/g, 'NAME'), false));
}

function toLines(file: string, text: string, isWhole: boolean): CommandLine[] {
  return shellCommands(text)
    .flatMap(unwrap)
    .flatMap((words) =>
      alternatives(words).map((each) => ({ where: `${file}: ${each.join(' ')}`, words: each, isWhole })),
    );
}

/** Returns the command, after variables and inside a container, and the commands in its `$(…)`. */
function unwrap(words: readonly string[]): string[][] {
  const inner = words.flatMap((word) =>
    [...word.matchAll(/\$\(([^)]*)\)/g)].flatMap(([, line]) => shellCommands(line!)),
  );
  const command = words.filter((_word, at) => !words.slice(0, at + 1).every((before) => /^[A-Z_]+=/.test(before)));
  const [docker, compose, verb, ...rest] = command;
  if (docker !== 'docker' || compose !== 'compose' || (verb !== 'exec' && verb !== 'run')) return [command, ...inner];
  const service = rest.findIndex((word) => !word.startsWith('-'));
  const inContainer = rest.slice(service + 1);
  return [verb === 'run' ? ['pigeonpost', ...inContainer] : inContainer, ...inner];
}

/** Splits a line at && and | into commands of words, without comments and redirections. */
export function shellCommands(line: string): string[][] {
  const tokens = line.trim().match(/(?:\$\([^)]*\)|"[^"]*"|'[^']*'|<[^>\s]+>|[^\s"'<>])+|[<>]+/g) ?? [];
  const commands: string[][] = [[]];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at]!;
    if (token.startsWith('#')) break;
    if (token === '&&' || token === '|' || token === ';') commands.push([]);
    else if (/^[<>]+$/.test(token)) at += 1;
    else if (token !== '$' && token !== '…' && token !== '...')
      commands.at(-1)!.push(token.replaceAll(/^["']|["']$/g, ''));
  }
  return commands
    .map((words) => words.map((word) => word.replaceAll(/^\[|\]$/g, '')))
    .filter((words) => words.length > 0);
}

/** Expands `list|show` to both. */
function alternatives(words: readonly string[]): string[][] {
  return words.reduce<string[][]>(
    (lines, word) =>
      lines.flatMap((line) => (/^[a-z|-]+$/.test(word) ? word.split('|') : [word]).map((each) => [...line, each])),
    [[]],
  );
}
