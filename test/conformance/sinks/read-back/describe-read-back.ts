import type { Subject } from '../../../../sinks/sink.js';
import { Auditor, type Delivered } from '../auditor.js';
import {
  erased,
  type HeldDestination,
  type HeldObject,
  type StartDestination,
  type Version,
} from './held-destination.js';

/** The items whose objects people change. */
const planted = { deleted: 1, edited: 2, behind: 3, duplicated: 4, merged: 5, restored: 7 } as const;
/** An item that was erased and whose object nobody brings back. */
const gone = 9;

/**
 * Tests that a sink which keeps the latest revision finds what people change at the destination: each of the planted
 * differences and nothing else, and that a repair resolves these and touches nothing else.
 * @param options.items number of items, at least 10
 * @param options.withinMs maximum time of the test
 */
export function describeReadBack(
  name: string,
  start: StartDestination,
  { items, withinMs }: { readonly items: number; readonly withinMs: number },
): void {
  describe(`the ${name} sink, read back`, () => {
    let destination: HeldDestination;
    beforeEach(async () => {
      destination = await start(items);
    });
    afterEach(() => destination.close());

    it(
      `finds each planted difference among ${items} items and no other, and a repair leaves none`,
      async () => {
        const { sink } = destination;
        const item = (number: number, version: Version): Subject => destination.item(number, version);
        const auditor = new Auditor(sink, undefined, destination.pass);
        const numbers = Array.from({ length: items }, (_, at) => at + 1);
        await auditor.deliver(numbers.map((number) => item(number, 'first')));
        // The other items are there in one revision.
        const last = numbers.map((number): Delivered => {
          const isErased = number === planted.restored || number === gone;
          if (isErased) return { subject: erased(item(number, 'first')) };
          return { subject: item(number, number === planted.behind ? 'last' : 'first') };
        });
        const [restore, goBack] = [
          await destination.backup(planted.restored),
          await destination.backup(planted.behind),
        ];
        await auditor.deliver([planted.behind, planted.restored, gone].map((number) => last[number - 1]!.subject));
        if (destination.leavesErased === true) {
          const left = { [planted.restored]: ['extra'], [gone]: ['extra'] };
          expect(await auditor.differences(last)).toEqual(left);
          for (const number of [planted.restored, gone]) await destination.remove(number);
        }
        expect(await auditor.differences(last)).toEqual({});

        await destination.remove(planted.deleted);
        await destination.edit(planted.edited);
        await goBack();
        await destination.duplicate?.(planted.duplicated);
        await destination.merge?.(planted.merged);
        await restore();
        const before = await destination.contents();
        const found = await auditor.differences(last);
        const { duplicate, merge, findsCopies } = destination;
        expect(Object.keys(found).map(Number)).toEqual([
          planted.deleted,
          planted.edited,
          planted.behind,
          ...(duplicate !== undefined && findsCopies ? [planted.duplicated] : []),
          ...(merge !== undefined ? [planted.merged] : []),
          planted.restored,
        ]);
        expect(found[planted.deleted]).toEqual(['missing']);
        expect(found[planted.restored]).toContain('extra');
        if (duplicate !== undefined && findsCopies) expect(found[planted.duplicated]).toEqual(['copies: 1']);
        if (merge !== undefined) expect(found[planted.merged]!.some((field) => field.endsWith('.id'))).toBe(true);
        // The earlier revision explains what the destination holds, so the engine reports it as stale.
        expect(await auditor.differences([{ subject: item(planted.behind, 'first') }])).toEqual(
          destination.isOneObjectEachRevision === true ? expect.anything() : {},
        );

        expect(await auditor.repair(last)).toEqual([]);
        if (destination.leavesErased === true) {
          expect(await auditor.differences(last)).toEqual({ [planted.restored]: ['extra'] });
          await destination.remove(planted.restored);
        }
        expect(await auditor.differences(last)).toEqual({});
        const touched = touchedItems(before, await destination.contents());
        const repaired = new Set<number | null>(Object.keys(found).map(Number));
        expect(touched.filter((number) => !repaired.has(number))).toEqual([]);
      },
      withinMs,
    );
  });
}

/** Returns the items of the objects that were added, changed or removed. */
function touchedItems(before: readonly HeldObject[], after: readonly HeldObject[]): (number | null)[] {
  const textOf = new Map(before.map(([id, , text]) => [id, text]));
  const left = new Set(after.map(([id]) => id));
  return [...after.filter(([id, , text]) => textOf.get(id) !== text), ...before.filter(([id]) => !left.has(id))].map(
    ([, number]) => number,
  );
}
