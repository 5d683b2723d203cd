import type { LaneState } from '../ledger/queries/read-lanes.js';
import { positionFrom, positionText } from './feed-position.js';
import { byMinute } from './minutes.js';
import type { PigeonholeView, SinkView, Status, WorkspaceView } from './status-view.js';
import { type KnownFacts, whatIsWrong } from './what-is-wrong.js';
import { withoutValues } from './without-values.js';

const now = new Date('2026-11-21T10:00:00Z');
const ago = (ms: number): Date => new Date(now.getTime() - ms);
const pause = {
  pausedBy: 'cause',
  actor: null,
  reason: 'the key is refused',
  since: '2026-11-21T09:00:00.000Z',
} as const;

const pigeonhole: PigeonholeView = {
  id: 101,
  name: null,
  status: 'live',
  state: 'working',
  reason: null,
  pause: null,
  changes: 5,
  streams: 3,
  freshAsOf: null,
  setAside: 0,
  foreignRows: 0,
  heldDeletions: 0,
  goneAt: null,
};
const workspace: WorkspaceView = {
  name: 'acme',
  state: 'working',
  reason: null,
  until: null,
  pause: null,
  quota: null,
  pigeonholes: [],
};
const sink: SinkView = {
  name: 'hooks',
  type: 'webhook',
  state: 'working',
  reason: null,
  pause: null,
  delivered: 5,
  backlog: 0,
  withheld: {},
  dead: {},
  deliveredAt: null,
  mode: 'send',
  observation: null,
  approval: null,
  replays: [],
};
const lane = { sink: 'hooks', undeliveredSince: null, failingSince: null } as LaneState;
const observation = { wouldSend: 1, wouldSendAnonymously: 0, wouldWithhold: {}, behind: 0 };
const quota = {
  limit: 100,
  learnt: false,
  used: 90,
  left: 10,
  reserved: 0,
  resetAt: null,
  nextHour: { live: 1, idle: 1, sweep: 1, all: 3 },
  lastsUntil: '2026-11-21T10:30:00.000Z',
};

function facts({
  trouble = null,
  of = {},
  holds = {},
  to = {},
  sends = {},
  late = [],
}: {
  trouble?: string | null;
  of?: Partial<WorkspaceView>;
  holds?: Partial<PigeonholeView>;
  to?: Partial<SinkView>;
  sends?: Partial<LaneState>;
  late?: KnownFacts['late'];
}): KnownFacts {
  const status = {
    trouble,
    workspaces: [{ ...workspace, ...of, pigeonholes: [{ ...pigeonhole, ...holds }] }],
    sinks: [{ ...sink, ...to }],
  } as unknown as Status;
  return { status, lanes: [{ ...lane, ...sends }], late, now };
}

const overdue = [{ workspace: 'acme', pigeonholeId: 101, since: ago(300_000), streams: 2 }];

