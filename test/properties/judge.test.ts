import { Judge } from './judge.js';
import type { LedgerChange, LedgerItem } from './ledger-view.js';
import { mutate } from './model/mutation.js';
import type { Item } from './model/row.js';
import { allOrders, ModelWorld } from './model/world.js';

const at = { where: 0, list: 'attendees' as const };

/** Opens a world with one attendee, and a judge of a ledger's changes. */
function open(): {
  world: ModelWorld;
  judge: Judge;
  shown: () => Item;
  hear: (...changes: Partial<LedgerChange>[]) => void;
} {
  const world = new ModelWorld({
    pigeonholeIds: [101],
    cursors: 'keyset',
    signedCursors: false,
    filters: true,
    perPage: 2,
    orders: allOrders('ascending'),
  });
  mutate(world, { ...at, op: 'insert', count: 1, session: 0, pick: 0, late: false, young: false });
  const judge = new Judge(world);
  const shown = (): Item => world.shown(101, world.rows(101, 'attendees')[0]!);
  let sequence = 0;
  let heardAt = 0;
  const hear = (...changes: Partial<LedgerChange>[]): void => {
    const whole = changes.map((change): LedgerChange => ({
      pigeonholeId: 101,
      list: 'attendees',
      key: '10',
      sequence: (sequence += 1),
      revision: sequence,
      kind: 'updated',
      sessionId: null,
      visibility: null,
      item: null,
      ...change,
    }));
    judge.hear(whole, { from: heardAt, to: world.tick });
    heardAt = world.tick;
  };
  return { world, judge, shown, hear };
}

const ledgerItem = (item: Item | null): LedgerItem => ({
  pigeonholeId: 101,
  list: 'attendees',
  key: '10',
  sessionId: null,
  revision: 1,
  item,
  visibility: null,
});

const faultsOf = ({ faults }: Judge): string[] =>
  Object.entries(faults).flatMap(([name, items]: [string, string[]]) => items.map(() => name));

