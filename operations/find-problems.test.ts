import { freshnessOf, pigeonholeOf, quotaOf, sinkOf, workspaceOf } from '../cli/status/status.test-kit.js';
import { ago, laneOf, now } from './snapshot.test-kit.js';
import type { LaneState } from '../delivering/read-lanes.js';
import { CycleFailures, findProblems, viewProblems, type WorkSnapshot } from './find-problems.js';
import { problemCodes } from './problems.js';
import type { PigeonholeView, SinkView, WorkspaceView } from './status-view.js';

const pause = {
  pausedBy: 'person',
  cause: 'asked',
  actor: 'ada',
  reason: 'moved for Person 1',
  since: '2026-11-21T09:00:00.000Z',
} as const;
const refused = {
  ...pause,
  pausedBy: 'cause',
  cause: 'credential',
  actor: null,
  reason: 'invalid key of Person 1',
} as const;
const late = freshnessOf({
  lateLists: 2,
  lateSeconds: 300,
  late: 'votes of session 5001 (every 5 s: the event is live) and 1 more',
});
const quota = quotaOf({ limit: 100, left: 40, reserved: 5, lastsUntil: null, resetAt: null });
const observation = { wouldSend: 0, wouldSendAnonymously: 0, wouldWithhold: {}, behind: 0 };
const approval = { approvedBy: 'ada', reason: null, since: '2026-11-21T09:00:00.000Z' };
const unanswered = { since: '2026-11-21T09:57:00.000Z', reason: 'connection refused by Person 1' };

interface Given {
  readonly trouble?: string;
  readonly of?: Partial<WorkspaceView>;
  readonly holds?: Partial<PigeonholeView>;
  readonly to?: Partial<SinkView>;
  readonly lane?: Partial<LaneState>;
  readonly folders?: WorkSnapshot['folders'];
  readonly exports?: WorkSnapshot['exports'];
  readonly file?: WorkSnapshot['file'];
  readonly isLate?: boolean;
}

function snapshot({
  trouble,
  of = {},
  holds = {},
  to = {},
  lane = {},
  folders = [],
  exports = [],
  file = null,
  isLate = false,
}: Given): WorkSnapshot {
  const pigeonhole = pigeonholeOf({ ...(isLate ? { freshness: late } : {}), ...holds });
  return {
    trouble: trouble ?? null,
    workspaces: [workspaceOf({ waitingLists: 13, ...of, pigeonholes: [pigeonhole] })],
    sinks: [sinkOf({ backlog: 7, ...to })],
    lanes: [laneOf(lane)],
    folders,
    exports,
    file,
    now,
  };
}

const parity = {
  auditedAt: '2026-11-21T09:00:00.000Z',
  compared: 100,
  stale: 0,
  explained: 7,
  changed: 1,
  missing: 2,
  extra: 0,
  unreadable: 3,
};

const shown = (given: Given) => viewProblems(snapshot(given));

