import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProgram } from '../run-command-line.js';
import { askFish, askZsh } from './ask-shells.test-kit.js';
import { bashCompletion } from './bash-completion.js';
import { commandTree } from './command-tree.js';
import { fishCompletion } from './fish-completion.js';
import { namesInConfiguration } from './names-in-configuration.js';
import { zshCompletion } from './zsh-completion.js';

const nothing = { line: () => undefined, note: () => undefined, draw: () => undefined };
const screen = { terminal: false, colours: false, columns: 80, rows: 24 };
const program = createProgram({ ...nothing, ...screen }, () => undefined);
const tree = commandTree(program, { lists: ['questions', 'votes'], roles: ['viewer', 'admin'] });

const isInstalled = (shell: string): boolean => spawnSync(shell, ['--version']).error === undefined;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'completion-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What bash offers at the end of a line; `pigeonpost completion names` is a function that says what it was asked. */
function offered(line: string): string[] {
  const script = [
    bashCompletion(tree),
    `pigeonpost() { if [[ "$2" == names ]]; then printf '%s\\n' "$3"-one "$3"-two sink:hooks sink:crm; fi; }`,
    'compopt() { COMPREPLY=(); FILES=1; }',
    `COMP_LINE=${JSON.stringify(line)}; COMP_POINT=\${#COMP_LINE}; COMP_WORDBREAKS=$' \\t\\n:='`,
    '_pigeonpost',
    '[[ -n "$FILES" ]] && echo FILES',
    'printf "%s\\n" "${COMPREPLY[@]}"',
  ].join('\n');
  const done = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8' });
  expect(done.stderr).toBe('');
  return done.stdout.split('\n').filter((word) => word !== '');
}

describe('the commands that are completed', () => {
  it('are all that the program has, with their options', () => {
    const paths = tree.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(['', 'start', 'init', 'sink approve', 'import list', 'token create']));
    expect(tree.find(({ path }) => path === 'replay')!.options.map(({ flag }) => flag)).toEqual(
      expect.arrayContaining(['--all', '--from', '--json', '--config']),
    );
  });
});

describe('the completion of bash', () => {
  it.each<[string, string[]]>([
    ['pigeonpost sta', ['start', 'status']],
    ['pigeonpost sink ', ['approve']],
    ['pigeonpost deletions c', ['confirm']],
    ['pigeonpost --config other.yaml deletions r', ['reject']],
    ['pigeonpost replay --a', ['--all']],
    ['pigeonpost replay ', ['sinks-one', 'sinks-two', 'sink:hooks', 'sink:crm']],
    ['pigeonpost preview --sink sinks-t', ['sinks-two']],
    ['pigeonpost preview --sink crm --list qu', ['questions']],
    ['pigeonpost fields v', ['votes']],
    ['pigeonpost token create page --role ', ['viewer', 'admin']],
    ['pigeonpost import ', ['FILES']],
    ['pigeonpost status --config ', ['FILES']],
    ['pigeonpost completion z', ['zsh']],
    ['pigeonpost pause sink:h', ['hooks']], // bash keeps what stands before the colon
    ['pigeonpost why ', []],
  ])('offers at "%s" what fits', (line, words) => {
    expect(offered(line)).toEqual(words);
  });
});

describe.each([
  ['fish', fishCompletion, askFish],
  ['zsh', zshCompletion, askZsh],
] as const)('the completion of %s', (shell, make, ask) => {
  const inShell = isInstalled(shell) ? it : it.skip; // a machine without this shell has nobody who would use it
  inShell('offers in a real shell what fits', () => {
    const wanted: readonly (readonly [string, readonly string[]])[] = [
      ['pigeonpost sta', ['start', 'status']],
      ['pigeonpost sink ', ['approve']],
      ['pigeonpost deletions c', ['confirm']],
      ['pigeonpost --config other.yaml deletions r', ['reject']],
      ['pigeonpost replay --a', ['--all']],
      ['pigeonpost replay ', ['sink:crm', 'sink:hooks', 'sinks-one', 'sinks-two']],
      ['pigeonpost preview --sink sinks-t', ['sinks-two']],
      ['pigeonpost preview --sink crm --list qu', ['questions']],
      ['pigeonpost fields v', ['votes']],
      ['pigeonpost token create page --role ', ['admin', 'viewer']],
      ['pigeonpost status --config a-', ['a-file.yaml']],
      ['pigeonpost completion z', ['zsh']],
      ['pigeonpost pause sink:h', ['sink:hooks']],
      ['pigeonpost why ', []],
      ['pigeonpost import list --l', ['--limit']],
    ];
    writeFileSync(join(folder, 'a-file.yaml'), '');
    const script = join(folder, `in.${shell}`);
    writeFileSync(script, make(tree));
    const lines = wanted.map(([line]) => line);
    const found = ask(script, lines, folder);
    expect(lines.map((line, n) => [line, found[n]?.toSorted()])).toEqual(wanted);
  });
});

describe('the completions', () => {
  it.each([
    ['bash', bashCompletion, ['-n']],
    ['zsh', zshCompletion, ['-n']],
    ['fish', fishCompletion, ['--no-execute']],
  ] as const)('of %s is a script that the shell can read, where it is installed', (shell, make, flags) => {
    const text = make(tree);
    for (const { path } of tree) expect(text).toContain(path);
    if (!isInstalled(shell)) return; // its text is looked at above
    const file = join(folder, shell);
    writeFileSync(file, text);
    const { status, stderr } = spawnSync(shell, [...flags, file], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });
});

describe('the names of a configuration', () => {
  it('are read from its text, whether or not it can be used', async () => {
    const file = join(folder, 'pigeonpost.yaml');
    writeFileSync(
      file,
      'workspaces: { acme: { apiKey: "${NOT_SET}" } }\nsinks: { crm: {}, "not a name": {}, hooks: 7 }\n',
    );
    expect(await namesInConfiguration(file, 'sinks')).toEqual(['crm', 'hooks']);
    expect(await namesInConfiguration(file, 'places')).toEqual([
      'workspace:acme',
      'sink:crm',
      'sink:hooks',
      'pigeonhole:acme/',
    ]);
  });

  it('are none where there is no file, or it is torn', async () => {
    const file = join(folder, 'torn.yaml');
    writeFileSync(file, 'sinks: [');
    expect(await namesInConfiguration(file, 'sinks')).toEqual([]);
    expect(await namesInConfiguration(join(folder, 'missing.yaml'), 'workspaces')).toEqual([]);
  });
});
