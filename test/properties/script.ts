import fc from 'fast-check';
import { type PigeonholeListName, pigeonholeLists } from '../../base/lists.js';
import { type Fault, faults, type Glitch, glitches } from './model/fault.js';
import type { Mutation } from './model/mutation.js';
import type { ConsentShown } from './model/row.js';
import type { ListOrder, WorldShape } from './model/world.js';

/** End of a cycle. A cycle with fewer statements or requests than the number ends normally. */
export type TurnEnd =
  | { readonly kind: 'well' }
  /** Its process dies at the n-th statement. */
  | { readonly kind: 'dies'; readonly at: number }
  /** It is cancelled when it makes its n-th request. */
  | { readonly kind: 'cancelled'; readonly at: number }
  /** Its process is stopped at its n-th request: it ends between two pages. */
  | { readonly kind: 'stopped'; readonly at: number }
  /**
   * The answer to its n-th request arrives after further changes and another cycle, which takes over its leases. If
   * `pausedMs` is not 0, its machine was paused for that time, which its monotonic clock did not count.
   */
  | {
      readonly kind: 'overtaken';
      readonly at: number;
      readonly pausedMs: number;
      readonly meanwhile: readonly Mutation[];
    };

/** A cycle of a pigeonhole, and the events before and during it. */
export interface Step {
  readonly passMs: number;
  readonly where: number;
  readonly before: readonly Mutation[];
  /** Events by the number of the cycle's request. */
  readonly during: readonly { readonly request: number; readonly mutation: Mutation }[];
  readonly faults: readonly { readonly request: number; readonly fault: Fault }[];
  /** Affects `times` requests, starting with number `request`. */
  readonly glitches: readonly { readonly request: number; readonly glitch: Glitch; readonly times: number }[];
  readonly end: TurnEnd;
  /** Time by which the wall clock of the cycle's process is ahead. */
  readonly clockAheadMs: number;
  /** Jumps of that wall clock during the cycle. */
  readonly clockJumps: readonly { readonly request: number; readonly byMs: number }[];
}

/** One life of a service and its reader. */
export interface Script {
  readonly shape: WorldShape;
  /** The lists to read. Lists that they depend on are read too. */
  readonly lists: readonly PigeonholeListName[];
  readonly start: readonly Mutation[];
  readonly steps: readonly Step[];
  /** Turns of the event loop until each request arrives, repeated (`ModelService`). */
  readonly delays: readonly number[];
}

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

const order = fc.constantFrom<ListOrder>('ascending', 'descending', 'unordered');
const number = fc.nat(40);
const perPage = fc.integer({ min: 2, max: 5 });

export const anyShape: fc.Arbitrary<WorldShape> = fc.record({
  pigeonholeIds: fc.oneof(
    { weight: 4, arbitrary: fc.constant([101]) },
    { weight: 1, arbitrary: fc.constant([101, 102]) },
  ),
  cursors: fc.constantFrom('keyset' as const, 'offset' as const),
  signedCursors: fc.boolean(),
  filters: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  perPage,
  orders: fc.record(Object.fromEntries(pigeonholeLists.map((list) => [list, order]))) as fc.Arbitrary<
    WorldShape['orders']
  >,
});

/** Returns any mutation, most of them of these lists. */
export function mutationOf(lists: readonly PigeonholeListName[]): fc.Arbitrary<Mutation> {
  const at = {
    list: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...lists) },
      { weight: 1, arbitrary: fc.constantFrom<PigeonholeListName>('sessions', 'attendees', 'qna-questions') },
    ),
    where: fc.nat(1),
  };
  const of = <const Op extends Mutation['op'], More extends object>(
    weight: number,
    op: Op,
    more: { [Name in keyof More]: fc.Arbitrary<More[Name]> },
  ): fc.WeightedArbitrary<Mutation> => ({
    weight,
    arbitrary: fc.record({ ...at, op: fc.constant(op), ...more }) as unknown as fc.Arbitrary<Mutation>,
  });
  return fc.oneof(
    of(5, 'insert', {
      count: fc.integer({ min: 1, max: 4 }),
      session: number,
      pick: number,
      late: fc.boolean(),
      young: fc.boolean(),
    }),
    of(2, 'repeat', { pick: number }),
    of(4, 'edit', { pick: number, text: fc.nat(4) }),
    of(4, 'undo', { pick: number }),
    of(2, 'status', { pick: number, status: fc.constantFrom('approved', 'rejected', 'archived') }),
    of(3, 'reorder', { pick: number, rank: fc.nat(1000) }),
    of(3, 'move', { pick: number, session: number }),
    of(4, 'delete', { pick: number, count: fc.integer({ min: 1, max: 3 }) }),
    of(3, 'reinsert', { pick: number }),
    of(1, 'delete-session', { pick: number }),
    of(1, 'consent', {
      pick: number,
      consent: fc.constantFrom<ConsentShown>('obtained', 'refused', 'not-asked', 'absent'),
    }),
    of(1, 'anonymity', { of: fc.constantFrom('sessions' as const, 'qna-questions' as const), pick: number }),
    of(1, 'order', { order }),
    of(1, 'page-size', { perPage }),
  );
}