const each: readonly (readonly [string, Given, string | null, string | null, RegExp])[] = [
  ['process-failing', { trouble: 'the disk is full' }, null, null, /^pigeonpost makes no progress$/],
  [
    'file-unusable',
    { file: { line: 7, problems: 2, text: 'a.yaml:7: a quote of Person 1', since: now } },
    null,
    null,
    /^The configuration file can no longer be used \(line 7\)$/,
  ],
  [
    'service-down',
    { of: { state: 'waiting', unanswered }, holds: { failing: 9, reason: 'timeout' }, isLate: true },
    'try-now workspace acme',
    'Try now',
    /^The service has not answered workspace acme since 2026-11-21 09:57 UTC; 13 lists wait$/,
  ],
  [
    'workspace-paused',
    { of: { pause, state: 'paused' } },
    'resume workspace acme',
    'Resume',
    /^Workspace acme is paused$/,
  ],
  [
    'workspace-paused',
    { of: { pause: refused, state: 'paused' }, holds: { failing: 1 } },
    'try-now workspace acme',
    'Try now',
    /^The service refuses the key of workspace acme$/,
  ],
  [
    'workspace-waiting',
    { of: { state: 'waiting', reason: 'throttled', until: '2026-11-21T10:05:00.000Z' }, isLate: true },
    'try-now workspace acme',
    'Try now',
    /wait until 2026-11-21 10:05 UTC$/,
  ],
  [
    'quota-used-up',
    { of: { state: 'waiting', reason: 'quota', until: '2026-11-21T10:30:00.000Z', quota: { ...quota, left: 0 } } },
    'try-now workspace acme',
    'Try now',
    /^The request quota of workspace acme is used up$/,
  ],
  [
    'quota-short',
    { of: { quota: { ...quota, lengthens: { live: 11.5, idle: 20, sweep: 1 } } } },
    '/api/quota',
    'Show the quota',
    /too small for the configured intervals$/,
  ],
  [
    'drop-folder-unreadable',
    { folders: [{ workspace: 'acme', folder: '/srv/Person 1', code: 'ENOENT' }] },
    null,
    null,
    /^Workspace acme has 1 drop folder that cannot be read$/,
  ],
  [
    'pigeonhole-paused',
    { holds: { pause } },
    'resume pigeonhole acme/101',
    'Resume',
    /^Pigeonhole acme\/101 is paused$/,
  ],
  [
    'pigeonhole-failing',
    { holds: { failing: 2 }, isLate: true },
    'poll-now pigeonhole acme/101',
    'Read now',
    /cannot read 2 lists of/,
  ],
  [
    'pigeonhole-gone',
    { holds: { goneAt: '2026-11-21T09:00:00.000Z', failing: 1 } },
    null,
    null,
    /was deleted in the service$/,
  ],
  [
    'reading-late',
    { isLate: true },
    'poll-now pigeonhole acme/101',
    'Read now',
    /^2 lists of pigeonhole acme\/101 should have been read at 2026-11-21 09:55 UTC$/,
  ],
  [
    'deletions-held',
    { holds: { heldDeletions: 1 } },
    '/api/deletions',
    'Show the deletions',
    /^1 deletion in .* waits for an operator$/,
  ],
  [
    'filters-ignored',
    { holds: { foreignRows: 9 } },
    '/api/pigeonholes/acme/101/streams',
    'Show the streams',
    /ignores filter/,
  ],
  [
    'unknown-sessions',
    { holds: { strangerRows: 2 } },
    '/api/pigeonholes/acme/101/streams',
    'Show the streams',
    /^The service shows 2 rows of unknown sessions in pigeonhole acme\/101$/,
  ],
  [
    'rows-set-aside',
    { holds: { setAside: 1 } },
    '/api/pigeonholes/acme/101/streams',
    'Show the streams',
    /^The service shows 1 row without a usable id in pigeonhole acme\/101$/,
  ],
  [
    'sink-paused',
    { to: { pause, state: 'paused' }, lane: { waitsSince: ago(900_000) } },
    'resume sink hooks',
    'Resume',
    /^Sink hooks is paused$/,
  ],
  [
    'sink-paused',
    { to: { pause: refused, state: 'paused' } },
    'try-now sink hooks',
    'Try now',
    /refuses its credentials$/,
  ],
  [
    'sink-failing',
    {
      to: { state: 'failing', reason: 'HTTP 429' },
      lane: { failingSince: ago(60_000), retryAt: ago(-1_800_000), waitsSince: ago(900_000) },
    },
    'try-now sink hooks',
    'Try now',
    /^Sink hooks accepts nothing$/,
  ],
  [
    'sink-behind',
    { lane: { waitsSince: ago(121_000) } },
    '/api/sinks/hooks',
    'Show its backlog',
    /^Sink hooks is behind$/,
  ],
  [
    'sink-withholding',
    { to: { withholding: [{ list: 'attendees', kind: 'all', text: 'all 20 attendees lack a value for email' }] } },
    '/api/sinks/hooks',
    'Preview what it would send',
    /^Sink hooks withholds what it should probably send: all 20 attendees lack a value for email$/,
  ],
  [
    'event-withheld',
    {
      to: {
        withholding: [{ list: 'attendees', kind: 'event', text: 'none of the 100 attendees of acme/102 has email' }],
      },
    },
    '/api/sinks/hooks',
    'Preview what it would send',
    /^Sink hooks receives none of a list of one event: none of the 100 attendees of acme\/102 has email$/,
  ],
  ['sink-observing', { to: { observation } }, 'approve sink hooks', 'Start sending…', /observes and sends nothing$/],
  [
    'dead-letters',
    { to: { dead: { 'http:422': 2 } } },
    '/api/dead-letters?sink=hooks',
    'Show the dead letters',
    /^Sink hooks has refused 2 changes$/,
  ],
  [
    'dead-letters',
    { to: { dead: { 'mapping: crm.x: T0410': 3 } } },
    '/api/dead-letters?sink=hooks',
    'Show the dead letters',
    /^The mapping of sink hooks failed on 3 changes$/,
  ],
  [
    'parity-differs',
    { to: { parity } },
    '/api/sinks/hooks/parity',
    'Show the differences',
    /^The destination of sink hooks differs from what was delivered: 2 missing, 1 changed there$/,
  ],
  [
    'export-failing',
    {
      exports: [
        {
          sink: 'hooks',
          workspace: 'acme',
          pigeonholes: 2,
          since: new Date('2026-11-21T02:00:00Z'),
          failure: 'no space',
        },
      ],
    },
    null,
    null,
    /^Nightly exports to sink hooks fail for 2 pigeonholes$/,
  ],
];

