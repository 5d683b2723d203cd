import { useEffect, useState } from 'preact/hooks';
import { counted, grouped } from '../../base/words.js';

/** Number of rows at first, which fit on a screen or two, and number added each time. */
const step = 25;

/**
 * Returns the first rows of a table, and the line below it that shows more of them.
 * @param key identifies the choice of rows; a new one shows the first rows again
 */
export function useFirst<Row>(all: readonly Row[], key: string) {
  const [shown, setShown] = useState(step);
  useEffect(() => setShown(step), [key]);
  const left = all.length - shown;
  const more =
    left <= 0 ? null : (
      <p class="empty more">
        These are {grouped(shown)} of {counted(all.length, 'row')}.{' '}
        <button type="button" class="link" onClick={() => setShown(shown + 4 * step)}>
          Show {grouped(Math.min(left, 4 * step))} more
        </button>
      </p>
    );
  return { rows: all.slice(0, shown), more };
}
