import { filterPigeonholes, noFilter, type PigeonholeFilter } from './filter-pigeonholes.js';

type Pigeonhole = Parameters<typeof filterPigeonholes>[0][number];

const trouble = { code: 'pigeonhole-failing' } as unknown as Pigeonhole['troubles'][number];

function pigeonhole(id: number, given: Partial<Pigeonhole> = {}): Pigeonhole {
  return {
    workspace: 'acme',
    id,
    name: `Summit ${id}`,
    state: 'working',
    status: 'ended',
    syncs: ['all'],
    troubles: [],
    goneAt: null,
    changes: id === 104 ? 900 : 100,
    foundByMinute: id === 105 ? [3, 4] : [0, 1],
    ...given,
  };
}

const all = [
  pigeonhole(101),
  pigeonhole(102, { status: 'live', name: 'Town Hall' }),
  pigeonhole(103, { state: 'failing', troubles: [trouble] }),
  pigeonhole(104, { goneAt: '2026-11-21T09:30:00.000Z' }),
  pigeonhole(105, { workspace: 'other', syncs: ['theirs'], name: null }),
];

describe('the pigeonholes shown', () => {
  it.each<[string, Partial<PigeonholeFilter>, number[]]>([
    ['all: those with problems first, then the live ones, the deleted ones last', {}, [103, 102, 101, 105, 104]],
    ['the one with a given ID', { text: '102' }, [102]],
    ['the one with a given name, in any case', { text: 'town HALL' }, [102]],
    ['those that match all words', { text: 'summit acme/101' }, [101]],
    ['those with problems', { state: 'trouble' }, [103]],
    ['those in a state', { state: 'failing' }, [103]],
    ['those with a status', { status: 'live' }, [102]],
    ['those of a sync', { sync: 'theirs' }, [105]],
    ['sorted by name', { order: 'name' }, [105, 101, 103, 104, 102]],
    ['sorted by their changes', { order: 'changes' }, [104, 101, 102, 103, 105]],
    ['sorted by what was found in the last hour', { order: 'busy' }, [105, 101, 102, 103, 104]],
    ['none', { text: 'nowhere' }, []],
  ])('are %s', (_, filter, ids) => {
    expect(filterPigeonholes(all, { ...noFilter, ...filter }).map(({ id }) => id)).toEqual(ids);
  });
});
