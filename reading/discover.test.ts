import { choose, type DiscoveredPigeonhole } from './discover.js';

const shown: DiscoveredPigeonhole[] = [
  { id: 101, name: 'ACME Summit', status: 'live', startDate: '2026-11-20' },
  { id: 102, name: 'ACME Day', status: 'ended', startDate: '2026-01-01' },
  { id: 103, name: 'Other', status: 'upcoming', startDate: '2026-12-01' },
  { id: 104, name: 'ACME Draft', status: null, startDate: '' },
];

describe('the pigeonholes that a sync chooses', () => {
  it.each([
    ['all, without a filter', {}, [101, 102, 103, 104]],
    ['those of a status', { status: ['live', 'upcoming'] }, [101, 103]],
    ['those whose name matches', { name: '^ACME ' }, [101, 102, 104]],
    ['those that start that day or later', { startsAfter: '2026-11-20' }, [101, 103]],
    ['all but the excluded', { exclude: [102, 999] }, [101, 103, 104]],
    [
      'those that fit every filter',
      { status: ['live', 'ended'], name: 'ACME', startsAfter: '2026-01-02', exclude: [9] },
      [101],
    ],
    ['those whose ids are named, even if the list does not show them', { ids: [103, 777] }, [103, 777]],
    ['none, when no status is listed', { status: [] }, []],
  ] as const)('are %s', (_what, choice, expected) => {
    expect(choose(choice, shown)).toEqual(expected);
  });
});
