import { isLeftByCanary, settledRows } from './import-words.js';

describe('the state of an import', () => {
  it('counts every row with a final outcome as done', () => {
    expect(settledRows({ created: 4, rejected: 1, waiting: 2, cancelled: 3 })).toBe(5);
  });

  it('reports cancelled rows as left for later only after a finished canary', () => {
    const left = (canary: number | null, state: string): boolean => isLeftByCanary('cancelled', { canary, state });
    expect([left(5, 'done'), left(5, 'cancelled'), left(null, 'done')]).toEqual([true, false, false]);
    expect(isLeftByCanary('created', { canary: 5, state: 'done' })).toBe(false);
  });
});
