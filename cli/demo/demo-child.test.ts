import { appendFileSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDemoChild, LogTail } from './demo-child.js';

let folder: string;
let logFile: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'demo-child-'));
  logFile = join(folder, 'log');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Reads /proc. */
const itOnLinux = process.platform === 'linux' ? it : it.skip;
const receiver = { name: 'the webhook receiver', program: 'sandbox/webhook-receiver/main' };
const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;

describe('a child of the demo', () => {
  it('is ready once it prints its line, and ends on request', async () => {
    const child = startDemoChild({ ...receiver, args: ['--secret', secret], logFile });
    expect(await child.matchIn(/^webhook receiver ready at (\S+)/)).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    await child.stop(5000);
  });

  it('reports the last start step of its log, and no other line', async () => {
    const child = startDemoChild({ ...receiver, args: ['--secret', secret], logFile });
    await child.matchIn(/ready/);
    const log = (fields: object): string => `${JSON.stringify({ level: 30, ...fields })}\n`;
    const step = log({ step: 'start', msg: 'building the Temporal server with Go' });
    appendFileSync(
      logFile,
      `${step}${log({ msg: 'page stored' })}${log({ step: 'stop', msg: 'stopping' })}12:00 x\nEND\n`,
    );
    await child.matchIn(/^END$/);
    expect(child.lastLine).toBe('building the Temporal server with Go');
    await child.stop(5000);
  });

  it('that ends unexpectedly is reported in one sentence with its own reason', async () => {
    const first = startDemoChild({ ...receiver, args: ['--secret', secret], logFile });
    const port = await first.matchIn(/:(\d+)\/$/);
    const second = startDemoChild({
      ...receiver,
      args: ['--secret', secret, '--port', port],
      logFile: join(folder, 'other'),
    });

    await expect(second.matchIn(/ready at/)).rejects.toMatchObject({
      exitCode: 1,
      message: expect.stringMatching(
        /^the webhook receiver ended with exit code 1: listen EADDRINUSE.*\(log: .*other\)$/,
      ),
    });
    await first.stop(5000);
  });

  itOnLinux('that is killed is reported with the path of its log', async () => {
    const child = startDemoChild({ ...receiver, args: ['--secret', secret], logFile });
    await child.matchIn(/ready/);
    process.kill(writerOf(logFile), 'SIGKILL');
    await expect(child.failed).rejects.toThrow(`the webhook receiver ended by SIGKILL: see ${logFile}`);
  });

  it('receives the given variables', async () => {
    const program = 'cli/main';
    writeFileSync(join(folder, 'config.yaml'), 'workspaces: { acme: { baseUrl: "${ONE}", apiKey: "${TWO}" } }');
    const args = ['--config', join(folder, 'config.yaml'), 'check'];
    const child = startDemoChild({ name: 'it', program, args, variables: { ONE: 'no address' }, logFile });
    await expect(child.failed).rejects.toThrow(/exit code 2/);
    const said = readFileSync(logFile, 'utf8');
    expect(said).not.toContain('ONE is not set');
    expect(said).toContain('TWO is not set');
  });
});

/** Returns the process that writes to a log, from /proc. */
function writerOf(file: string): number {
  const found = readdirSync('/proc').find((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/fd/1`) === file;
    } catch {
      return false; // the process ended meanwhile
    }
  });
  if (found === undefined) throw new Error(`nothing writes to ${file}`);
  return Number(found);
}

describe('the end of a log', () => {
  it('returns each line once, when it is complete', () => {
    const tail = new LogTail(logFile);
    expect(tail.newLines()).toEqual([]);
    writeFileSync(logFile, 'one\ntw');
    expect(tail.newLines()).toEqual(['one']);
    appendFileSync(logFile, 'o\n');
    expect(tail.newLines()).toEqual(['two']);
    expect(tail.newLines()).toEqual([]);
  });

  it('does not break a character that was written in two parts', () => {
    const tail = new LogTail(logFile);
    const [first, second] = [Buffer.from('ü\n').subarray(0, 1), Buffer.from('ü\n').subarray(1)];
    writeFileSync(logFile, first);
    tail.newLines();
    appendFileSync(logFile, second);
    expect(tail.newLines()).toEqual(['ü']);
  });
});
