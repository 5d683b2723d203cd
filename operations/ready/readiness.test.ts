import type { PigeonholeDetails } from '../../api/pigeonholes.js';
import { isReady, type EventWork, workChecks } from './readiness.js';
import type { Trouble } from '../find-problems.js';

const pigeonhole: PigeonholeDetails = {
  workspace: 'acme',
  id: 101,
  name: 'ACME Summit',
  status: 'upcoming',
  state: 'working',
  reason: null,
  pause: null,
  changes: 12,
  streams: 3,
  failing: 0,
  freshAsOf: '2026-11-21T20:00:00.000Z',
  freshness: {
    state: 'current',
    liveLists: 0,
    readAt: '2026-11-21T20:00:00.000Z',
    nextAt: null,
    waits: null,
    catchingUp: false,
    lateLists: 0,
    lateSeconds: 0,
    late: null,
    groups: [],
  },
  rehearsal: null,
  setAside: 0,
  foreignRows: 0,
  heldDeletions: 0,
  goneAt: null,
  syncs: ['conferences'],
  foundByMinute: [],
  troubles: [],
};
const trouble = (code: Trouble['code'], help: Trouble['help'] = null): Trouble => ({
  code,
  severity: 'error',
  stops: true,
  saysSince: false,
  kind: 'sink',
  name: 'crm',
  title: `it is ${code}`,
  detail: null,
  says: null,
  advice: null,
  text: `it is ${code}`,
  since: null,
  help,
});
const resume = { label: 'Resume', action: { do: 'resume', kind: 'sink', name: 'crm' }, see: null } as const;
const approve = { label: 'Start sending', action: { do: 'approve', kind: 'sink', name: 'crm' }, see: null } as const;

function found(given: Partial<Omit<EventWork, 'pigeonhole'>> & { pigeonhole?: Partial<PigeonholeDetails> }) {
  const checks = workChecks({
    sinks: [],
    troubles: [],
    deadLetters: [],
    ...given,
    pigeonhole: { ...pigeonhole, ...given.pigeonhole },
  });
  return Object.fromEntries(checks.map((check) => [check.id, check]));
}

describe('the state of work before an event', () => {
  it('is ok if the event is read, nothing is paused, and no change is a dead letter', () => {
    const checks = Object.values(found({}));
    expect(checks.map(({ id, state, todo }) => [id, state, todo])).toEqual([
      ['reading', 'ok', undefined],
      ['running', 'ok', undefined],
      ['parked', 'ok', undefined],
    ]);
    expect(checks[0]!.says).toContain('ended at 2026-11-21 20:00 UTC');
    expect(isReady(checks)).toBe(true);
  });

  it.each<[string, Parameters<typeof found>[0], string, string, RegExp]>([
    ['no sync reads it', { pigeonhole: { syncs: [] } }, 'reading', 'failed', /no sync reads pigeonhole acme\/101/],
    [
      'the pigeonhole was deleted',
      { pigeonhole: { goneAt: '2026-11-20T00:00:00.000Z' } },
      'reading',
      'failed',
      /was deleted in the service/,
    ],
    [
      'the pigeonhole cannot be read',
      { troubles: [trouble('pigeonhole-failing')] },
      'reading',
      'failed',
      /it is pigeonhole-failing/,
    ],
    [
      'the pigeonhole was never read completely',
      { pigeonhole: { freshAsOf: null } },
      'reading',
      'warning',
      /for the first time/,
    ],
    [
      'the pigeonhole is being read for the first time',
      { pigeonhole: { state: 'backfilling' } },
      'reading',
      'warning',
      /first time/,
    ],
    ['a sink is paused', { troubles: [trouble('sink-paused', resume)] }, 'running', 'failed', /it is sink-paused/],
    ['the process cannot work', { troubles: [trouble('process-failing')] }, 'running', 'failed', /process-failing/],
    [
      'a sink only observes',
      { troubles: [trouble('sink-observing', approve)] },
      'running',
      'warning',
      /sink-observing/,
    ],
    [
      'changes were refused',
      {
        deadLetters: [
          { sink: 'crm', cause: 'http:422', changes: 2 },
          { sink: 'crm', cause: 'http:400', changes: 1 },
        ],
      },
      'parked',
      'failed',
      /^Sink crm has refused 3 changes$/,
    ],
    ['deletions wait', { pigeonhole: { heldDeletions: 1 } }, 'parked', 'failed', /1 deletion/],
  ])('is reported if %s', (_, given, id, state, says) => {
    const check = found(given)[id]!;
    expect([check.state, check.says]).toEqual([state, expect.stringMatching(says)]);
  });

  it('includes the command that helps', () => {
    const troubles = [trouble('sink-paused', resume), trouble('sink-observing', approve)];
    expect(found({ troubles })['running']).toMatchObject({
      state: 'failed',
      todo: 'pigeonpost resume sink:crm; pigeonpost sink approve crm',
    });
  });

  it('is not ready while a check is unknown', () => {
    const check = { id: 'event', label: 'Event', says: 'it is so' };
    expect(isReady([{ ...check, state: 'warning' }])).toBe(true);
    expect(isReady([{ ...check, state: 'unknown' }])).toBe(false);
    expect(isReady([{ ...check, state: 'failed' }])).toBe(false);
  });
});
