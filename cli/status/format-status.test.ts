import type { Trouble } from '../../operations/problem.js';
import type { PigeonholeView, Status } from '../../operations/status-view.js';
import { widthOf } from '../text-line.js';
import { formatStatus } from './format-status.js';
import { freshnessOf, momentOf, pigeonholeOf, quotaOf, sinkOf, troubleOf, workspaceOf } from './status.test-kit.js';

const now = new Date('2026-11-21T09:30:00.000Z');
const page = 'http://127.0.0.1:8088/';
const quotaWait = { for: 'quota', until: '2026-11-21T10:40:12.000Z', everySeconds: null } as const;

function lines(status: Partial<Status> = {}, troubles: readonly Trouble[] = [], columns = Infinity): string[] {
  return formatStatus(momentOf(status, troubles), { now, columns, colours: false, page });
}

describe('the text of status', () => {
  it('shows each event and sink, the rate, the page and a summary', () => {
    expect(lines()).toEqual([
      'workspace acme: working',
      'event                status    state          changes  read',
      'Annual Summit (101)  live      up to date       1,234  3 s ago, next in 2 s',
      '  6 lists every 5 s: the event is live',
      '',
      'sink            delivered  withheld   backlog        last',
      'hooks (webhook)     1,200         0         0     2 s ago',
      '',
      'rate  12 found, 11 delivered this minute  (previous minute: 30, 28)',
      'page  http://127.0.0.1:8088/  (sign in: pigeonpost open)',
      'settled: everything found is delivered, withheld or a dead letter',
    ]);
  });

  it('starts with the problems: their text, since when, and the remedy', () => {
    const paused = troubleOf({
      code: 'sink-paused',
      text: 'Sink hooks is paused: moved (ana). It keeps its backlog.',
      advice: 'To continue, run "pigeonpost resume sink:hooks".',
      help: { label: 'Resume', action: { do: 'resume', kind: 'sink', name: 'hooks' }, see: null },
    });
    const held = troubleOf({
      severity: 'warning',
      text: '12 deletions wait for an operator',
      since: null,
      advice: 'Run "pigeonpost deletions list", then confirm or reject them.',
    });
    expect(lines({}, [paused, held, troubleOf({ severity: 'notice', text: 'note this' })]).slice(0, 6)).toEqual([
      'PROBLEM  Sink hooks is paused: moved (ana). It keeps its backlog. (started 10 min ago)',
      '         To continue, run "pigeonpost resume sink:hooks".',
      'WARNING  12 deletions wait for an operator',
      '         Run "pigeonpost deletions list", then confirm or reject them.',
      'note     note this (started 10 min ago)',
      '',
    ]);
  });

  it('shows why a workspace waits, until when, and the rest of its quota', () => {
    const waiting = workspaceOf({
      state: 'waiting',
      reason: 'quota',
      until: '2026-11-21T11:30:00.000Z',
      quota: quotaOf({ used: 600, usedByAll: 700, left: 300, reserved: 100, lastsUntil: '2026-11-21T11:10:00.000Z' }),
      pigeonholes: [],
    });
    expect(lines({ workspaces: [waiting], sinks: [], settled: false }).slice(0, 3)).toEqual([
      'workspace acme: waiting, continues in 2 h: quota',
      '  requests: 700 of 1,000 used, 600 of them by pigeonpost; 300 left (100 of them reserved for imports); the next hour needs 120: 100 live, 15 idle, 5 for sweeps',
      '  the part for reading is used up in 100 min at the present intervals',
    ]);
  });

  it('says that a refused key is tried again, and nothing of the kind for a pause by an operator', () => {
    const until = '2026-11-21T09:30:18.000Z';
    const pause = { pausedBy: 'cause', cause: 'credential', actor: null, reason: 'HTTP 401', since: until } as const;
    const first = (given: Parameters<typeof workspaceOf>[0]): string => {
      return lines({ workspaces: [workspaceOf({ until, ...given })] })[0]!;
    };
    expect(first({ state: 'paused', pause })).toBe('workspace acme: paused, tried again in 18 s');
    expect(first({ state: 'waiting', reason: 'credential' })).toBe(
      'workspace acme: waiting, tried again in 18 s: credential',
    );
    const byPerson = { ...pause, pausedBy: 'person', cause: 'asked', actor: 'ana', reason: 'moved' } as const;
    expect(first({ state: 'paused', pause: byPerson, reason: 'moved' })).toBe('workspace acme: paused');
  });

  it('uses one label for an unanswered workspace and its events, and names the reason only in the problem', () => {
    const waiting = workspaceOf({
      state: 'waiting',
      reason: 'The service has not answered',
      unanswered: { since: '2026-11-21T09:20:00.000Z', reason: 'timeout' },
      pigeonholes: [pigeonholeOf({ state: 'waiting' })],
    });
    const text = 'The service has not answered workspace acme since 2026-11-21 09:20 UTC.';
    const shown = lines({ workspaces: [waiting] }, [troubleOf({ text, saysSince: true })]);
    expect(shown.slice(0, 3)).toEqual([`PROBLEM  ${text}`, '', 'workspace acme: waiting']);
    expect(shown[4]).toMatch(/^Annual Summit \(101\) {2}live {6}waiting /);
  });

  it.each<[string, Partial<PigeonholeView['freshness']>, number, string]>([
    ['the time until which', { waits: quotaWait }, 120, '3 s ago, waits for the quota until 10:40:12 UTC'],
    [
      'the date as well if the wait ends on another day',
      { waits: { ...quotaWait, until: '2026-11-22T00:00:00.000Z' } },
      120,
      '3 s ago, waits for the quota until 2026-11-22 00:00 UTC',
    ],
    ['only the reason on a narrow terminal', { waits: quotaWait }, 76, '3 s ago, waits for the quota'],
    ['only the age on a very narrow terminal', { waits: quotaWait, lateLists: 12 }, 58, '3 s ago'],
    [
      'the next read if it is due only after the wait',
      { waits: quotaWait, nextAt: '2026-11-21T10:40:30.000Z' },
      120,
      '3 s ago, next in 71 min',
    ],
    [
      'the number of late lists and how often the service is tried',
      { state: 'late', lateLists: 12, nextAt: null, waits: { for: 'service', until: null, everySeconds: 5 } },
      120,
      '3 s ago, 12 lists late, waits for the service, tried every 5 s',
    ],
    [
      'the number of late lists while nothing prevents reading',
      { state: 'late', lateLists: 1 },
      120,
      '3 s ago, 1 list late',
    ],
  ])('shows beside an event that cannot be read %s', (_, given, columns, read) => {
    const event = pigeonholeOf({ name: 'Summit', state: 'waiting', freshness: freshnessOf({ ...given, groups: [] }) });
    const shown = lines({ workspaces: [workspaceOf({ state: 'waiting', pigeonholes: [event] })] }, [], columns);
    expect(shown.find((line) => line.startsWith('Summit'))).toMatch(new RegExp(` ${read}$`));
  });

  it('shows an event as catching up until the lists that were due during an outage have been read', () => {
    const freshness = freshnessOf({ readAt: '2026-11-21T09:28:00.000Z', catchingUp: true, groups: [] });
    expect(lines({ workspaces: [workspaceOf({ pigeonholes: [pigeonholeOf({ freshness })] })] })[2]).toMatch(
      / live {6}catching up .* 2 min ago, next in 2 s$/,
    );
  });

  it('shows neither a late event nor a sink with a problem in green', () => {
    const event = pigeonholeOf({ freshness: freshnessOf({ lateLists: 1, groups: [] }) });
    const moment = momentOf({ workspaces: [workspaceOf({ pigeonholes: [event] })] }, [
      troubleOf({ code: 'sink-withholding' }),
    ]);
    const shown = formatStatus(moment, { now, columns: 140, colours: true, page });
    expect(shown.find((line) => line.includes('(101)'))).toContain('\u001b[33mlate');
    const sink = shown.find((line) => line.includes('(webhook)'));
    expect(sink).toContain('\u001b[31mhooks');
    expect(sink).not.toContain('\u001b[32m');
  });

  it('says which parts of a quota are unknown', () => {
    const quota = quotaOf({ limit: 900, used: 40, left: null });
    expect(lines({ workspaces: [workspaceOf({ quota })] })[1]).toMatch(
      /^ {2}requests: 40 of 900 used; the service does not report how many are left; /,
    );
  });

  it("shows the workspace's own lists, an event without a name, and rows set aside", () => {
    const freshness = freshnessOf({ readAt: null, groups: [] });
    const own = pigeonholeOf({ id: 0, name: null, status: null, freshness, state: 'backfilling', changes: 5 });
    const unnamed = pigeonholeOf({ name: null, setAside: 2, freshness: freshnessOf({ groups: [] }) });
    expect(lines({ workspaces: [workspaceOf({ pigeonholes: [own, unnamed] })] }).slice(2, 5)).toEqual([
      'workspace lists            first read           5  not read yet',
      'pigeonhole 101   live      up to date       1,234  3 s ago, next in 2 s',
      '  2 rows without an ID set aside',
    ]);
  });

  it('shows polling intervals with their reason, and the end of a rehearsal', () => {
    const { groups } = freshnessOf();
    const rare = { ...groups[0]!, lists: 12, cadence: 'every 5 min: no session runs' };
    const freshness = freshnessOf({ nextAt: new Date(now.getTime() + 400).toISOString(), groups: [...groups, rare] });
    const rehearsal = { since: '2026-11-21T09:00:00.000Z', until: '2026-11-21T11:30:00.000Z', by: null };
    const workspaces = [workspaceOf({ pigeonholes: [pigeonholeOf({ freshness, rehearsal })] })];
    expect(lines({ workspaces }).slice(2, 5)).toEqual([
      'Annual Summit (101)  live      up to date       1,234  3 s ago, next now',
      '  the rehearsal ends in 2 h',
      '  6 lists every 5 s: the event is live; 12 lists every 5 min: no session runs',
    ]);
  });

  it('shows withheld changes by reason and dead letters by cause', () => {
    const withheld = { 'consent-refused': 7, 'condition-false': 1 };
    const sink = sinkOf({ state: 'paused', deliveredAt: null, withheld, dead: { 'attempts-exhausted': 2 } });
    expect(lines({ workspaces: [], sinks: [sink] }).slice(1, 5)).toEqual([
      'hooks (webhook)     1,200         8         0       never',
      '  paused',
      '  withheld: 7 consent refused, 1 condition-false',
      '  dead letters: 2 attempts-exhausted',
    ]);
  });

  it('shows what an observing sink would send, and since when it is approved', () => {
    const observation = { wouldSend: 40, wouldSendAnonymously: 2, wouldWithhold: { 'consent-refused': 3 }, behind: 0 };
    const remarks = (approval: { approvedBy: string; reason: string; since: string } | null): string[] =>
      lines({ workspaces: [], sinks: [sinkOf({ mode: 'observe', observation, approval })] })
        .slice(2)
        .filter((line) => line.startsWith('  '));
    expect(remarks(null)).toEqual([
      '  observes and sends nothing: would send 42 changes, 2 of them anonymously',
      '  would withhold 3: consent refused',
      '  start sending with: pigeonpost sink approve hooks',
    ]);
    expect(remarks({ approvedBy: 'ana', reason: 'checked', since: '2026-11-21T09:29:00.000Z' })).toEqual([
      '  approved by ana 60 s ago (checked), so it sends',
    ]);
  });

  it('shows the progress of a replay', () => {
    const [id, requestedBy, since] = ['the-id', 'ana', '2026-11-21T09:29:50.000Z'];
    const replays = [{ id, requestedBy, reason: 'new field', since, total: 18331, sent: 4231, taken: 4246, open: 3 }];
    expect(lines({ workspaces: [], sinks: [sinkOf({ replays })] })[2]).toBe(
      '  replay the-id by ana (new field), 10 s ago: 4,231 of 18,331 sent again, 12 withheld or refused, 3 in progress',
    );
  });

  it('ends with the objects that need attention, each problem once', () => {
    const failing = pigeonholeOf({ state: 'failing' });
    const last = (status: Partial<Status>, troubles: Trouble[] = []): string => lines(status, troubles).at(-1)!;
    expect(last({ sinks: [sinkOf({ state: 'paused' })], workspaces: [workspaceOf({ state: 'waiting' })] })).toBe(
      '1 workspace waits, 1 sink is paused: see above',
    );
    expect(last({ workspaces: [workspaceOf({ state: 'failing', pigeonholes: [failing, failing] })] })).toBe(
      '2 pigeonholes are failing: see above',
    );
    const unanswered = { since: '2026-11-21T09:20:00.000Z', reason: 'timeout' };
    const waiting = workspaceOf({ state: 'waiting', unanswered, pigeonholes: [pigeonholeOf({ state: 'waiting' })] });
    expect(last({ workspaces: [waiting] })).toBe('1 workspace waits: see above');
    expect(last({ trouble: 'the store is full' })).toBe('no progress: see above');
    expect(last({}, [troubleOf({ severity: 'warning' })])).toBe('1 problem: see above');
    expect(last({ settled: false })).toBe('working');
  });

  it('omits the number of changes before it cuts a name of 24 columns', () => {
    const hour = new Date(now.getTime() + 3_600_000).toISOString();
    const event = pigeonholeOf({ name: 'Annual Summit 2026', freshness: freshnessOf({ nextAt: hour, groups: [] }) });
    const shown = lines({ workspaces: [workspaceOf({ pigeonholes: [event] })] }, [], 80);
    expect(shown[2]).toBe('Annual Summit 2026 (101)  live      up to date    3 s ago, next in 60 min');
  });

  it.each([40, 60, 80, 140])('is not wider than %d columns, whatever its names and reasons', (columns) => {
    const hostile = '\u001b[2J東京カンファレンス2026 \u202egnp 🎉🎉 e\u0301\nsecond line '.repeat(3);
    const quota = quotaOf({ resetAt: '2026-11-21T11:30:00.000Z', lastsUntil: '2026-11-21T11:10:00.000Z' });
    const pigeonholes = [pigeonholeOf({ name: hostile, setAside: 3 }), pigeonholeOf({ id: 0 })];
    const sink = sinkOf({ name: 'a'.repeat(60), state: 'failing', withheld: { 'consent-refused': 1_000_000 } });
    const shown = lines(
      { workspaces: [workspaceOf({ quota, pigeonholes })], sinks: [sink] },
      [troubleOf({ text: hostile })],
      columns,
    );
    expect(shown.filter((line) => widthOf(line) > columns)).toEqual([]);
    if (columns >= 60) expect(shown.join('\n')).toContain('… (101)'); // commands take the id
    expect(shown.join('\n')).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u);
  });
});
