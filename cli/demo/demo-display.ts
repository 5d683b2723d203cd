import type { Output } from '../context.js';
import type { DemoView } from './demo-view.js';
import { formatDemoBlock } from './format-demo-block.js';
import { formatDemoLine } from './format-demo-line.js';
import { LiveBlock } from '../live-block.js';

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
