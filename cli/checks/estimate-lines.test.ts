import type { Estimate } from '../../operations/calendar-demand.js';
import { formatEstimate } from './estimate-lines.js';

const dayOf = (day: string, live: number) => ({ day, pigeonholes: 2, needs: { live, idle: 1440.4, sweep: 20 } });
const estimateOf = (more: Partial<Estimate>): Estimate => {
  const days = [dayOf('2026-11-21', 8000), dayOf('2026-11-22', 12_000)];
  return {
    workspaces: ['acme'],
    quota: 10_000,
    days,
    busiest: days[1]!,
    advice: { fits: false, text: 'It does not fit.' },
    requestsMade: 7,
    ...more,
  };
};

describe('the text of an estimate', () => {
  it('is a table of days with the busiest one marked and explained', () => {
    expect(formatEstimate(estimateOf({}))).toEqual([
      'estimate for acme, 10,000 requests a day:',
      '  day         pigeonholes    live   idle  sweeps  requests  of quota',
      '  2026-11-21            2   8,000  1,441      20     9,461      95 %',
      '  2026-11-22            2  12,000  1,441      20    13,461     135 %  <- busiest',
      '  It does not fit.',
      '  The first read of existing items is not included. This estimate made 7 requests.',
    ]);
  });

  it('omits the share of an unknown quota', () => {
    expect(formatEstimate(estimateOf({ quota: null })).slice(0, 2)).toEqual([
      'estimate for acme:',
      '  day         pigeonholes    live   idle  sweeps  requests',
    ]);
  });

  it('shows the fourteen busiest days of a long calendar, in order', () => {
    const days = Array.from({ length: 20 }, (_, n) => dayOf(`2026-12-${String(n + 1).padStart(2, '0')}`, n * 10));
    const lines = formatEstimate(estimateOf({ days, busiest: days[19]! }));
    expect(lines[2]).toContain('2026-12-07');
    expect(lines[15]).toContain('2026-12-20');
    expect(lines[16]).toBe('  and 6 more days with fewer requests');
  });
});
