import type { Output } from '../context.js';
import { type DemoView, formatDemoBlock, listLines, liveFreshness } from './demo-screen.js';
import { LiveBlock } from '../live-block.js';
import { grouped } from '../../base/words.js';
import { reasonWords, inWords, sumOf } from '../format-values.js';

const lineEveryMs = 5000;

/** Shows a view of the demo. */
export type DemoDisplay = (view: DemoView) => void;

/** Shows a block that is redrawn in place on a terminal; otherwise passes a log line to `line` every few seconds. */
export function createDemoDisplay(out: Output, line: (text: string) => void): DemoDisplay {
  if (!out.terminal) return lineDisplay(line, Date.now);
  const block = new LiveBlock(out, { hasScreen: true });
  return (view) => block.show(formatDemoBlock(view, new Date(), out));
}

/** Prints changed notes and addresses immediately, everything else every five seconds. */
export function lineDisplay(line: (text: string) => void, nowMs: () => number): DemoDisplay {
  let saidAt = -Infinity;
  let note: string | null = null;
  const told = new Map<string, string>();
  return (view) => {
    for (const { label, place } of view.places) {
      if (told.get(label) !== place) line(`see the ${label}: ${place}`);
      told.set(label, place);
    }
    const now = nowMs();
    if (now - saidAt < lineEveryMs && view.note === note) return;
    line(formatDemoLine(view, new Date(now)));
    saidAt = now;
    note = view.note;
  };
}

/** Formats the state of the demo as one line of a log, for output that is not a terminal. Pure. */
export function formatDemoLine({ note, status }: DemoView, now: Date): string {
  const at = now.toISOString().slice(11, 19);
  if (status === null) return `${at} ${note ?? 'starting'}`;
  const items = listLines(new Map(), status).reduce((sum, { ledger }) => sum + ledger, 0);
  const fresh = liveFreshness(status);
  const parts = [
    `${grouped(items)} items in the ledger${fresh === null ? '' : `, live read ${inWords(fresh, now)}`}`,
    ...status.sinks.map(({ name, state, reason, delivered, withheld, backlog }) => {
      const trouble = state === 'working' ? '' : `, ${state}${reason === null ? '' : `: ${reasonWords(reason)}`}`;
      return `${name}: ${grouped(delivered)} delivered, ${grouped(sumOf(withheld))} withheld, backlog ${grouped(backlog)}${trouble}`;
    }),
    ...(note === null ? [] : [note]),
  ];
  return `${at} ${parts.join(' | ')}`;
}
