import { sampleChange } from '../sample-change.test-kit.js';
import type { MappingView } from './expression.js';

/** Returns the data that an expression sees of an item, with only the context that a test adds. */
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
