import fc from 'fast-check';
import type { Change } from '../../../sinks/change.js';

/** Part of the data of every change below; must not appear in any outcome. */
export const PERSONAL_DATA = ['Ada Lovelace', 'ada@example.com'];

const lists = ['questions', 'votes', 'answer_ratings', 'poll-mcq-votes', 'attendees'] as const;

/** Any text that a JSON document can carry, lone surrogates and control characters included. */
const anyText = fc.string({ unit: 'binary', maxLength: 40 });

const anyData = fc
  .dictionary(anyText, fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' }), { maxKeys: 8 })
  .filter((data) => !Object.hasOwn(data, 'links')) // removed before sinks see an item
  .map((data) => ({ ...data, Name: PERSONAL_DATA[0], Email: PERSONAL_DATA[1] }));

/** Changes of the lane acme / 101 as the ledger produces them: any item, any text, deletions with null data. */
export const anyChange: fc.Arbitrary<Change> = fc
  .record({
    id: fc.uuid({ version: 5 }),
    list: fc.constantFrom(...lists),
    kind: fc.constantFrom('created' as const, 'updated' as const, 'deleted' as const),
    at: fc.date({ min: new Date('2026-11-20T00:00:00Z'), max: new Date('2026-11-22T23:59:59Z'), noInvalidDate: true }),
    sessionId: fc.option(fc.integer({ min: 1, max: 9_999 })),
    key: fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
    revision: fc.integer({ min: 1, max: 1_000 }),
    sequence: fc.integer({ min: 1, max: 1_000_000 }),
    data: anyData,
    replay: fc.option(fc.uuid({ version: 5 }), { nil: undefined, freq: 8 }),
  })
  .map(({ kind, at, data, replay, ...fields }) => ({
    ...fields,
    type: `${fields.list}.${kind}` as const,
    timestamp: at.toISOString(),
    workspace: 'acme',
    pigeonholeId: 101,
    data: kind === 'deleted' ? null : data,
    ...(replay !== undefined && { replay }),
  }));

/**
 * Returns changes of `items` items in the order of the ledger, each with revisions 1 to `revisions`, interleaved. The
 * result is the same every time.
 */
export function storyOf({ items, revisions }: { items: number; revisions: number }): Change[] {
  return Array.from({ length: items * revisions }, (_, index): Change => {
    const item = index % items;
    const revision = Math.floor(index / items) + 1;
    const list = lists[item % lists.length]!;
    return {
      id: `00000000-0000-5000-8000-${String(index).padStart(12, '0')}`,
      type: `${list}.${revision === 1 ? 'created' : 'updated'}`,
      timestamp: new Date(Date.UTC(2026, 10, 21, 23, 59, 58, index * 100)).toISOString(), // over midnight
      workspace: 'acme',
      pigeonholeId: 101,
      sessionId: 5001,
      list,
      key: `k${item}`,
      revision,
      sequence: index + 1,
      data: { Name: PERSONAL_DATA[0], Email: PERSONAL_DATA[1], text: `revision ${revision} é 🎈\n` },
    };
  });
}

/** Returns the value after a round trip through JSON: -0 becomes 0, prototypes are plain. */
export function throughJson<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}
