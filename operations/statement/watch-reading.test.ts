import type { Status } from '../status-view.js';
import { presentInterruptions } from './watch-reading.js';

const now = new Date('2026-11-21T10:00:00.000Z');
type Workspace = Status['workspaces'][number];
type Pigeonhole = Workspace['pigeonholes'][number];

const pause = (cause: string): Workspace['pause'] => ({
  pausedBy: cause === 'asked' ? 'person' : 'cause',
  cause,
  actor: 'jane',
  reason: 'because',
  since: '2026-11-21T09:00:00.000Z',
});

function pigeonhole(more: Partial<Pigeonhole> = {}): Pigeonhole {
  return { id: 101, pause: null, goneAt: null, freshness: { state: 'current', lateSeconds: 0 }, ...more } as Pigeonhole;
}

function workspace(more: Partial<Workspace> = {}): Workspace {
  const idle = { pause: null, unanswered: null, state: 'working', reason: null, pigeonholes: [pigeonhole()] };
  return { name: 'acme', ...idle, ...more } as Workspace;
}

const late = { state: 'late', lateSeconds: 90 } as Pigeonhole['freshness'];
const ownPlace = { workspace: 'acme', pigeonholeId: 101 };
const whole = { workspace: 'acme', pigeonholeId: null };
const at = (time: string): Date => new Date(`2026-11-21T${time}.000Z`);

describe('what interrupts the reading', () => {
  it.each([
    ['nothing', workspace(), []],
    ['an operator', workspace({ pause: pause('asked') }), [{ ...whole, cause: 'paused', since: at('09:00:00') }]],
    [
      'a refused key',
      workspace({ pause: pause('credential') }),
      [{ ...whole, cause: 'credential', since: at('09:00:00') }],
    ],
    [
      'a silent service',
      workspace({ unanswered: { since: '2026-11-21T09:59:00.000Z', reason: 'no answer' } }),
      [{ ...whole, cause: 'silent', since: at('09:59:00') }],
    ],
    ['a used-up quota', workspace({ state: 'waiting', reason: 'quota' }), [{ ...whole, cause: 'quota', since: now }]],
    ['another wait', workspace({ state: 'waiting', reason: 'something else' }), []],
    [
      'an operator, at one event',
      workspace({ pigeonholes: [pigeonhole({ pause: pause('asked') })] }),
      [{ ...ownPlace, cause: 'paused', since: at('09:00:00') }],
    ],
    [
      'a slow machine',
      workspace({ pigeonholes: [pigeonhole({ freshness: late })] }),
      [{ ...ownPlace, cause: 'late', since: at('09:58:30') }],
    ],
    [
      'nothing, if the event no longer exists',
      workspace({ pigeonholes: [pigeonhole({ freshness: late, goneAt: '2026-11-21T09:00:00.000Z' })] }),
      [],
    ],
    [
      'a silent service, which also explains late lists',
      workspace({
        unanswered: { since: '2026-11-21T09:59:00.000Z', reason: 'no answer' },
        pigeonholes: [pigeonhole({ freshness: late })],
      }),
      [{ ...whole, cause: 'silent', since: at('09:59:00') }],
    ],
  ])('is %s', (_, found, interruptions) => {
    expect(presentInterruptions({ workspaces: [found] }, now)).toEqual(interruptions);
  });
});
