import type { Fields } from '../sink.js';
import { SharedRecords } from './shared-records.js';

const objects: Fields[] = [
  { id: 'a', at: { company: 10, title: 10 } },
  { id: 'a', at: { company: 20, title: 10 } },
  { id: 'b', at: { company: 10 } },
];
const writesIn = ({ id, at }: Fields) => [
  { record: String(id as string), writtenAtMs: new Map(Object.entries(at as Record<string, number>)) },
];

it('knows which item wrote a field of a shared record last', async () => {
  const shared = new SharedRecords(writesIn, () => 0);
  expect(shared.lastWriter('a', 'company', 10)).toBe('ours');
  await shared.read({ objects: () => generate(objects) }, 0);
  expect(shared.lastWriter('a', 'Company', 10)).toBe('other');
  expect(shared.lastWriter('a', 'company', 20)).toBe('ours');
  expect(shared.lastWriter('a', 'title', 10)).toBe('together');
  expect(shared.lastWriter('a', 'phone', 10)).toBe('ours');
  expect(shared.lastWriter('b', 'company', 10)).toBe('ours');
});

it('reads the objects again after a minute, or if a record was changed since', async () => {
  let [nowMs, reads] = [100_000, 0];
  const shared = new SharedRecords(writesIn, () => nowMs);
  const lane = { objects: () => ((reads += 1), generate([])) };
  const read = async (changedAtMs: number) => (await shared.read(lane, changedAtMs), reads);
  expect([await read(0), await read(80_000), await read(95_000)]).toEqual([1, 1, 2]);
  nowMs += 60_000;
  expect(await read(0)).toBe(3);
  await shared.read({}, 0);
});

async function* generate(all: readonly Fields[]): AsyncGenerator<Fields, void> {
  yield* all;
}
