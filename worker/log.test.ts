import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLog } from './log.js';

const folder = mkdtempSync(join(tmpdir(), 'log-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What a log writes that says one thing. */
function written(terminal: boolean, facts: object, level = 'info'): string {
  const destination = join(folder, `${terminal}-${Math.random()}`);
  const log = openLog(level, { destination, terminal });
  log.info(facts, 'it happened');
  log.debug('not asked for');
  return readFileSync(destination, 'utf8');
}

describe('the log', () => {
  it('writes a JSON line where no person reads along', () => {
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

  it.each([true, false])('takes out what could be secret or personal (in a terminal: %s)', (terminal) => {
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
