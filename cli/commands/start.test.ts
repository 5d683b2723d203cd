import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProcess } from '../../worker/start-process.js';
import type { ApiServer } from '../../api/start-api.js';
import { createProgram } from '../run-command-line.js';
import { openLogFile } from './start.js';

jest.mock('../../worker/start-process.js', () => ({ startProcess: jest.fn() }));
jest.mock('../../worker/install-runtime.js', () => ({ installRuntime: async () => null }));

process.env['PIGEONPOST_LOG'] = 'silent';
const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-log-'));
const log = join(folder, 'mine.log');
const configuration = join(folder, 'mine.yaml');
afterEach(() => rmSync(log, { recursive: true, force: true }));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the log file of start', () => {
  it('is next to the configuration, readable only by its owner, and is appended to', () => {
    expect(openLogFile(configuration)).toBe(log);
    expect(statSync(log).mode & 0o077).toBe(0);
    writeFileSync(log, 'line\n');
    openLogFile(configuration);
    expect([statSync(log).size, existsSync(`${log}.1`)]).toEqual([5, false]);
  });

  it('is renamed when it is larger than 20 MiB', () => {
    writeFileSync(log, '');
    truncateSync(log, 20 * 1024 * 1024 + 1);
    openLogFile(configuration);
    expect([statSync(log).size, existsSync(`${log}.1`)]).toEqual([0, true]);
  });

  it('is refused with an error that start catches if it cannot be written', () => {
    mkdirSync(log);
    expect(() => openLogFile(configuration)).toThrow(expect.objectContaining({ code: 'EISDIR' }) as Error);
  });
});

describe('start without a terminal', () => {
  it('is ready only when it serves, even if a page was read earlier', async () => {
    const file = join(folder, 'start.yaml');
    writeFileSync(
      file,
      `workspaces: { acme: { baseUrl: "http://127.0.0.1:9", apiKey: "\${file:key}" } }
syncs: { all: { workspace: acme, sinks: [archive] } }
sinks: { archive: { type: file, folder: . } }
server: { token: "\${file:key}" }
`,
    );
    writeFileSync(join(folder, 'key'), 'a-key-of-at-least-24-characters');
    let end = (_: Error): void => undefined;
    const failed = new Promise<never>((_, reject) => (end = reject));
    jest.mocked(startProcess).mockResolvedValue({
      api: { url: 'http://127.0.0.1:9' } as ApiServer,
      pageLink: () => 'http://127.0.0.1:9/',
      temporalAddress: '127.0.0.1:9',
      firstPage: Promise.resolve(),
      failed,
      stop: async () => undefined,
    });
    const lines: string[] = [];
    const line = (text: string): void => {
      lines.push(text);
      if (text.startsWith('ready')) end(new Error('the store is gone'));
    };
    const out = { line, note: line, draw: line, terminal: false, colours: false, columns: 80, rows: 24 };
    const running = createProgram(out, () => undefined).parseAsync(['--config', file, 'start'], { from: 'user' });
    await expect(running).rejects.toThrow('the store is gone');
    expect(lines).toEqual(['page: http://127.0.0.1:9/', 'ready: reading acme']);
  });
});
