import { pigeonholeLists } from '../../base/lists.js';
import type { DemoView } from './demo-screen.js';
import type { SandboxState } from './stand-in-state.js';
import { statusOf } from '../status/status.test-kit.js';

/** A source with three pigeonholes and a thousand items of each list in each. */
function sourceOf(given: Partial<SandboxState> = {}): SandboxState {
  const counts = { ...Object.fromEntries(pigeonholeLists.map((list) => [list, 1000])), registrants: 9 };
  return {
    emitted: 12_345,
    subscriptions: 2,
    pigeonholes: [101, 102, 103].map((id) => ({ id, status: id === 101 ? 'live' : 'ended', counts })),
    ...given,
  };
}

/** Returns a demo that has delivered everything, with the given changes. */
export function viewOf(given: Partial<DemoView> = {}): DemoView {
  const items = pigeonholeLists.map((list) => ({ workspace: 'sandbox', pigeonholeId: 101, list, items: 2999 }));
  return {
    note: null,
    runningForMs: 125_000,
    source: sourceOf(),
    status: statusOf({ counts: { items, deliveries: [] } }),
    places: [
      { label: 'messages', place: 'http://127.0.0.1:40001', holds: '128 questions in 4 threads, 3 withdrawn' },
      { label: 'files', place: './demo-data', holds: '' },
    ],
    ...given,
  };
}
