import type { AlertRow } from './alert-store.js';
import { judgeStates, type Condition } from './check-alerts.js';

const at = new Date('2026-11-21T10:00:00Z');
const calm = { firstMs: 10, longestMs: 60, forgetMs: 100 };
const when = {
  serviceDown: false,
  readingLate: false,
  sinkPaused: false,
  workspacePaused: false,
  deadLetters: 1,
  withholding: false,
  deletionsHeld: false,
  quotaUsedUp: false,
  quotaShort: false,
  importEnded: false,
};
const row: AlertRow = {
  occasion: 'dead-letters',
  subject: 'hooks',
  holds: true,
  since: new Date('2026-11-21T09:00:00Z'),
  told: true,
  raises: 1,
  facts: { letters: 10 },
};
const condition = (letters: number): Condition => ({
  occasion: 'dead-letters',
  subject: 'hooks',
  found: 'holds',
  facts: { letters },
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
    const { deadLetters: _, ...others } = when;
    const forgotten = [{ occasion: 'dead-letters', subject: 'hooks' }];
    expect(judgeStates([row], [condition(10)], { when: others, at, calm })).toEqual({
      rows: [],
      forgotten,
      pending: [],
    });
  });
});
