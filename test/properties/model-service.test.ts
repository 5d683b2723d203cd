import type { ListRef } from '../../pigeonhole/lists.js';
import type { Page } from '../../pigeonhole/page.js';
import type { Glitch } from './model/fault.js';
import { mutate, type Mutation } from './model/mutation.js';
import { allOrders, type ListOrder, ModelWorld, type WorldShape } from './model/world.js';
import { ModelService } from './model-service.js';

const attendees: ListRef = { list: 'attendees', pigeonholeId: 101 };
const at = { where: 0, list: 'attendees' as const };

function open(shape: Partial<WorldShape> & { order?: ListOrder } = {}): { world: ModelWorld; service: ModelService } {
  const { order = 'ascending', ...more } = shape;
  const world = new ModelWorld({
    pigeonholeIds: [101],
    cursors: 'keyset',
    signedCursors: false,
    filters: true,
    perPage: 2,
    orders: allOrders(order),
    ...more,
  });
  return { world, service: new ModelService(world) };
}

function insert(world: ModelWorld, list: Mutation['list'], count: number, more: object = {}): void {
  for (let n = 0; n < count; n += 1) {
    const row = { op: 'insert', list, where: 0, count: 1, session: 0, pick: n, late: false, young: false, ...more };
    mutate(world, row as Mutation);
  }
}

const idsOf = (pages: readonly Page[]): unknown[] => pages.flatMap(({ items }) => items.map(({ id }) => id));

async function walk(service: ModelService, list: ListRef, between: () => void = () => undefined): Promise<Page[]> {
  const pages: Page[] = [];
  for await (const page of service.pages(list)) {
    pages.push(page);
    between();
  }
  return pages;
}