/** Returns a mutation that makes an earlier requested answer outdated. */
function touchOf(lists: readonly PigeonholeListName[]): fc.Arbitrary<Mutation> {
  const row = { list: fc.constantFrom(...lists), where: fc.nat(1), pick: number };
  return fc.oneof(
    { weight: 3, arbitrary: fc.record({ ...row, op: fc.constant('edit' as const), text: fc.nat(4) }) },
    { weight: 2, arbitrary: fc.record({ ...row, op: fc.constant('undo' as const) }) },
    { weight: 1, arbitrary: fc.record({ ...row, op: fc.constant('move' as const), session: number }) },
    { weight: 1, arbitrary: fc.record({ ...row, op: fc.constant('delete' as const), count: fc.constant(1) }) },
  );
}

function turnEndOf(touch: fc.Arbitrary<Mutation>): fc.Arbitrary<TurnEnd> {
  const at = fc.integer({ min: 1, max: 12 });
  const meanwhile = fc.array(touch, { minLength: 1, maxLength: 6, size: 'max' });
  const pausedMs = fc.constantFrom(0, 10 * second, minute, 31 * minute);
  return fc.oneof(
    { weight: 5, arbitrary: fc.constant({ kind: 'well' as const }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('dies' as const), at: fc.integer({ min: 1, max: 150 }) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('overtaken' as const), at, pausedMs, meanwhile }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancelled' as const), at }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('stopped' as const), at }) },
  );
}

function stepOf(mutation: fc.Arbitrary<Mutation>, touch: fc.Arbitrary<Mutation>): fc.Arbitrary<Step> {
  const request = fc.integer({ min: 1, max: 16 });
  return fc.record({
    passMs: fc.oneof(
      { weight: 6, arbitrary: fc.constant(6 * second) },
      { weight: 2, arbitrary: fc.constantFrom(0, minute) },
      { weight: 2, arbitrary: fc.constant(31 * minute) },
      { weight: 1, arbitrary: fc.constantFrom(6 * hour + minute, 25 * hour) },
    ),
    where: fc.nat(1),
    before: fc.array(mutation, { maxLength: 3, size: 'max' }),
    during: fc.array(fc.record({ request, mutation }), { maxLength: 6, size: 'max' }),
    faults: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(fc.record({ request, fault: fc.constantFrom(...faults) }), { maxLength: 2 }) },
    ),
    glitches: fc.oneof(
      { weight: 2, arbitrary: fc.constant([]) },
      {
        weight: 1,
        arbitrary: fc.array(
          fc.record({ request, glitch: fc.constantFrom(...glitches), times: fc.constantFrom(1, 1, 20) }),
          { maxLength: 3 },
        ),
      },
    ),
    end: turnEndOf(touch),
    clockAheadMs: fc.oneof(
      { weight: 3, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.constantFrom(hour, -hour, 40 * second, -40 * second) },
    ),
    clockJumps: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      {
        weight: 1,
        arbitrary: fc.array(
          fc.record({ request, byMs: fc.constantFrom(hour, -hour, 40 * second, -40 * second, 2 * second) }),
          { minLength: 1, maxLength: 2 },
        ),
      },
    ),
  });
}

/** Returns the initial rows: a few of each related list, and several pages of the lists to read. */
export function startOf(lists: readonly PigeonholeListName[]): fc.Arbitrary<Mutation[]> {
  const put = (list: PigeonholeListName, count: fc.Arbitrary<number>): fc.Arbitrary<Mutation[]> =>
    fc
      .record({ count, picks: fc.array(number, { minLength: 12, maxLength: 12 }), where: fc.constant(0) })
      .map(({ count: rows, picks }) =>
        Array.from({ length: rows }, (_, index) => ({
          op: 'insert' as const,
          list,
          where: index % 7 === 6 ? 1 : 0,
          count: 1,
          session: picks[index % 12]!,
          pick: picks[(index * 5) % 12]! + index,
          late: false,
          young: false,
        })),
      );
  const few = fc.integer({ min: 1, max: 4 });
  const pages = fc.nat(30);
  return fc
    .tuple(put('sessions', few), put('attendees', few), ...lists.map((list) => put(list, pages)))
    .map((parts) => parts.flat());
}

/** Any life: a world, lists, and steps with possible disturbances. */
export const anyScript: fc.Arbitrary<Script> = fc
  .uniqueArray(fc.constantFrom(...pigeonholeLists), { minLength: 1, maxLength: 3 })
  .chain((lists) =>
    fc.record({
      shape: anyShape,
      lists: fc.constant(lists),
      start: startOf(lists),
      steps: fc.array(stepOf(mutationOf(lists), touchOf(lists)), { minLength: 1, maxLength: 12, size: 'max' }),
      delays: fc.array(fc.nat(30), { minLength: 7, maxLength: 30, size: 'max' }),
    }),
  );
