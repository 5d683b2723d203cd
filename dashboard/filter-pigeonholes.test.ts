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

describe('the pigeonholes that are shown', () => {
  it.each<[string, Partial<PigeonholeFilter>, number[]]>([
    ['all: trouble first, then what is live, and what is gone last', {}, [103, 102, 101, 105, 104]],
    ['those of a number', { text: '102' }, [102]],
    ['those of a name, however it is written', { text: 'town HALL' }, [102]],
    ['those of all words', { text: 'summit acme/101' }, [101]],
    ['those with trouble', { state: 'trouble' }, [103]],
    ['those in a state', { state: 'failing' }, [103]],
    ['those of a status', { status: 'live' }, [102]],
    ['those of a sync', { sync: 'theirs' }, [105]],
    ['none', { text: 'nowhere' }, []],
  ])('are %s', (_, filter, ids) => {
    expect(filterPigeonholes(all, { ...noFilter, ...filter }).map(({ id }) => id)).toEqual(ids);
  });
});
