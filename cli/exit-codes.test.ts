import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const command = join(__dirname, '../dist/cli/main.js');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'exit-codes-'));
  const good = [
    'workspaces: { acme: { baseUrl: "https://engagement.example.com", apiKey: "${KEY}" } }',
    'syncs: { all: { workspace: acme, sinks: [archive] } }',
    'sinks: { archive: { type: file, folder: ./archive } }',
    'server: { port: 1 }', // no process of a user listens there
  ];
  writeFileSync(join(folder, 'good.yaml'), good.join('\n'));
  writeFileSync(join(folder, 'torn.yaml'), 'workspaces: [');
  writeFileSync(join(folder, 'wrong.yaml'), [...good, 'sinkz: {}', 'temporal: { address: nowhere }'].join('\n'));
  mkdtempSync(join(folder, 'taken-'));
  writeFileSync(join(folder, 'note.txt'), 'mine');
});
afterAll(() => rmSync(folder, { recursive: true }));

function run(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const done = spawnSync(process.execPath, [command, ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { KEY: 'a-secret-key' },
  });
  return { status: done.status, stdout: done.stdout, stderr: done.stderr };
}

describe('wrong usage of pigeonpost', () => {
  it.each<[string, string[], RegExp]>([
    ['an unknown command', ['nonsense'], /unknown command 'nonsense'/],
    ['an unknown option', ['status', '--nonsense'], /unknown option '--nonsense'/],
    ['no command', [], /Usage: pigeonpost/],
    ['too many arguments', ['status', 'now'], /too many arguments/],
    ['a missing configuration', ['status', '--config', 'missing.yaml'], /missing\.yaml/],
    ['a missing default configuration', ['start'], /pigeonpost\.yaml/],
    ['truncated YAML', ['start', '--config', 'torn.yaml'], /torn\.yaml:1/],
    ['every problem of a configuration at once', ['start', '--config', 'wrong.yaml'], /sinkz[^]*temporal\.address/],
    [
      'an unknown object',
      ['pause', 'everything', '--config', 'good.yaml'],
      /"everything" is unknown: write workspace:NAME/,
    ],
    [
      'a request to read a sink',
      ['poll-now', 'sink:archive', '--config', 'good.yaml'],
      /a sink is not read: give workspace:NAME or pigeonhole:WORKSPACE\/ID/,
    ],
    [
      'a sweep of an unknown list',
      ['sweep', 'workspace:acme', '--list', 'qustions', '--config', 'good.yaml'],
      /"qustions" is not a list: did you mean "questions"\?/,
    ],
    [
      'fields of an unknown list',
      ['fields', 'atendees', '--config', 'good.yaml'],
      /"atendees" is not a list: did you mean "attendees"\?/,
    ],
    [
      'a replay without a sink',
      ['replay', '--config', 'good.yaml'],
      /give the name of a sink, or --all for every sink/,
    ],
    [
      'a replay from an invalid time',
      ['replay', 'archive', '--from', 'noon', '--config', 'good.yaml'],
      /--from is "noon": give a day/,
    ],
    [
      'a replay of a pigeonhole without its workspace',
      ['replay', 'archive', '--pigeonhole', '101', '--config', 'good.yaml'],
      /--pigeonhole is "101": give WORKSPACE\/ID/,
    ],
    ['an import without a pigeonhole', ['import', 'note.txt', '--config', 'good.yaml'], /add --pigeonhole ID/],
    [
      'an import of a missing file',
      ['import', 'missing.csv', '--pigeonhole', '1', '--config', 'good.yaml'],
      /missing\.csv: the file does not exist/,
    ],
    ['an import of a folder', ['import', '.', '--pigeonhole', '1', '--config', 'good.yaml'], /\. is not a file/],
    [
      'a report that would overwrite the imported file',
      ['import', 'note.txt', '--pigeonhole', '1', '--report', './note.txt', '--config', 'good.yaml'],
      /--report is the imported file itself/,
    ],
    [
      'a canary of zero rows',
      ['import', 'note.txt', '--pigeonhole', '1', '--canary', '0', '--config', 'good.yaml'],
      /give a whole number from 1 to 1000/,
    ],
    ['a configuration that cannot be planned', ['config', 'plan', '--config', 'wrong.yaml'], /sinkz/],
    ['a configuration that cannot be applied', ['config', 'apply', '--config', 'wrong.yaml'], /sinkz/],
    [
      'a demo with an invalid size',
      ['demo', '--attendees', 'many'],
      /--attendees.*many.* give a whole number from 1 to 1000000/,
    ],
    ['a demo in a folder with other files', ['demo', '--folder', '.'], /contains files/],
    ['an unknown option of the sandbox', ['sandbox', '--nonsense'], /unknown option '--nonsense'/],
  ])('ends with 2 for %s, and prints the message only to standard error', (_, args, sentence) => {
    const { status, stdout, stderr } = run(...args);
    expect(stderr).toMatch(sentence);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(stdout).toBe('');
    expect(status).toBe(2);
  });
});

describe('pigeonpost', () => {
  it.each([
    ['--help'],
    ['--version'],
    ['demo', '--help'],
    ['sandbox', '--help'],
    ['config', 'plan', '--help'],
    ['replay', '--help'],
    ['import', '--help'],
    ['import', 'report', '--help'],
  ])('ends with 0 for %s %s %s', (...args) => {
    expect(run(...args.filter(Boolean))).toMatchObject({ status: 0, stderr: '' });
  });

  it('does not load Temporal, the store or a server before a command needs them', () => {
    const loaded = `Object.keys(require.cache).filter((file) => file.includes('node_modules') && !file.includes('commander'))`;
    const script = `require('./run-command-line.js'); process.stdout.write(${loaded}.join('\\n'))`;
    const cwd = join(command, '..');
    expect(spawnSync(process.execPath, ['-e', script], { cwd, encoding: 'utf8' })).toMatchObject({
      status: 0,
      stdout: '',
      stderr: '',
    });
  });

  it.each([
    [['status']],
    [['pause', 'sink:archive']],
    [['poll-now', 'workspace:acme']],
    [['sweep', 'workspace:acme']],
    [['replay', 'archive']],
    [['sink', 'approve', 'archive']],
    [['config', 'plan']],
    [['config', 'apply']],
    [['import', 'note.txt', '--pigeonhole', '1']],
    [['import', 'list']],
    [['import', 'cancel', '7', '--yes']],
  ])('ends with 3 for %j if no process runs, in one sentence without a secret', (args) => {
    const { status, stderr } = run(...args, '--config', 'good.yaml');
    expect(stderr).toMatch(
      /^pigeonpost: no pigeonpost answers at http:\/\/127\.0\.0\.1:1: start it with "pigeonpost start".*\n$/,
    );
    expect(stderr).not.toContain('a-secret-key');
    expect(status).toBe(3);
  });
});
