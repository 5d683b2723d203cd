import type { Output } from '../context.js';
import { type DemoView, formatDemoBlock, listLines, liveFreshness } from './demo-screen.js';
import { LiveBlock } from '../live-block.js';
import { reasonWords, inWords, grouped, sumOf } from '../format-values.js';

const lineEveryMs = 5000;

/** Shows how the demo stands, each time it is told. */
export type DemoDisplay = (view: DemoView) => void;

/** On a terminal a block that is redrawn in place; elsewhere a line of a log every few seconds, by `line`. */
export function createDemoDisplay(out: Output, line: (text: string) => void): DemoDisplay {
  if (!out.terminal) return lineDisplay(line, Date.now);
  const block = new LiveBlock(out, { hasScreen: true });
  return (view) => block.show(formatDemoBlock(view, new Date(), out));
}

/** Tells at once what it waits for, and each place to look, whenever that changes; everything else every five seconds. */
export function lineDisplay(line: (text: string) => void, nowMs: () => number): DemoDisplay {
  let saidAt = -Infinity;
  let note: string | null = null;
  const told = new Map<string, string>();
  return (view) => {
    for (const { label, place } of view.places) {
      if (told.get(label) !== place) line(`look at the ${label}: ${place}`);
      told.set(label, place);
    }
    const now = nowMs();
    if (now - saidAt < lineEveryMs && view.note === note) return;
    line(formatDemoLine(view, new Date(now)));
    saidAt = now;
    note = view.note;
  };
}

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
