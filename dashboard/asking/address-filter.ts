import { useState } from 'preact/hooks';
import { filterIn, withFilter } from '../filter-in-address.js';

/**
 * Keeps filters of a page in its address, as parameters after `?`, so that a link shows the same. A change does not reload
 * the page, so the focus stays where it is.
 * @param names of the parameters; others are dropped by a change
 */
export function useAddressFilter<Name extends string>(
  names: readonly Name[],
): [filter: Readonly<Record<Name, string>>, change: (some: Partial<Record<Name, string>>) => void] {
  const [filter, setFilter] = useState(() => filterIn(location.hash, names));
  const change = (some: Partial<Record<Name, string>>): void => {
    const next = { ...filter, ...some };
    history.replaceState(history.state, '', withFilter(location.hash, next));
    setFilter(next);
  };
  return [filter, change];
}
