import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isProcessAlive } from '../is-process-alive.js';
import { descendantsOf, killNow, type Program, processesNaming, startProgram, untilOutput } from '../kit/processes.js';
import { until } from '../until.js';

let folder: string;
let program: Program;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pigeonpost-demo-'));
});
afterEach(async () => {
  killNow(program.pid);
  await program.exited;
  await until('all that the demo started is gone', () => processesNaming(folder).length === 0);
  rmSync(folder, { recursive: true });
});

function demo(...args: string[]): Program {
  const env = { TEMPORAL_BINARY: process.env['PIGEONPOST_TEST_TEMPORAL_BINARY']! };
  program = startProgram('cli/main.js', ['demo', '--folder', folder, '--attendees', '20', ...args], {
    cwd: folder,
    env,
  });
  return program;
}

/** Waits until every sink has delivered. Returns the processes: sandbox, receiver, stand-ins, pigeonpost, Temporal. */
async function untilDelivering(): Promise<number[]> {
  const delivering = ['archive', 'hooks', 'crm', 'questions'].map((sink) => `${sink}: [1-9][\\d,]* delivered.*`);
  try {
    await untilOutput(program, new RegExp(delivering.join('')));
  } catch (error) {
    const log = readFileSync(join(folder, 'logs/pigeonpost.log'), 'utf8');
    throw new Error(`${program.output()}\n${log.slice(-4000)}`, { cause: error });
  }
  const children = descendantsOf(program.pid);
  expect(children.length).toBeGreaterThanOrEqual(6);
  return children;
}

const rows = /^(\S+) +(\S+) +(\d+) {2}= +(\d+) {2}\+ +(\d+) {2}agrees$/gm;

describe('the demo with --once', () => {
  it('finds every item of the source delivered or withheld at every sink, and leaves no process running', async () => {
    const run = demo('--once');
    const seen = new Set<number>();
    const watching = setInterval(() => descendantsOf(run.pid).forEach((pid) => seen.add(pid)), 200);
    const code = await run.exited;
    clearInterval(watching);

    expect({ code, errors: code === 0 ? '' : run.errors() }).toEqual({ code: 0, errors: '' });
    const compared = [...run.output().matchAll(rows)].map(([, list, sink]) => `${list}/${sink}`);
    expect(compared).toHaveLength(24); // eleven lists at two sinks, contacts, messages
    expect(new Set(compared).size).toBe(24);
    // The comparison includes consent, and for Slack the condition.
    for (const [wantedList, wantedSink] of [
      ['attendees', 'hooks'],
      ['attendees', 'crm'],
      ['qna-questions', 'questions'],
    ]) {
      const row = [...run.output().matchAll(rows)].find(
        ([, list, sink]) => list === wantedList && sink === wantedSink,
      )!;
      expect(Number(row[4])).toBeGreaterThan(0);
      expect(Number(row[5])).toBeGreaterThan(0);
    }
    expect(seen.size).toBeGreaterThanOrEqual(6);
    await until('its children are gone', () => ![...seen].some(isProcessAlive));
  });

  it('says that nothing was compared if it is stopped earlier', async () => {
    const run = demo('--once');
    await until('pigeonpost runs', () => childRunning(run, 'pigeonpost.yaml') !== undefined);
    run.kill('SIGTERM');
    expect(await run.exited).toBe(1);
    expect(run.errors()).toContain('stopped before everything was settled');
  });
});

describe('the demo', () => {
  it('exits with 0 on a signal, leaves no process running, and writes no secrets', async () => {
    const run = demo();
    const children = await untilDelivering();
    const pigeonpost = childRunning(run, 'pigeonpost.yaml')!;
    const secrets = readFileSync(`/proc/${pigeonpost}/environ`, 'latin1')
      .split('\0')
      .filter((variable) => variable.startsWith('PIGEONPOST_DEMO_'))
      .map((variable) => variable.slice(variable.indexOf('=') + 1));
    expect(secrets).toHaveLength(4);
    run.kill('SIGTERM');
    expect(await run.exited).toBe(0);
    await until('its children are gone', () => !children.some(isProcessAlive));

    const written = ['pigeonpost.yaml', 'demo.json', 'logs/pigeonpost.log', 'receipts.ndjson'].map((name) =>
      readFileSync(join(folder, name), 'utf8'),
    );
    for (const secret of secrets) expect(written.join('\n')).not.toContain(secret);
    expect(existsSync(join(folder, 'archive'))).toBe(true);
    expect(readdirSync(join(folder, 'archive'))).toContain('sandbox');
  });

  it('ends all of its processes when it is killed', async () => {
    const run = demo();
    await until('Temporal runs', () => childRunning(run, 'start-dev') !== undefined);
    const children = descendantsOf(run.pid);
    expect(children.length).toBeGreaterThanOrEqual(6);
    run.kill('SIGKILL');
    await run.exited;
    await until('its children are gone', () => !children.some(isProcessAlive));
  });

  it.each([
    ['the sandbox', 'sandbox/main.js', 'sandbox.log'],
    ['the stand-in for Slack', 'run-double.js\0slack', 'slack.log'],
  ])('exits with 1 and a message if %s is killed', async (name, script, log) => {
    const run = demo();
    let victim: number | undefined;
    // Its store and Temporal are still being started then.
    await until(`pigeonpost and ${name} run`, () => {
      victim = childRunning(run, script);
      return victim !== undefined && childRunning(run, 'pigeonpost.yaml') !== undefined;
    });
    const children = descendantsOf(run.pid);
    killNow(victim);
    expect(await run.exited).toBe(1);
    expect(run.errors()).toContain(`pigeonpost: ${name} ended by SIGKILL: see `);
    expect(run.errors()).toContain(log);
    await until('its children are gone', () => !children.some(isProcessAlive));
  });
});

/** Returns a process that `run` has started, by its command line. */
function childRunning(run: Program, text: string): number | undefined {
  return descendantsOf(run.pid).find((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(text);
    } catch {
      return false; // it has ended
    }
  });
}
