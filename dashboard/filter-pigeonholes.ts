import type { PigeonholeDetails } from '../api/pigeonholes.js';

/** Each empty one leaves all. */
export interface PigeonholeFilter {
  readonly text: string;
  /** A state of work, or `trouble`: anything is wrong with it. */
  readonly state: string;
  readonly status: string;
  readonly sync: string;
}

export const noFilter: PigeonholeFilter = { text: '', state: '', status: '', sync: '' };

type Filtered = Pick<
  PigeonholeDetails,
  'workspace' | 'id' | 'name' | 'state' | 'status' | 'syncs' | 'troubles' | 'goneAt'
>;

/** Those that fit, first those with trouble, then those that are live, then as the API orders them. Pure. */
export function filterPigeonholes<Each extends Filtered>(all: readonly Each[], filter: PigeonholeFilter): Each[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  return all
    .filter((each) => {
      const called = `${each.workspace}/${each.id} ${each.name ?? ''}`.toLowerCase();
      return (
        words.every((word) => called.includes(word)) &&
        (filter.state === '' || (filter.state === 'trouble' ? hasTrouble(each) : each.state === filter.state)) &&
        (filter.status === '' || each.status === filter.status) &&
        (filter.sync === '' || each.syncs.includes(filter.sync))
      );
    })
    .toSorted((a, b) => rank(a) - rank(b));
}

function hasTrouble({ troubles }: Filtered): boolean {
  return troubles.length > 0;
}

function rank(each: Filtered): number {
  if (hasTrouble(each)) return 0;
  if (each.goneAt !== null) return 3;
  return each.status === 'live' ? 1 : 2;
}
