import { ItemCounts, itemLines } from './format-status.js';
import { statusOf } from './status.test-kit.js';

const count = (list: string, items: number, pigeonholeId = 101, workspace = 'acme') => ({
  workspace,
  pigeonholeId,
  list,
  items,
});

describe('the item counts of the screen', () => {
  it('are summed over the events of a workspace, list by list', () => {
    const items = [
      count('votes', 1000),
      count('votes', 200, 102),
      count('attendees', 600),
      count('votes', 9, 1, 'other'),
    ];
    const lines = itemLines(items, 'acme', 80).map((line) => line.map(({ text }) => text).join(''));
    expect(lines).toEqual(['  items  600 attendees, 1,200 votes']);
    expect(itemLines(null, 'acme', 80)).toEqual([]);
  });

  it('are read every 10 s, and less often if counting is slow', async () => {
    let now = 0;
    let tookMs = 0;
    let requests = 0;
    const counts = new ItemCounts(() => now);
    const api = {
      get: async () => {
        requests += 1;
        now += tookMs;
        return statusOf({ counts: { items: [count('votes', requests)], deliveries: [] } }) as never;
      },
    };
    const after = async (ms: number) => {
      now += ms;
      return (await counts.read(api))![0]!.items;
    };
    expect([await after(0), await after(9000), await after(1000)]).toEqual([1, 1, 2]);
    tookMs = 2000;
    expect([await after(10_000), await after(39_000), await after(1000)]).toEqual([3, 3, 4]);
  });
});
