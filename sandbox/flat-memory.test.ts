import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { closeSandboxes, startTestSandbox } from './sandbox-client.test-kit.js';

afterEach(closeSandboxes);

const ATTENDEES = '/v2/pigeonholes/101/attendees';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Returns the memory that is in use, without garbage: V8 may keep any amount of it in a process with a large heap. */
function heldBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe('a conference of a million attendees', () => {
  it('starts without generating attendees, and 60 pages of them increase memory by a small part of their size', async () => {
    const before = heldBytes();
    const sandbox = await startTestSandbox({ attendees: 1_000_000 });
    let cursor: string | null = null;
    let bytes = 0;
    for (let page = 0; page < 60; page += 1) {
      const after: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { data, meta } = await sandbox.page(`${ATTENDEES}?count=300${after}`);
      bytes += JSON.stringify(data).length;
      cursor = meta.nextCursor;
    }
    expect(bytes).toBeGreaterThan(7_000_000);
    // A million attendees as objects would take about 800 MB. The limit allows for a page cache of 64 MB.
    expect(heldBytes() - before).toBeLessThan(160_000_000);
  });

  it.each(['ascending', 'descending', 'unordered'] as const)(
    'ends after its last item when it is read %s from near its end',
    async (order) => {
      const sandbox = await startTestSandbox({ attendees: 100_000, order, cursor: 'offset' });
      const cursor = Buffer.from('offset_99990').toString('base64');
      const { data, meta } = await sandbox.page(`${ATTENDEES}?count=300&cursor=${cursor}`);
      expect(data).toHaveLength(10);
      expect(meta.hasMore).toBe(false);
    },
  );
});