describe('the catalogue of problems', () => {
  it('finds nothing while everything works', () => {
    expect(shown({})).toEqual([]);
  });

  it.each(each)(
    'shows %s as one problem, without personal data in its text, with the help %j',
    (code, given, help, label, title) => {
      const [found, ...more] = shown(given);
      expect([found!.code, more]).toEqual([code, []]);
      expect(found!.title).toMatch(title);
      expect([found!.title, found!.says ?? '', found!.advice ?? ''].join(' ')).not.toMatch(
        /Person 1|undefined|null|NaN/,
      );
      const { action, see } = found!.help ?? { action: null, see: null };
      expect(action === null ? see : `${action.do} ${action.kind} ${action.name}`).toBe(help);
      expect(found!.help?.label ?? null).toBe(label);
    },
  );

  it('has an example of each code', () => {
    expect([...new Set(each.map(([code]) => code))].toSorted()).toEqual([...problemCodes].toSorted());
  });

  it('says for each problem whether it stops reading or sending, and whether its text contains the instant', () => {
    const stopping = each.filter(([, given]) => shown(given)[0]!.stops).map(([code]) => code);
    expect([...new Set(stopping)]).toEqual([
      'process-failing',
      'service-down',
      'workspace-paused',
      'quota-used-up',
      'pigeonhole-paused',
      'sink-paused',
      'sink-failing',
    ]);
    const [down] = shown({ of: { state: 'waiting', unanswered } });
    expect([down!.since, down!.saysSince]).toEqual([unanswered.since, true]);
    const [failing] = shown({ to: { state: 'failing' }, lane: { failingSince: ago(60_000) } });
    expect([failing!.since, failing!.saysSince]).toEqual([ago(60_000).toISOString(), false]);
    // The next attempt is in the minute of the start.
    const retryAt = ago(-1000);
    const [again] = shown({ to: { state: 'failing' }, lane: { failingSince: ago(0), retryAt } });
    expect([again!.says, again!.saysSince]).toEqual([expect.stringContaining('tries again at'), false]);
  });

  it.each<[string, Given]>([
    ['a change waits for less than two minutes', { lane: { waitsSince: ago(119_000) } }],
    ['a sink that observes was approved', { to: { observation, approval } }],
    [
      'no request needs a quota of which only the reserve is left',
      { of: { quota: { ...quota, left: 5, nextHour: { ...quota.nextHour, all: 0 } } } },
    ],
  ])('shows nothing while %s', (_, given) => {
    expect(shown(given)).toEqual([]);
  });

  it.each<[string, Given, string | null, string | null]>([
    ['process-failing', { trouble: 'the disk is full' }, null, null],
    ['service-down', { of: { state: 'waiting', unanswered } }, '#/workspace/acme', null],
    ['reading-late', { isLate: true }, '#/sync/acme/101', 'late'],
    ['deletions-held', { holds: { heldDeletions: 7 } }, '#/deletions', null],
    ['sink-paused', { to: { pause, state: 'paused' } }, '#/sink/hooks', null],
    ['sink-behind', { lane: { waitsSince: ago(121_000) } }, '#/sink/hooks?part=lanes', 'behind'],
    [
      'event-withheld',
      { to: { withholding: [{ list: 'a', kind: 'event', text: 'a' }] } },
      '#/sink/hooks?part=preview',
      null,
    ],
  ])('names the page that shows %s, and the state of its subject', (code, given, page, state) => {
    expect(shown(given)).toMatchObject([{ code, page, state }]);
  });

  it('lists errors first, and hides problems that another one explains, which only alerts use', () => {
    const given: Given = {
      of: { pause, state: 'paused', unanswered },
      isLate: true,
      to: { dead: { x: 1 }, observation },
    };
    expect(shown(given).map(({ code }) => code)).toEqual(['workspace-paused', 'dead-letters', 'sink-observing']);
    const hidden = findProblems(snapshot(given)).filter(({ coveredBy }) => coveredBy !== null);
    expect(hidden.map(({ code, coveredBy }) => `${code} by ${coveredBy}`)).toEqual([
      'service-down by workspace-paused',
      'reading-late by workspace-paused',
    ]);
  });

  it('names the cause of the lane whose change waits longest', () => {
    const work = snapshot({});
    const waits = (seconds: number, waitsFor: string) => laneOf({ waitsSince: ago(seconds * 1000), waitsFor });
    const causes = (lanes: LaneState[]) => viewProblems({ ...work, lanes }).map(({ detail }) => detail);
    expect(causes([waits(130, 'HTTP 500'), waits(900, 'HTTP 429')])).toEqual(['HTTP 429']);
    expect(causes([waits(900, 'HTTP 429'), waits(130, 'HTTP 500')])).toEqual(['HTTP 429']);
  });

  it('shows a used-up quota as one error with the time at which reading continues', () => {
    const until = '2026-11-21T10:30:00.000Z';
    const waits = { state: 'waiting', reason: 'quota', quota: { ...quota, left: 0 } } as const;
    const [found, ...more] = shown({ of: { ...waits, until }, isLate: true });
    expect([found!.code, found!.severity, more]).toEqual(['quota-used-up', 'error', []]);
    expect(found!.says).toBe(
      'pigeonpost reads nothing of the workspace until 2026-11-21 10:30 UTC, then tries again and continues where it stopped.',
    );
    const [tried] = shown({ of: { ...waits, until: '2026-11-21T09:59:59.000Z' } });
    expect(tried!.says).toContain('until the service accepts requests again, then');
  });

  it('shows the drop folders of a workspace that cannot be read, each with the reason', () => {
    const folders = [
      { workspace: 'acme', folder: '/srv/a', code: 'ENOENT' },
      { workspace: 'acme', folder: '/srv/b', code: 'EACCES' },
      { workspace: 'beta', folder: '/srv/c', code: 'ENOENT' },
    ];
    expect(shown({ folders }).map(({ text }) => text)).toEqual([
      'Workspace acme has 2 drop folders that cannot be read: /srv/a does not exist, /srv/b cannot be read (EACCES). pigeonpost imports no files from there. Everything else continues.',
    ]);
  });

  it('says what to do about a failed mapping as well as about changes that the destination refused', () => {
    const [found] = shown({ to: { dead: { 'mapping: crm.x: T0410': 3, 'http:422': 2 } } });
    expect(found!.title).toBe('Sink hooks has refused 2 changes');
    expect(found!.says).toContain('The mapping failed on 3 more changes.');
    expect(found!.advice).toMatch(/redrive the dead letters\. Test the expression .*config apply/);
  });
});

const full = 'no space is left on the disk of the store';

describe('the failure of cycles', () => {
  it('is shown while one cycle fails, until the same cycle succeeds', () => {
    const troubles = new CycleFailures(() => 0);
    expect(troubles.present).toBeNull();
    troubles.note('read acme/101', full);
    troubles.note('deliver hooks', null);
    expect(troubles.present).toBe(full);
    troubles.note('read acme/101', null);
    expect(troubles.present).toBeNull();
  });

  it('is the latest of several', () => {
    const troubles = new CycleFailures(() => 0);
    troubles.note('read acme/101', full);
    troubles.note('deliver hooks', 'another');
    expect(troubles.present).toBe('another');
    troubles.note('read acme/101', full);
    expect(troubles.present).toBe(full);
  });

  it('disappears after five minutes without another run of the cycle', () => {
    let nowMs = 0;
    const troubles = new CycleFailures(() => nowMs);
    troubles.note('read acme/101', full);
    nowMs = 5 * 60_000;
    expect(troubles.present).toBe(full);
    nowMs += 1;
    expect(troubles.present).toBeNull();
  });
});
