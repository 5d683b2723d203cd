import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLog, formatLogLine } from './log.js';

const folder = mkdtempSync(join(tmpdir(), 'log-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Returns what a log writes for one event. */
function written(terminal: boolean, facts: object, level = 'info'): string {
  const destination = join(folder, `${terminal}-${Math.random()}`);
  const log = openLog(level, { destination, terminal });
  log.info(facts, 'it happened');
  log.debug('not asked for');
  return readFileSync(destination, 'utf8');
}

describe('the log', () => {
  it('writes a JSON line if it does not write to a terminal', () => {
    const line = JSON.parse(written(false, { workspace: 'acme' })) as object;
    expect(line).toEqual({
      level: 30,
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      workspace: 'acme',
      msg: 'it happened',
    });
  });

  it('writes a line of text in a terminal', () => {
    expect(written(true, { workspace: 'acme' })).toMatch(/^\d\d:\d\d:\d\d it happened \(workspace acme\)\n$/);
  });

  it.each([true, false])('removes fields that could be secret or personal (in a terminal: %s)', (terminal) => {
    const marker = 'ann@example.com';
    const facts = {
      email: marker,
      attendeeCode: marker,
      inner: { token: marker, payload: { name: marker } },
      apiKey: marker,
    };
    const text = written(terminal, facts);
    expect(text).not.toContain(marker);
    expect(text.match(/\[taken out\]/g)).toHaveLength(5);
  });
});

/** Local time of this instant in the test's time zone. */
const at = new Date(2026, 10, 21, 9, 2, 7);
const line = (more: object): string =>
  JSON.stringify({ level: 30, time: at.toISOString(), msg: 'it happened', ...more });

describe('a line of the log on a terminal', () => {
  it('has the local time, the level, the message and the facts as pairs', () => {
    expect(formatLogLine(line({ level: 40, msg: 'workspace waits: credential', workspace: 'acme', code: 4501 }))).toBe(
      '09:02:07 warn  workspace waits: credential (workspace acme, code 4501)',
    );
  });

  it.each([
    [20, '09:02:07 it happened'],
    [30, '09:02:07 it happened'],
    [40, '09:02:07 warn  it happened'],
    [50, '09:02:07 error it happened'],
    [60, '09:02:07 fatal it happened'],
  ])('contains level %d only if it is above "info"', (level, text) => {
    expect(formatLogLine(line({ level }))).toBe(text);
  });

  it('omits facts that are absent, and abbreviates lists and objects', () => {
    expect(formatLogLine(line({ code: null, pigeonholes: [101, 102], more: { n: 1 } }))).toBe(
      '09:02:07 it happened (pigeonholes [101,102], more {"n":1})',
    );
  });

  it('is one line without control characters that a terminal would interpret', () => {
    const text = formatLogLine(line({ msg: 'a\nb', error: 'x\u001b[2Jy\r\u0007\u009bz\u202e' }));
    expect(text).toBe('09:02:07 a?b (error x?[2Jy???z?)');
  });
});