describe('the model of the service', () => {
  it.each([
    ['ascending', [10, 20, 30, 40, 50]],
    ['descending', [50, 40, 30, 20, 10]],
  ] as const)('gives a list in %s order, page by page', async (order, ids) => {
    for (const cursors of ['keyset', 'offset'] as const) {
      const { world, service } = open({ order, cursors });
      insert(world, 'attendees', 5);
      const pages = await walk(service, attendees);
      expect(idsOf(pages)).toEqual(ids);
      expect(pages.map(({ hasMore }) => hasMore)).toEqual([true, true, false]);
    }
  });

  it('shifts offset cursors, but not keyset cursors, if an earlier row is deleted', async () => {
    for (const [cursors, ids] of [
      ['keyset', [10, 20, 30, 40]],
      ['offset', [10, 20, 40]],
    ] as const) {
      const { world, service } = open({ cursors });
      insert(world, 'attendees', 4);
      let deletions = 1;
      const pages = await walk(service, attendees, () => {
        if (deletions-- > 0) mutate(world, { ...at, op: 'delete', pick: 0, count: 1 });
      });
      expect([cursors, idsOf(pages)]).toEqual([cursors, ids]);
    }
  });

  it('refuses a keyset cursor of another order, and answers an offset after the end with an empty last page', async () => {
    const { world, service } = open();
    insert(world, 'attendees', 3);
    const { nextCursor } = await service.page(attendees);
    mutate(world, { ...at, op: 'order', order: 'unordered' });
    await expect(service.page(attendees, { cursor: nextCursor })).rejects.toMatchObject({ kind: 'invalidParameter' });

    const { world: short, service: offsets } = open({ cursors: 'offset' });
    insert(short, 'attendees', 3);
    const { nextCursor: behind } = await offsets.page(attendees);
    mutate(short, { ...at, op: 'delete', pick: 0, count: 2 });
    expect(await offsets.page(attendees, { cursor: behind })).toMatchObject({ items: [], hasMore: false });
  });

  it('answers a deleted session with its own code, and deletes its interactions', async () => {
    const { world, service } = open();
    insert(world, 'sessions', 1);
    insert(world, 'votes', 3);
    const votes: ListRef = { list: 'votes', pigeonholeId: 101, sessionId: 1 };
    expect((await service.page(votes)).items).toHaveLength(2);
    mutate(world, { ...at, op: 'delete-session', pick: 0 });
    await expect(service.page(votes)).rejects.toMatchObject({ kind: 'sessionNotFound', code: 4509 });
  });

  it('ignores optional filters if configured to, and never required ones', async () => {
    for (const [filters, expected] of [
      [true, 1],
      [false, 3],
    ] as const) {
      const { world, service } = open({ filters, perPage: 5 });
      insert(world, 'sessions', 2);
      insert(world, 'votes', 3); // on questions 10, 20 and 30
      insert(world, 'votes', 2, { session: 1 });
      const filtered: ListRef = { list: 'votes', pigeonholeId: 101, sessionId: 1, filters: { questionId: 20 } };
      expect((await service.page(filtered)).items).toHaveLength(expected);
    }
  });

  it('returns two identical votes without any difference', async () => {
    const { world, service } = open({ perPage: 5 });
    insert(world, 'sessions', 1);
    insert(world, 'votes', 1);
    mutate(world, { ...at, op: 'repeat', pick: 0 });
    const { items } = await service.page({ list: 'votes', pigeonholeId: 101, sessionId: 1 });
    expect(items).toHaveLength(2);
    expect(items[0]).toEqual(items[1]);
  });

  it('issues a new signed cursor each time, which leads to the same position', async () => {
    for (const cursors of ['keyset', 'offset'] as const) {
      const { world, service } = open({ cursors, signedCursors: true });
      insert(world, 'attendees', 5);
      const [one, other] = [await walk(service, attendees), await walk(service, attendees)];
      expect(idsOf(one)).toEqual([10, 20, 30, 40, 50]);
      expect(idsOf(other)).toEqual(idsOf(one));
      expect(other[0]!.nextCursor).not.toBe(one[0]!.nextCursor);
      expect((other[0] as Page).digest).toBe(one[0]!.digest);
    }
  });

  it('shows a list empty or half for a few seconds, and the votes of all sessions where it ignores a filter', async () => {
    const { world, service } = open({ perPage: 5 });
    insert(world, 'sessions', 2);
    insert(world, 'attendees', 4);
    insert(world, 'votes', 2, { session: 0 });
    insert(world, 'votes', 2, { session: 1 });
    const votes: ListRef = { list: 'votes', pigeonholeId: 101, sessionId: 1 };
    const shown = async (list: ListRef, glitch: Glitch): Promise<number> => {
      service.plan([{ request: 1, happen: () => glitch }]);
      return (await service.page(list)).items.length;
    };
    const plain = (await service.page(votes)).items.length;
    expect(await shown(votes, 'filters ignored')).toBeGreaterThan(plain);
    expect([await shown(attendees, 'short'), await shown(attendees, 'empty')]).toEqual([2, 0]);
    expect(await shown(votes, 'empty')).toBe(0);
    service.pass(12_000);
    expect(await shown(votes, 'empty')).toBe(0);
    service.pass(1000);
    expect([await shown(attendees, 'short'), await shown(votes, 'empty')]).toEqual([4, plain]);
  });

  it('shows the live list of questions empty only once', async () => {
    const { world, service } = open({ perPage: 5 });
    insert(world, 'sessions', 1);
    insert(world, 'attendees', 1);
    insert(world, 'qna-questions', 3, { session: 0 });
    const lengthShown = async (): Promise<number> => {
      service.plan([{ request: 1, happen: () => 'empty' }]);
      return (await service.page({ list: 'qna-questions', pigeonholeId: 101 })).items.length;
    };
    expect([await lengthShown(), await lengthShown()]).toEqual([0, 3]);
  });

  it('delays a refusal like an answer', async () => {
    const { service } = open();
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    service.plan([
      { request: 1, happen: () => held },
      { request: 1, happen: () => 'pigeonhole not found' },
    ]);
    let ended = false;
    const refused = expect(service.page(attendees).finally(() => (ended = true))).rejects.toThrow('not found');
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    expect({ ended, underWay: service.underWay }).toEqual({ ended: false, underWay: 1 });
    release();
    await refused;
  });

  it('lets requests arrive in a different order', async () => {
    const { world } = open();
    const service = new ModelService(world, [20, 0]);
    insert(world, 'sessions', 1);
    const lists: ListRef[] = [attendees, { list: 'sessions', pigeonholeId: 101 }];
    await Promise.all(lists.map((list) => service.page(list)));
    expect(service.answered.map(({ list }) => list.list)).toEqual(['sessions', 'attendees']);
  });

  it('has the same digest only for the same page', async () => {
    const { world, service } = open({ perPage: 5 });
    insert(world, 'attendees', 2);
    const digest = async (): Promise<unknown> =>
      ({ ...(await service.page(attendees)) } as { digest?: unknown }).digest;
    const first = await digest();
    expect(await digest()).toBe(first);
    mutate(world, { ...at, op: 'edit', pick: 0, text: 3 });
    expect(await digest()).not.toBe(first);
  });

  it('records when a row was in its list', () => {
    const { world } = open();
    insert(world, 'attendees', 1);
    const there = world.tick;
    mutate(world, { ...at, op: 'delete', pick: 0, count: 1 });
    const gone = world.tick;
    mutate(world, { ...at, op: 'reinsert', pick: 0 });
    const absentIn = (from: number, to: number): number | undefined =>
      world.firstHeld(101, 'attendees', '10', { from, to }, ({ count }) => count === 0);
    expect([absentIn(there, gone - 1), absentIn(there, world.tick), absentIn(world.tick, world.tick + 5)]).toEqual([
      undefined,
      gone,
      undefined,
    ]);
  });
});
