import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const command = join(__dirname, '../../dist/cli/main.js');
const bashCompletion = '/usr/share/bash-completion/bash_completion';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'completion-'));
  writeFileSync(
    join(folder, 'pigeonpost.yaml'),
    'workspaces: { acme: {} }\nsyncs: { all: { workspace: acme, pigeonholes: [101, 102, x] }, odd: 7 }\nsinks: { crm: {}, "not a name": {}, hooks: 7 }\n',
  );
  writeFileSync(join(folder, 'other.yaml'), 'sinks: { lms: {} }\n');
  writeFileSync(join(folder, 'torn.yaml'), 'sinks: [');
  writeFileSync(join(folder, 'pigeonpost'), `#!/bin/sh\nexec "${process.execPath}" "${command}" "$@"\n`, {
    mode: 0o755,
  });
});
afterAll(() => rmSync(folder, { recursive: true }));

function run(...args: string[]): string {
  const { stdout, stderr, status } = spawnSync(process.execPath, [command, ...args], { cwd: folder, encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  return stdout;
}

/** Returns the completions at the end of a line. `files`: the shell completes file names. */
function offered(line: string): string[] {
  const lines = run('complete', '--', ...line.split(' ').slice(1))
    .trimEnd()
    .split('\n');
  return lines.at(-1) === ':0' ? ['files'] : lines.slice(0, -1).map((each) => each.split('\t')[0]!);
}

describe('completion', () => {
  it.each<[string, string[]]>([
    ['pigeonpost sta', ['start', 'status', 'statement']],
    ['pigeonpost sink a', ['approve']],
    ['pigeonpost deletions c', ['confirm']],
    ['pigeonpost --config other.yaml deletions r', ['reject']],
    ['pigeonpost replay --a', ['--all']],
    ['pigeonpost status --conf', ['--config']],
    ['pigeonpost replay ', ['crm', 'hooks']],
    ['pigeonpost replay --config other.yaml ', ['lms']],
    ['pigeonpost --config torn.yaml replay ', ['files']],
    ['pigeonpost pause ', ['acme', 'crm', 'hooks', 'acme/101', 'acme/102']],
    ['pigeonpost ready acme/', ['acme/101', 'acme/102']],
    ['pigeonpost items votes --pigeonhole ', ['acme/101', 'acme/102']],
    ['pigeonpost init --add --sync a', ['all']],
    ['pigeonpost init --sink h', ['hubspot']],
    ['pigeonpost preview --sink ho', ['hooks']],
    ['pigeonpost preview --sink crm --list qu', ['questions']],
    ['pigeonpost fields vo', ['votes']],
    ['pigeonpost token create page --role a', ['admin']],
    ['pigeonpost apply ', ['files']],
    ['pigeonpost status --config ', ['files']],
    ['pigeonpost completion z', ['zsh']],
  ])('offers matching words at the end of "%s"', (line, words) => {
    expect(offered(line)).toEqual(words);
  });

  it.each(['bash', 'zsh', 'fish', 'powershell'])(
    'prints a script for %s that requests completions from pigeonpost',
    (shell) => {
      expect(run('completion', shell)).toContain('pigeonpost complete');
    },
  );

  // The script has no effect without the package bash-completion.
  (existsSync(bashCompletion) ? it : it.skip)('completes a line in bash', () => {
    const script = [
      `source ${bashCompletion}`,
      'source <(pigeonpost completion bash)',
      `COMP_LINE='pigeonpost deletions c' COMP_POINT=22 COMP_WORDS=(pigeonpost deletions c) COMP_CWORD=2`,
      '__pigeonpost_complete',
      'printf "%s\\n" "${COMPREPLY[@]}"',
    ].join('\n');
    const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` };
    const { stdout } = spawnSync('bash', ['--norc', '-c', script], { cwd: folder, encoding: 'utf8', env });
    expect(stdout.trim()).toMatch(/^confirm/);
  });
});
