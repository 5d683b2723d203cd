import fc from 'fast-check';
import { ID_STRIDE, IdOrder, type Arrangement } from './id-order.js';

const FIRST_ID = 1001;
const OFFSET = 4;
const COUNT = 30;

function generatedIds(): number[] {
  return Array.from({ length: COUNT }, (_, index) => FIRST_ID + (OFFSET + index) * ID_STRIDE);
}

function read(order: IdOrder): (number | undefined)[] {
  return Array.from({ length: order.size }, (_, rank) => order.idAt(rank));
}

describe.each<Arrangement>(['byId', 'shuffled'])('an order %s', (arrangement) => {
  const steps = fc.array(
    fc.record({
      put: fc.boolean(),
      id: fc.integer({ min: FIRST_ID - 50, max: FIRST_ID + (OFFSET + COUNT + 5) * ID_STRIDE }),
    }),
    { maxLength: 120 },
  );

  it('contains exactly the ids that were added and not removed, each once, after any sequence', () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        const order = new IdOrder(generatedIds(), arrangement, 3);
        const model = new Set(generatedIds());
        for (const { put, id } of sequence) {
          if (put) {
            order.put(id);
            model.add(id);
          } else {
            order.remove(id);
            model.delete(id);
          }
        }
        const ids = read(order);
        expect(new Set(ids)).toEqual(model);
        expect(ids).toHaveLength(model.size);
        for (const [rank, id] of ids.entries()) expect(order.rankOf(id ?? 0)).toBe(rank);
      }),
    );
  });

  it('keeps the order of the remaining ids when others are added and removed', () => {
    const order = new IdOrder(generatedIds(), arrangement, 3);
    const before = read(order);
    const gone = before.filter((_, rank) => rank % 3 === 0);
    for (const id of gone) order.remove(id ?? 0);
    order.put(FIRST_ID + OFFSET * ID_STRIDE + 3);

    const kept = before.filter((id) => !gone.includes(id));
    expect(read(order).filter((id) => before.includes(id))).toEqual(kept);
  });
});

describe('an order by id', () => {
  it('puts an added id between its neighbours', () => {
    const order = new IdOrder([FIRST_ID, FIRST_ID + 10, FIRST_ID + 20], 'byId', 3);
    order.put(FIRST_ID + 15);
    expect(read(order)).toEqual([FIRST_ID, FIRST_ID + 10, FIRST_ID + 15, FIRST_ID + 20]);
  });
});

describe('a shuffled order', () => {
  it('depends on the seed, and is not the order of ids', () => {
    const [one, other] = [3, 4].map((seed) => read(new IdOrder(generatedIds(), 'shuffled', seed)));
    expect(one).not.toEqual(other);
    expect(one).not.toEqual(generatedIds());
  });
});
