import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLogFile } from './start.js';

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
