import { ID_STRIDE } from './id-order.js';
import { ItemTable } from './item-table.js';

const firstId = 1000;
const table = () =>
  new ItemTable<object>(
    { firstId, blocks: [{ sessionId: null, count: 3 }], facts: () => ({}), render: (id) => ({ id }) },
    1,
  );

describe('a free id', () => {
  it('was never used, even before the list was cleared', () => {
    const items = table();
    const added = items.add({}, firstId + 1);
    const removed = items.add({}, firstId + 2);
    items.remove(removed);
    items.clear();
    expect(items.freeId()).toBe(firstId + 3 * ID_STRIDE);
    expect(items.freeId(removed + 1)).toBe(firstId - 1); // removed, added and generated ids are left out
    expect(items.freeId(firstId + ID_STRIDE + 1)).toBe(firstId + ID_STRIDE - 1);
    expect([items.has(added), items.has(firstId), items.size]).toEqual([false, false, 0]);
  });
});
