import type { Readiness, ReadyCheck } from '../../operations/ready/readiness.js';
import { formatReady, formatCanaries } from './ready.js';

const sessions: ReadyCheck = { id: 'sessions', label: 'Sessions', state: 'ok', says: '12 sessions' };
const quota: ReadyCheck = {
  id: 'quota',
  label: 'Request quota',
  state: 'failed',
  says: 'the busiest day needs about 12,000 requests, and reading may use 9000 of 10000',
  todo: 'have the plan raised',
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
  it('is a line for each check, its remedy below it, and a summary', () => {
    expect(formatReady(readinessOf(sessions, quota), narrow)).toEqual([
      'ACME Summit (acme/101, upcoming, 2026-11-22 to 2026-11-23,',
      '  Asia/Tokyo)',
      'ok       Sessions: 12 sessions',
      'FAILED   Request quota: the busiest day needs about 12,000',
      '         requests, and reading may use 9000 of 10000',
      '         -> have the plan raised',
      'not ready: 1 to fix',
    ]);
  });

  it.each<[string, ReadyCheck['state'][], string]>([
    ['all is in order', ['ok', 'ok'], 'ready: every check passed'],
    ['something needs a check', ['ok', 'warning'], 'ready: no check failed, 1 warning'],
    ['something could not be checked', ['ok', 'unknown'], 'not ready: 1 could not be checked'],
    [
      'all kinds are there',
      ['failed', 'unknown', 'warning'],
      'not ready: 1 to fix, 1 could not be checked, 1 to check',
    ],
  ])('says at its end, where %s, what that means', (_, states, last) => {
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
    expect(coloured).toContain('\u001b[31mFAILED');
    // oxlint-disable-next-line no-control-regex -- matches colour codes
    expect(coloured.replaceAll(/\u001b\[\d+m/g, '')).toBe(plain);
  });
});

const line = (state: ReadyCheck['state']): ReadyCheck => ({
  id: 'canary:crm',
  label: 'Canary through crm (hubspot)',
  state,
  says: 'it was sent and taken back',
});

describe('the summary of canaries', () => {
  it.each<[string, ReadyCheck['state'][], string]>([
    ['all arrived', ['ok', 'ok'], 'canaries: all arrived and were deleted again'],
    ['one needs a check', ['ok', 'warning'], 'canaries: none failed, 1 to check'],
    ['one was refused', ['ok', 'warning', 'failed'], 'canaries: 1 of 3 failed'],
    ['one broke off', ['unknown'], 'canaries: 1 of 1 failed'],
    ['there is no sink', [], 'no sink to send a canary to'],
  ])('is said at the end where %s', (_, states, last) => {
    const lines = formatCanaries(states.map(line), { columns: 80, colours: false });
    expect(lines).toHaveLength(states.length + 1);
    expect(lines.at(-1)).toBe(last);
  });
});
