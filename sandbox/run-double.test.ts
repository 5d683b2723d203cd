import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { callDouble } from './serve/call-double.test-kit.js';

interface Ended {
  readonly code: number | null;
  readonly errors: string;
}

/** The Slack double as a program. Waits for its address, calls `use` and then stops it. */
async function runSlackDouble(args: readonly string[], use?: (url: string) => Promise<void>): Promise<Ended> {
  const root = join(__dirname, '..');
  const script = ['tools/run-typescript.cjs', 'sandbox/run-double.ts', 'slack', ...args];
  const child = spawn(process.execPath, script, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const url = await new Promise<string | undefined>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => resolve(/ready at (\S+)/.exec(text)?.[1]));
    child.once('close', () => resolve(undefined));
  });
  try {
    if (url !== undefined) await use?.(url);
  } finally {
    child.kill('SIGTERM');
  }
  return { code: await ended, errors };
}

describe('a double as a program', () => {
  it('accepts only the configured token, and exits with 0 on SIGTERM', async () => {
    const answers: boolean[] = [];
    const { code } = await runSlackDouble(['--token', 'xoxb-mine'], async (url) => {
      for (const token of ['xoxb-mine', 'xoxb-double']) {
        answers.push((await callDouble(`${url}/api/auth.test`, { token, body: {} })).json.ok);
      }
    });
    expect({ answers, code }).toEqual({ answers: [true, false], code: 0 });
  });

  it('allows the configured burst of posts', async () => {
    const answers: number[] = [];
    await runSlackDouble(['--token', 'xoxb-mine', '--per10s', '1000'], async (url) => {
      for (let n = 0; n < 20; n += 1) {
        const body = { channel: 'C0123456789', text: 'a question' };
        answers.push((await callDouble(`${url}/api/chat.postMessage`, { token: 'xoxb-mine', body })).status);
      }
    });
    expect(answers).toEqual(Array.from({ length: 20 }, () => 200)); // by Slack's own limits the fourth is refused
  });

  it.each([[['--port', '70000']], [['--per10s', '0']], [['--token', '']], [['--colour', 'red']]])(
    'exits with 2 and lists its options if it is started with %j',
    async (args) => {
      expect(await runSlackDouble(args)).toEqual({
        code: 2,
        errors:
          'Slack double accepts --port, a number from 0 to 65535; --token, a text; --per10s, a number of requests from 1\n',
      });
    },
  );
});
