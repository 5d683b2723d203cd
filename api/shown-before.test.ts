import { ShownBefore } from './shown-before.js';

let nowMs: number;
let shows: ShownBefore;
let lines: string[];
beforeEach(() => {
  nowMs = 0;
  shows = new ShownBefore(() => nowMs);
  lines = [];
});

const show = async (kind: string, fails = false): Promise<void> =>
  await shows.run(kind, {
    record: async () => {
      lines.push(kind);
      if (fails) throw new Error('it failed');
    },
    repeat: async () => undefined,
  });

describe('the lines of similar requests in the audit log', () => {
  it('are one in ten minutes for each kind', async () => {
    for (const kind of ['one', 'other', 'one']) await show(kind);
    nowMs += 10 * 60_000 - 1;
    await show('one');
    expect(lines).toEqual(['one', 'other']);
    nowMs += 1;
    await show('one');
    expect(lines).toEqual(['one', 'other', 'one']);
  });

  it('include that of the first request that shows something after others failed', async () => {
    await expect(show('one', true)).rejects.toThrow('it failed');
    await show('one');
    await show('one');
    expect(lines).toEqual(['one', 'one']);
  });

  it('need little memory, however many kinds there are', async () => {
    for (let kind = 0; kind <= 1000; kind += 1) await show(String(kind));
    lines = [];
    await show('1');
    expect(lines).toEqual([]);
    await show('0'); // no longer remembered
    expect(lines).toEqual(['0']);
  });
});
