import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { namedVariables } from '../../operations/load-process-config.js';
import { type DoctorReport, formatDoctor, latestTroublesOfLog } from './doctor.js';

const folder = mkdtempSync(join(tmpdir(), 'doctor-'));
afterAll(() => rmSync(folder, { recursive: true }));

const report: DoctorReport = {
  at: '2026-11-21T20:00:00.000Z',
  versions: { pigeonpost: '0.1.0', node: 'v20' },
  file: './pigeonpost.yaml',
  variables: { KEY: 'set' },
  problem: null,
  settings: { server: { port: 8088 } },
  checks: [{ what: 'sink crm', result: 'refused', text: 'the token is refused' }],
  running: {
    answers: true,
    configuration: 3,
    settled: false,
    pigeonholes: { working: 2, failing: 1 },
    sinks: [{ name: 'crm', type: 'hubspot', state: 'paused', delivered: 5, backlog: 7, dead: 1 }],
    quotas: [{ workspace: 'acme', used: 10, left: null }],
    troubles: [
      { code: 'sink-paused', severity: 'error', text: 'sink crm is paused', since: '2026-11-21T19:00:00.000Z' },
    ],
    deadLetters: [
      {
        sink: 'crm',
        cause: 'http:422',
        list: 'attendees',
        changes: 1,
        newest: '2026-11-21T19:30:00.000Z',
        detail: null,
      },
    ],
  },
  log: [{ time: '2026-11-21T19:00:00.000Z', level: 'error', event: 'a turn failed', facts: { sink: 'crm' } }],
};

describe('the text of doctor', () => {
  it('has a section for everything that a bug report needs', () => {
    const text = formatDoctor(report).join('\n');
    for (const part of [
      'node        v20',
      'KEY  set',
      '"port": 8088',
      'refused     sink crm: the token is refused',
      'configuration 3, not settled; pigeonholes: 2 working, 1 failing',
      'sink crm (hubspot): paused, 5 delivered, backlog 7, 1 dead letters',
      'quota of acme: 10 used, unknown number left',
      'error since 2026-11-21T19:00:00.000Z: sink crm is paused',
      'dead letters of crm, attendees: 1 by http:422, last 2026-11-21T19:30:00.000Z',
      '2026-11-21T19:00:00.000Z error a turn failed sink=crm',
    ]) {
      expect(text).toContain(part);
    }
  });

  it('explains missing settings, and why no pigeonpost was contacted', () => {
    const broken = { ...report, problem: 'pigeonpost.yaml:7: a key is missing', settings: null, checks: [], log: [] };
    const text = formatDoctor({ ...broken, running: { answers: false, why: 'no pigeonpost answers' } }).join('\n');
    expect(text).toMatch(/invalid:\n {2}pigeonpost\.yaml:7: a key is missing/);
    expect(text).toMatch(/Running pigeonpost\n {2}no pigeonpost answers$/);
  });
});

describe('the latest problems in a log', () => {
  const line = (level: number, msg: string): string =>
    JSON.stringify({ level, time: '2026-11-21T19:00:00.000Z', msg, sink: 'crm', error: { stack: 'long' } });

  it('are its warnings and errors in order, with plain facts only', async () => {
    const file = join(folder, 'start.log');
    writeFileSync(
      file,
      ['ready: reading acme', line(30, 'fine'), line(40, 'slow'), '{"torn', line(50, 'bad')].join('\n'),
    );
    expect(await latestTroublesOfLog(file)).toEqual([
      { time: '2026-11-21T19:00:00.000Z', level: 'warn', event: 'slow', facts: { sink: 'crm' } },
      { time: '2026-11-21T19:00:00.000Z', level: 'error', event: 'bad', facts: { sink: 'crm' } },
    ]);
  });

  it('are the last fifty of a long one', async () => {
    const file = join(folder, 'long.log');
    writeFileSync(file, Array.from({ length: 20_000 }, (_, n) => line(40, `warning ${n}`)).join('\n'));
    const found = await latestTroublesOfLog(file);
    expect([found.length, found.at(-1)!.event]).toEqual([50, 'warning 19999']);
  });

  it('are refused for a missing log', async () => {
    await expect(latestTroublesOfLog(join(folder, 'none.log'))).rejects.toThrow(/cannot be read \(ENOENT\)/);
  });
});

describe('the variables of a configuration', () => {
  it('are those named outside comments, each set or not, never with a value', async () => {
    const file = join(folder, 'pigeonpost.yaml');
    writeFileSync(
      file,
      '# ${COMMENT} is none\nkey: ${KEY}\nurl: ${URL:-x} # nor ${THIS}\nempty: ${EMPTY}\nsecret: ${file:./x}\nliteral: $${OTHER}\n',
    );
    const found = await namedVariables(file, { KEY: 'hidden', EMPTY: '' });
    expect(found).toMatchObject({ KEY: 'set', URL: 'not set', EMPTY: 'empty', DATABASE_URL: 'not set' });
    for (const none of ['COMMENT', 'THIS', 'file', 'OTHER']) expect(found).not.toHaveProperty(none);
    expect(JSON.stringify(found)).not.toContain('hidden');
  });
});
