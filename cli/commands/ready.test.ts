import type { Readiness, ReadyCheck } from '../../operations/ready/readiness.js';
import { formatReady } from './ready.js';

const sessions: ReadyCheck = { id: 'sessions', label: 'Sessions', state: 'ok', says: '12 sessions' };
const quota: ReadyCheck = {
  id: 'quota',
  label: 'Request quota',
  state: 'failed',
  says: 'the busiest day needs about 12,000 requests, and reading may use 9000 of 10000',
  todo: 'request a larger quota',
};

function readinessOf(...checks: ReadyCheck[]): Readiness {
  return {
    pigeonhole: {
      workspace: 'acme',
      id: 101,
      name: 'ACME Summit',
      status: 'upcoming',
      startDate: '2026-11-22',
      endDate: '2026-11-23',
      timezone: 'Asia/Tokyo',
    },
    ready: !checks.some(({ state }) => state === 'failed' || state === 'unknown'),
    asOf: '2026-11-21T20:00:00.000Z',
    checks,
  };
}

const narrow = { columns: 60, colours: false };

describe('the output of ready', () => {
  it('has a line for each check, the remedy below the line, and a summary', () => {
    expect(formatReady(readinessOf(sessions, quota), narrow)).toEqual([
      'ACME Summit (acme/101, upcoming, 2026-11-22 to 2026-11-23,',
      '  Asia/Tokyo)',
      'OK         Sessions: 12 sessions',
      'not ready  Request quota: the busiest day needs about 12,000',
      '           requests, and reading may use 9000 of 10000',
      '           -> request a larger quota',
      'not ready: 1 to fix',
    ]);
  });

  it.each<[string, ReadyCheck['state'][], string]>([
    ['every check passed', ['ok', 'ok'], 'ready: every check passed'],
    ['a check gave a warning', ['ok', 'warning'], 'ready: no check failed, 1 warning'],
    ['a check could not run', ['ok', 'unknown'], 'not ready: 1 could not be checked'],
    [
      'checks have every kind of result',
      ['failed', 'unknown', 'warning'],
      'not ready: 1 to fix, 1 could not be checked, 1 to check',
    ],
  ])('ends with the meaning of the results if %s', (_, states, last) => {
    const checks = states.map((state): ReadyCheck => ({ ...sessions, state }));
    expect(formatReady(readinessOf(...checks), narrow).at(-1)).toBe(last);
  });

  it('never has a line wider than the terminal', () => {
    for (const columns of [60, 80, 160]) {
      for (const line of formatReady(readinessOf(sessions, quota), { columns, colours: false })) {
        expect(line.length).toBeLessThanOrEqual(columns);
      }
    }
  });

  it('has colours only on a terminal with colours', () => {
    const plain = formatReady(readinessOf(sessions, quota), { columns: 80, colours: false }).join('\n');
    const coloured = formatReady(readinessOf(sessions, quota), { columns: 80, colours: true }).join('\n');
    expect(plain).not.toContain('\u001b');
    expect(coloured).toContain('\u001b[31mnot ready');
    expect(coloured.replaceAll(/\u001b\[\d+m/g, '')).toBe(plain);
  });
});
