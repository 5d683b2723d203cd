import type { WorkState } from '../../operations/status-view.js';
import type { Style } from '../text-line.js';

const styles: Readonly<Record<WorkState, Style>> = {
  working: 'green',
  backfilling: 'yellow',
  waiting: 'yellow',
  paused: 'red',
  failing: 'red',
};

export function stateStyle(state: WorkState): Style {
  return styles[state];
}
