import { sampleChange } from '../sample-change.test-kit.js';
import type { MappingView } from './mapping-view.js';

/** What an expression sees of an item, with nothing around it but what a test gives. */
export function viewOf(item: MappingView['item'], around: Partial<MappingView> = {}): MappingView {
  return {
    item,
    previous: null,
    attendee: null,
    session: null,
    pigeonhole: null,
    change: sampleChange({ data: item }),
    ...around,
  };
}