describe('the judge', () => {
  it('finds no fault in a correct recording', () => {
    const { world, judge, shown, hear } = open();
    hear({ kind: 'created', item: shown() });
    mutate(world, { ...at, op: 'edit', pick: 0, text: 3 });
    hear({ kind: 'updated', item: shown() });
    mutate(world, { ...at, op: 'delete', pick: 0, count: 1 });
    hear({ kind: 'deleted' });
    mutate(world, { ...at, op: 'reinsert', pick: 0 });
    hear({ kind: 'created', item: shown() });
    expect(faultsOf(judge)).toEqual([]);
    expect(judge.differences([ledgerItem(shown())], new Set(['attendees']))).toEqual({ lost: [], kept: [] });
  });

  it('finds a change without new content', () => {
    const { judge, shown, hear } = open();
    hear({ kind: 'created', item: shown() }, { kind: 'updated', item: shown() });
    expect(faultsOf(judge)).toEqual(['twice']);
  });

  it('finds a deletion of an item that was always present', () => {
    const { judge, shown, hear } = open();
    hear({ kind: 'created', item: shown() });
    hear({ kind: 'deleted' });
    expect(faultsOf(judge)).toEqual(['falselyDeleted']);
  });

  it('accepts a deletion that was true between two reads, even if the item has returned', () => {
    const { world, judge, shown, hear } = open();
    hear({ kind: 'created', item: shown() });
    mutate(world, { ...at, op: 'delete', pick: 0, count: 1 });
    mutate(world, { ...at, op: 'reinsert', pick: 0 });
    hear({ kind: 'deleted' });
    expect(faultsOf(judge)).toEqual([]);
    hear({ kind: 'created', item: shown() });
    hear({ kind: 'deleted' }); // but not a second time
    expect(faultsOf(judge)).toEqual(['falselyDeleted']);
  });

  it('finds an older version after a newer one', () => {
    const { world, judge, shown, hear } = open();
    const older = shown();
    hear({ kind: 'created', item: older });
    mutate(world, { ...at, op: 'edit', pick: 0, text: 3 });
    hear({ kind: 'updated', item: shown() }, { kind: 'updated', item: older });
    expect(faultsOf(judge)).toEqual(['untrue']);
  });

  it('finds missing revisions and impossible sequences of kinds', () => {
    const { world, judge, shown, hear } = open();
    hear({ kind: 'created', item: shown() });
    mutate(world, { ...at, op: 'edit', pick: 0, text: 3 });
    hear({ kind: 'updated', item: shown(), revision: 3 });
    mutate(world, { ...at, op: 'edit', pick: 0, text: 2 });
    hear({ kind: 'created', item: shown(), revision: 4 });
    expect(faultsOf(judge)).toEqual(['disordered', 'disordered']);
  });

  it('finds missing, different and outdated items', () => {
    const { world, judge, shown } = open();
    const lists = new Set(['attendees'] as const);
    const stored = shown();
    expect(judge.differences([], lists)).toMatchObject({ lost: [expect.any(String)], kept: [] });
    expect(judge.differences([ledgerItem(null)], lists)).toMatchObject({ lost: [expect.any(String)], kept: [] });
    mutate(world, { ...at, op: 'edit', pick: 0, text: 3 });
    expect(judge.differences([ledgerItem(stored)], lists)).toMatchObject({ lost: [expect.any(String)], kept: [] });
    mutate(world, { ...at, op: 'delete', pick: 0, count: 1 });
    expect(judge.differences([ledgerItem(stored)], lists)).toMatchObject({ lost: [], kept: ['101 attendees 10'] });
  });

  describe('of a question in a session that shows authors', () => {
    const lists = new Set(['questions'] as const);

    /** Opens a world with two sessions that show authors, and a question in the first one. */
    function asked(): ReturnType<typeof open> & { stored: (visibility: string) => LedgerItem } {
      const opened = open();
      const { world } = opened;
      const insert = { where: 0, op: 'insert', count: 1, session: 0, late: false, young: false } as const;
      for (const pick of [1, 3]) mutate(world, { ...insert, list: 'sessions', pick });
      mutate(world, { ...insert, list: 'questions', pick: 1 });
      const stored = (visibility: string): LedgerItem => {
        const row = world.rows(101, 'questions')[0]!;
        const { attendeeId, ...anonymous } = world.shown(101, row);
        const item = visibility === 'named' ? { ...anonymous, attendeeId } : anonymous;
        return { ...ledgerItem(item), list: 'questions', sessionId: row.sessionId, visibility };
      };
      return { ...opened, stored };
    }

    /** Adds the question's row with a flag. @param pick even: the flag says anonymous */
    const flag = (world: ModelWorld, pick: number): void => {
      const row = { where: 0, list: 'qna-questions', op: 'insert', count: 1, session: 0 } as const;
      mutate(world, { ...row, pick, late: false, young: false });
    };
    const accepted = ({ judge, stored }: ReturnType<typeof asked>): string[] =>
      ['named', 'anonymous'].filter((visibility) => judge.differences([stored(visibility)], lists).lost.length === 0);

    it('expects the author without a flag', () => {
      expect(accepted(asked())).toEqual(['named']);
    });

    it.each([
      ['flagged row', 'qna-questions'],
      ['question', 'questions'],
    ] as const)('expects no author after the %s was moved to another session', (_, list) => {
      const scene = asked();
      flag(scene.world, 0);
      expect(accepted(scene)).toEqual(['anonymous']);
      mutate(scene.world, { where: 0, list, op: 'move', pick: 0, session: 1 });
      expect(accepted(scene)).toEqual(['anonymous']);
    });

    it('accepts both after the flagged row was deleted: the reader may not have seen it', () => {
      const scene = asked();
      flag(scene.world, 0);
      mutate(scene.world, { where: 0, list: 'qna-questions', op: 'delete', pick: 0, count: 1 });
      expect(accepted(scene)).toEqual(['named', 'anonymous']);
    });

    it('expects the author after a row was deleted whose flag always showed the author', () => {
      const scene = asked();
      flag(scene.world, 1);
      mutate(scene.world, { where: 0, list: 'qna-questions', op: 'delete', pick: 0, count: 1 });
      expect(accepted(scene)).toEqual(['named']);
    });
  });
});