describe('what is wrong', () => {
  it('is nothing while all goes on', () => {
    expect(whatIsWrong(facts({}))).toEqual([]);
  });

  it.each<[string, KnownFacts, string | null]>([
    ['process-failing', facts({ trouble: 'the store is full' }), null],
    ['workspace-paused', facts({ of: { pause, state: 'paused' } }), 'resume workspace acme'],
    ['workspace-waiting', facts({ of: { state: 'waiting', reason: 'throttled' } }), null],
    ['quota-short', facts({ of: { quota } }), '/api/quota'],
    ['pigeonhole-paused', facts({ holds: { pause, state: 'paused' } }), 'resume pigeonhole acme/101'],
    ['pigeonhole-failing', facts({ holds: { state: 'failing' } }), 'poll-now pigeonhole acme/101'],
    ['pigeonhole-gone', facts({ holds: { goneAt: '2026-11-21T09:00:00.000Z' } }), null],
    ['reading-late', facts({ late: overdue }), 'poll-now pigeonhole acme/101'],
    ['deletions-held', facts({ holds: { heldDeletions: 7 } }), '/api/deletions'],
    ['filters-ignored', facts({ holds: { foreignRows: 9 } }), '/api/pigeonholes/acme/101/streams'],
    ['sink-paused', facts({ to: { pause, state: 'paused' } }), 'resume sink hooks'],
    ['sink-failing', facts({ to: { state: 'failing', reason: 'HTTP 503' } }), '/api/sinks/hooks'],
    ['sink-behind', facts({ sends: { undeliveredSince: ago(121_000) } }), '/api/sinks/hooks'],
    ['sink-observing', facts({ to: { observation } }), 'approve sink hooks'],
    ['dead-letters', facts({ to: { dead: { 'http:422': 2 } } }), '/api/dead-letters?sink=hooks'],
  ])('is %s, once, with what helps', (code, known, help) => {
    const found = whatIsWrong(known);
    expect(found.map((each) => each.code)).toEqual([code]);
    const { action, see } = found[0]!.help ?? { action: null, see: null };
    expect(action === null ? see : `${action.do} ${action.kind} ${action.name}`).toBe(help);
  });

  it.each<[string, KnownFacts]>([
    ['a change waits for less than two minutes', facts({ sends: { undeliveredSince: ago(119_000) } })],
    [
      'a sink was approved while it observes',
      facts({ to: { observation, approval: { approvedBy: null, reason: null, since: now.toISOString() } } }),
    ],
  ])('is nothing while %s', (_, known) => {
    expect(whatIsWrong(known)).toEqual([]);
  });

  it('does not repeat what a pause says already, and begins with the worst', () => {
    const codes = whatIsWrong(
      facts({ of: { pause, state: 'paused' }, late: overdue, to: { dead: { x: 1 }, observation } }),
    ).map(({ code }) => code);
    expect(codes).toEqual(['workspace-paused', 'dead-letters', 'sink-observing']);
  });
});

describe('the position of a reader of changes', () => {
  it('comes back as it went', () => {
    const position = new Map([
      [1, 5],
      [40_000, 2 ** 40],
    ]);
    expect(positionFrom(positionText(position)!)).toEqual(position);
    expect(positionFrom('')).toEqual(new Map());
  });

  it.each(['x', '1-', '-1', '1-2.', '1-2,3-4', '1-zzzzzzzzzzzz', `1-2${'.1-2'.repeat(4000)}`])(
    'is none in %.20s',
    (text) => {
      expect(positionFrom(text)).toBeUndefined();
    },
  );

  it('has no text where it would be longer than a header', () => {
    const many = new Map(Array.from({ length: 3000 }, (_, ref) => [ref, 100_000]));
    expect(positionText(many)).toBeUndefined();
  });
});

describe('the minutes of a chart', () => {
  it('end with the present one and leave out what is older or not meant', () => {
    const at = (ms: number, changes: number, name: string | null = null) => ({
      workspace: 'acme',
      pigeonholeId: 101,
      sink: name,
      minute: ago(ms),
      changes,
    });
    const minutes = byMinute(
      [at(0, 3), at(60_000, 2), at(59 * 60_000, 7), at(60 * 60_000, 100), at(0, 50, 'hooks')],
      (each) => each.sink === null,
      now,
    );
    expect([minutes.length, minutes[59], minutes[58], minutes[0]]).toEqual([60, 3, 2, 7]);
    expect(minutes.reduce((sum, n) => sum + n)).toBe(12);
  });
});

describe('data without what it says', () => {
  it('keeps its members and kinds alone', () => {
    expect(withoutValues({ Name: 'Ann', ids: [7, 'x'], yes: true, none: null, empty: '', deep: { a: 'b' } })).toEqual({
      Name: '(text)',
      ids: ['(number)', '(text)'],
      yes: true,
      none: null,
      empty: '',
      deep: { a: '(text)' },
    });
  });
});
