import { type DoubtfulPage, type EarlierDoubt, judgeDoubt, type SessionsState, strangersAfterMs } from './doubt.js';

const start = new Date('2026-11-21T08:00:00Z');
const after = (ms: number): Date => new Date(start.getTime() + ms);
const earlier: EarlierDoubt = { since: start, keys: ['1', '2'] };
const read: SessionsState = { sweptFrom: after(10), isDoubtful: false };
const unread: SessionsState = { sweptFrom: after(-10), isDoubtful: false };
const soon = 100;
const late = strangersAfterMs;

const page = (reason: DoubtfulPage['reason'], ms: number, more: Partial<DoubtfulPage> = {}): DoubtfulPage => ({
  keys: ['2', '3'],
  requestedAt: after(ms),
  reason,
  fitsSessions: false,
  ...more,
});

describe('a doubtful page', () => {
  it.each(['unknown-sessions', 'replaced', 'new-items'] as const)('is held the first time (%s)', (reason) => {
    expect(judgeDoubt(page(reason, soon, { fitsSessions: true }), null, read)).toBe('hold');
  });

  it.each(['unknown-sessions', 'replaced', 'new-items'] as const)(
    'begins the doubt again if it shows nothing of the earlier one (%s)',
    (reason) => {
      expect(judgeDoubt(page(reason, late, { keys: ['3'], fitsSessions: true }), earlier, read)).toBe('again');
    },
  );

  it.each([
    ['unknown-sessions', soon, read, 'accept'],
    ['unknown-sessions', soon, unread, 'hold'],
    ['unknown-sessions', soon, { ...read, isDoubtful: true }, 'hold'],
    ['unknown-sessions', late, unread, 'accept'],
    ['new-items', soon, read, 'accept'],
    ['new-items', late, unread, 'hold'],
    ['new-items', late, { ...read, isDoubtful: true }, 'hold'],
    ['replaced', soon, read, 'hold'],
    ['replaced', late, read, 'accept'],
    ['replaced', late, unread, 'hold'],
    ['replaced', late, { ...read, isDoubtful: true }, 'hold'],
    ['replaced', late, null, 'accept'],
  ] as const)(
    'that agrees with the earlier one (%s, after %i ms, sessions %j): %s',
    (reason, ms, sessions, decision) => {
      expect(judgeDoubt(page(reason, ms), earlier, sessions)).toBe(decision);
    },
  );

  it('is accepted by a second answer if every item belongs to a session of the pigeonhole', () => {
    expect(judgeDoubt(page('replaced', soon, { fitsSessions: true }), earlier, unread)).toBe('accept');
  });
});
