import { closeSandboxes, idsOf, startTestSandbox, type TestSandbox } from '../sandbox-client.test-kit.js';

afterEach(closeSandboxes);

const ATTENDEES = '/v2/pigeonholes/101/attendees';
const ORDERS = ['ascending', 'descending', 'unordered'] as const;

async function walkWithChange(
  sandbox: TestSandbox,
  change: object,
): Promise<{ before: unknown[]; walked: unknown[]; after: unknown[] }> {
  const before = idsOf(await sandbox.walk(ATTENDEES));
  await sandbox.control('POST', 'faults', {
    kind: 'changeDuringWalk',
    list: 'attendees',
    afterPage: 2,
    next: 1,
    ...change,
  });
  const walked = idsOf(await sandbox.walk(ATTENDEES, 10));
  return { before, walked, after: idsOf(await sandbox.walk(ATTENDEES)) };
}

describe.each(ORDERS)('a list %s that changes between two pages', (order) => {
  it('keeps its position with keyset cursors if items behind the cursor are deleted', async () => {
    const sandbox = await startTestSandbox({ order });
    const { before, walked, after } = await walkWithChange(sandbox, { remove: 3, where: 'behind' });
    expect(walked).toEqual(before);
    expect(after).toEqual(before.filter((_, rank) => rank < 10 || rank > 12));
  });

  it('continues after a keyset cursor whose item was deleted', async () => {
    const sandbox = await startTestSandbox({ order });
    const ids = idsOf(await sandbox.walk(ATTENDEES));
    const { meta } = await sandbox.page(`${ATTENDEES}?count=10`);
    const gone = { op: 'delete', list: 'attendees', pigeonhole: 101, id: ids[9] };
    await sandbox.control('POST', 'mutations', gone);
    const second = await sandbox.page(`${ATTENDEES}?count=10&cursor=${meta.nextCursor}`);
    expect(idsOf(second.data)).toEqual(ids.slice(10, 20));
  });

  it('skips one item with offset cursors for each one deleted behind the cursor', async () => {
    const sandbox = await startTestSandbox({ order, cursor: 'offset' });
    const { before, walked } = await walkWithChange(sandbox, { remove: 3, where: 'behind' });
    expect(walked).toEqual(before.filter((_, rank) => rank < 20 || rank > 22));
  });

  it('repeats one item with offset cursors for each one inserted behind the cursor', async () => {
    const sandbox = await startTestSandbox({ order, cursor: 'offset' });
    const { before, walked, after } = await walkWithChange(sandbox, { insert: 2, where: 'behind' });
    expect(walked).toEqual([...before.slice(0, 20), ...before.slice(18)]);
    expect(after.filter((id) => !before.includes(id))).toHaveLength(2);
  });

  it('does not show items inserted behind a keyset cursor in this walk', async () => {
    const sandbox = await startTestSandbox({ order });
    const { before, walked, after } = await walkWithChange(sandbox, { insert: 2, where: 'behind' });
    expect(walked).toEqual(before);
    expect(after).toHaveLength(before.length + 2);
  });

  it.each(['keyset', 'offset'] as const)(
    'includes items inserted ahead of a %s cursor, and omits items deleted ahead of it',
    async (cursor) => {
      const sandbox = await startTestSandbox({ order, cursor });
      const { before, walked, after } = await walkWithChange(sandbox, { insert: 2, remove: 3, where: 'ahead' });
      expect(walked).toEqual(after);
      expect(walked).toHaveLength(before.length - 1);
      expect(walked.slice(0, 20)).toEqual(before.slice(0, 20));
    },
  );
});
