import type { AlertRow } from './alert-store.js';
import { judgeStates, type Condition } from './check-alerts.js';

const at = new Date('2026-11-21T10:00:00Z');
const calm = { firstMs: 10, longestMs: 60, forgetMs: 100 };
const when = {
  'service-down': false,
  'reading-late': false,
  'sink-paused': false,
  'workspace-paused': false,
  'dead-letters': 1,
  withholding: false,
  parity: false,
  'nightly-export': false,
  'deletions-held': false,
  'quota-used-up': false,
  'quota-short': false,
  'import-ended': false,
};
const row: AlertRow = {
  code: 'dead-letters',
  subject: 'hooks',
  holds: true,
  since: new Date('2026-11-21T09:00:00Z'),
  announced: true,
  raises: 1,
  facts: { letters: 10 },
};
const condition = (letters: number): Condition => ({
  code: 'dead-letters',
  subject: 'hooks',
  found: 'holds',
  facts: { letters },
});

describe('a sink that is behind after a pause', () => {
  const wanted = { ...when, 'sink-paused': true, behind: 120_000 };
  const minutesAgo = (minutes: number): Date => new Date(at.getTime() - minutes * 60_000);
  const paused = (holds: boolean, since: Date): AlertRow => ({
    ...row,
    code: 'sink-paused',
    holds,
    since,
    announced: holds,
    facts: { cause: 'credential' },
  });
  const behind = (oldestAt: Date, problem?: string): Condition => ({
    code: 'sink-behind',
    subject: 'hooks',
    found: 'holds',
    facts: { oldestAt: oldestAt.toISOString(), backlog: 7, ...(problem === undefined ? {} : { problem }) },
  });
  const announced = (rows: readonly AlertRow[], condition: Condition): string[] =>
    judgeStates(rows, [condition], { when: wanted, at, calm }).pending.map(
      ({ message }) => `${message.code} ${message.kind}`,
    );

  it.each<[string, readonly AlertRow[], Condition, readonly string[]]>([
    ['the pause ends', [paused(true, minutesAgo(30))], behind(minutesAgo(29)), []],
    [
      'it ended, and the first attempts fail',
      [paused(false, minutesAgo(1))],
      behind(minutesAgo(29), 'sink-failing'),
      [],
    ],
    ['what waited is delivered', [paused(false, minutesAgo(9))], behind(minutesAgo(29)), []],
    ['it fails again', [paused(false, minutesAgo(9))], behind(minutesAgo(29), 'sink-failing'), ['sink-behind raised']],
    ['newer changes wait', [paused(false, minutesAgo(9))], behind(minutesAgo(5)), ['sink-behind raised']],
    ['it takes too long', [paused(false, minutesAgo(16))], behind(minutesAgo(29)), ['sink-behind raised']],
    ['it was not paused', [], behind(minutesAgo(5)), ['sink-behind raised']],
  ])('is one incident with the pause, or another one: %s', (_, rows, condition, messages) => {
    expect(announced(rows, condition).filter((each) => each.startsWith('sink-behind'))).toEqual(messages);
  });
});

describe('an alert whose condition still holds', () => {
  it('is stored with the current counts, and is not reported again', () => {
    const judged = judgeStates([row], [condition(5000)], { when, at, calm });
    expect(judged).toEqual({ rows: [{ ...row, facts: { letters: 5000 } }], forgotten: [], pending: [] });
  });

  it('is not written again while nothing about it changes', () => {
    expect(judgeStates([row], [condition(10)], { when, at, calm })).toEqual({ rows: [], forgotten: [], pending: [] });
  });

  it('is deleted without a recovery message if no receiver selects it any longer', () => {
    const { 'dead-letters': _, ...others } = when;
    const forgotten = [{ code: 'dead-letters', subject: 'hooks' }];
    expect(judgeStates([row], [condition(10)], { when: others, at, calm })).toEqual({
      rows: [],
      forgotten,
      pending: [],
    });
  });
});
