import { reasonWords } from '../reason-words.js';
import { inWords } from '../in-words.js';
import { type DemoView, listLines, liveFreshness } from './demo-view.js';
import { grouped, sumOf } from '../grouped.js';

/** How the demo stands, as one line of a log: for where there is no terminal to redraw a block on. Pure. */
export function formatDemoLine({ note, status }: DemoView, now: Date): string {
  const at = now.toISOString().slice(11, 19);
  if (status === null) return `${at} ${note ?? 'starting'}`;
  const items = listLines(new Map(), status).reduce((sum, { ledger }) => sum + ledger, 0);
  const fresh = liveFreshness(status);
  const parts = [
    `${grouped(items)} items in the ledger${fresh === null ? '' : `, live read ${inWords(fresh, now)}`}`,
    ...status.sinks.map(({ name, state, reason, delivered, withheld, backlog }) => {
      const trouble = state === 'working' ? '' : `, ${state}${reason === null ? '' : `: ${reasonWords(reason)}`}`;
      return `${name}: ${grouped(delivered)} delivered, ${grouped(sumOf(withheld))} withheld, ${grouped(backlog)} to go${trouble}`;
    }),
    ...(note === null ? [] : [note]),
  ];
  return `${at} ${parts.join(' | ')}`;
}
