import { StatusMemory } from './status-memory.js';
import type { StatusSnapshot } from './read-status.js';
import type { WorkFacts } from './work-facts.js';

/** A read that ends when the test says so. */
function slowRead() {
  const ends: (() => void)[] = [];
  const read = jest.fn(
    () => new Promise<WorkFacts>((resolve) => ends.push(() => resolve({ n: ends.length } as unknown as WorkFacts))),
  );
  return { read, endAll: () => ends.splice(0).forEach((end) => end()) };
}

describe('the facts that readers of the status share', () => {
  it('are read once for callers at the same time', async () => {
    const memory = new StatusMemory();
    const { read, endAll } = slowRead();
    const all = [memory.facts(1, read), memory.facts(1, read), memory.facts(1, read)];
    endAll();
    const [one, ...others] = await Promise.all(all);
    expect(read).toHaveBeenCalledTimes(1);
    expect(others).toEqual([one, one]);
  });

  it('are read again for another configuration', async () => {
    const memory = new StatusMemory();
    const { read, endAll } = slowRead();
    const both = [memory.facts(1, read), memory.facts(2, read)];
    endAll();
    await Promise.all(both);
    expect(read).toHaveBeenCalledTimes(2);
  });

  it('are read again after this process has changed something, even if a read is in progress', async () => {
    const memory = new StatusMemory();
    const { read, endAll } = slowRead();
    const before = memory.facts(1, read);
    memory.forget();
    const after = memory.facts(1, read);
    expect(read).toHaveBeenCalledTimes(2);
    endAll();
    await Promise.all([before, after]);
  });

  it('are not kept if reading failed', async () => {
    const memory = new StatusMemory();
    await expect(memory.facts(1, async () => Promise.reject(new Error('no store')))).rejects.toThrow('no store');
    const { read, endAll } = slowRead();
    const again = memory.facts(1, read);
    endAll();
    await again;
    expect(read).toHaveBeenCalledTimes(1);
  });

  it('give each view once', async () => {
    const memory = new StatusMemory();
    const facts = {} as WorkFacts;
    const compute = jest.fn(async () => ({}) as StatusSnapshot);
    await Promise.all([memory.snapshot(facts, 'all', compute), memory.snapshot(facts, 'all', compute)]);
    await memory.snapshot(facts, 'acme', compute);
    expect(compute).toHaveBeenCalledTimes(2);
  });
});
