import type { PigeonholeListName } from '../../../base/lists.js';
import { type ConsentShown, movableLists, type Row } from './row.js';
import type { ListOrder, ModelWorld } from './world.js';

/**
 * A change in the service between two requests. Rows are selected by a number modulo their count, so that a mutation is
 * valid in every world. Without rows, it does nothing.
 */
export type Mutation = {
  readonly list: PigeonholeListName;
  /** Index of the pigeonhole, modulo their number. */
  readonly where: number;
} & (
  | {
      readonly op: 'insert';
      readonly count: number;
      readonly session: number;
      readonly pick: number;
      /** Whether the id is below the highest one of its list, as for a row that commits late. */
      readonly late: boolean;
      /** Whether the row was created just now; otherwise, it has the same old instant as all others. */
      readonly young: boolean;
    }
  /** Adds a second row that is identical to a vote, which has no id. */
  | { readonly op: 'repeat'; readonly pick: number }
  | { readonly op: 'edit'; readonly pick: number; readonly text: number }
  | { readonly op: 'status'; readonly pick: number; readonly status: string }
  /** Reverts the latest change, so that a page is the same as before. */
  | { readonly op: 'undo'; readonly pick: number }
  | { readonly op: 'reorder'; readonly pick: number; readonly rank: number }
  | { readonly op: 'move'; readonly pick: number; readonly session: number }
  | { readonly op: 'delete'; readonly pick: number; readonly count: number }
  /** Restores a deleted row unchanged. */
  | { readonly op: 'reinsert'; readonly pick: number }
  /** Deletes a session with all of its items. */
  | { readonly op: 'delete-session'; readonly pick: number }
  | { readonly op: 'consent'; readonly pick: number; readonly consent: ConsentShown }
  /** Flag of a session, or of a row with its own flag. */
  | { readonly op: 'anonymity'; readonly of: 'sessions' | 'qna-questions'; readonly pick: number }
  | { readonly op: 'order'; readonly order: ListOrder }
  | { readonly op: 'page-size'; readonly perPage: number }
);

/** Distance between ids, so that rows can be inserted between them. */
const idStep = 10;
/** The creation time of everything that is not young. */
const longAgo = '2026-01-05T08:00:00.000Z';

export function mutate(world: ModelWorld, mutation: Mutation): void {
  const { list } = mutation;
  const place = pick(world.shape.pigeonholeIds, mutation.where)!;
  const rows = world.rows(place, list);
  switch (mutation.op) {
    case 'insert':
      for (let n = 0; n < mutation.count; n += 1) insert(world, place, mutation, n);
      return;
    case 'repeat': {
      const vote = pick(world.rows(place, 'votes'), mutation.pick);
      if (vote !== undefined) world.put(place, { ...vote, id: nextId(world, place, 'votes') });
      return;
    }
    case 'edit':
      return change(world, place, pick(rows, mutation.pick), { text: mutation.text });
    case 'status':
      return change(world, place, pick(rows, mutation.pick), { status: mutation.status });
    case 'undo': {
      const changed = rows.filter((row) => world.former(place, row) !== undefined);
      const row = pick(changed, mutation.pick);
      return change(world, place, row, row === undefined ? {} : formerOf(world, place, row));
    }
    case 'reorder':
      return change(world, place, pick(rows, mutation.pick), { rank: mutation.rank });
    case 'move': {
      const session = pick(world.rows(place, 'sessions'), mutation.session);
      if (session === undefined || !movableLists.has(list)) return;
      return change(world, place, pick(rows, mutation.pick), { sessionId: session.id });
    }
    case 'delete':
      for (let n = 0; n < mutation.count; n += 1) remove(world, place, list, mutation.pick + n);
      return;
    case 'reinsert': {
      const past = world.past(place, list).filter((row) => list === 'sessions' || hasItsSession(world, place, row));
      const row = pick(past, mutation.pick);
      if (row !== undefined) world.put(place, row);
      return;
    }
    case 'delete-session':
      return remove(world, place, 'sessions', mutation.pick);
    case 'consent':
      return change(world, place, pick(world.rows(place, 'attendees'), mutation.pick), { consent: mutation.consent });
    case 'anonymity': {
      const row = pick(world.rows(place, mutation.of), mutation.pick);
      return change(world, place, row, { anonymous: !(row?.anonymous ?? false) });
    }
    case 'order':
      world.orders[list] = mutation.order;
      world.tick += 1;
      return;
    case 'page-size':
      world.perPage = mutation.perPage;
      world.tick += 1;
  }
}

function insert(
  world: ModelWorld,
  place: number,
  { list, session, pick: picked, late, young }: Extract<Mutation, { op: 'insert' }>,
  n: number,
): void {
  const sessionRow = pick(world.rows(place, 'sessions'), session);
  if (sessionRow === undefined && movableLists.has(list)) return;
  const twinOf = list === 'qna-questions' ? questionWithoutTwin(world, place) : undefined;
  const id = twinOf?.id ?? (late ? lateId(world, place, list, picked + n) : nextId(world, place, list));
  if (id === undefined) return;
  world.put(place, {
    list,
    id,
    origin: id,
    createdAt: young ? new Date().toISOString() : longAgo,
    // Simultaneous votes on one question differ by their voters.
    attendeeId: list === 'votes' ? 100_000 + id : 1 + (picked % 5),
    questionId: pick(world.rows(place, 'questions'), picked)?.id ?? idStep * (1 + (picked % 3)),
    sessionId: list === 'sessions' ? id : list === 'attendees' ? 0 : (twinOf?.sessionId ?? sessionRow!.id),
    text: picked % 4,
    status: 'approved',
    anonymous: picked % 2 === 0,
    consent: 'obtained',
    rank: (picked * 7919 + n * 31) % 1000,
  });
}

function change(world: ModelWorld, place: number, row: Row | undefined, by: Partial<Row>): void {
  if (row !== undefined) world.replace(place, row, by);
}

function remove(world: ModelWorld, place: number, list: PigeonholeListName, picked: number): void {
  const row = pick(world.rows(place, list), picked);
  if (row === undefined) return;
  world.remove(place, row);
  if (list !== 'sessions') return;
  for (const other of movableLists as ReadonlySet<PigeonholeListName>) {
    for (const done of world.rows(place, other).filter(({ sessionId }) => sessionId === row.id)) {
      world.remove(place, done);
    }
  }
}

/** Returns the former fields, without a session that was deleted in the meantime. */
function formerOf(world: ModelWorld, place: number, row: Row): Partial<Row> {
  const former = world.former(place, row)!;
  return hasItsSession(world, place, former) ? former : { ...former, sessionId: row.sessionId };
}

function hasItsSession(world: ModelWorld, place: number, row: Row): boolean {
  return !movableLists.has(row.list) || world.rows(place, 'sessions').some(({ id }) => id === row.sessionId);
}

function questionWithoutTwin(world: ModelWorld, place: number): Row | undefined {
  const used = usedIds(world, place, 'qna-questions');
  return world.rows(place, 'questions').find(({ id }) => !used.has(id));
}

function nextId(world: ModelWorld, place: number, list: PigeonholeListName): number {
  // The id of a session determines its type, so ids of sessions are consecutive. Ids are never reused.
  return Math.max(0, ...usedIds(world, place, list)) + (list === 'sessions' ? 1 : idStep);
}

function lateId(world: ModelWorld, place: number, list: PigeonholeListName, picked: number): number | undefined {
  const used = usedIds(world, place, list);
  const free: number[] = [];
  for (let id = 1; id < Math.max(0, ...used); id += 1) if (!used.has(id)) free.push(id);
  return pick(free, picked * 13);
}

function usedIds(world: ModelWorld, place: number, list: PigeonholeListName): Set<number> {
  return new Set([...world.rows(place, list), ...world.past(place, list)].map(({ id }) => id));
}

function pick<T>(from: readonly T[], n: number): T | undefined {
  return from.length === 0 ? undefined : from[n % from.length];
}
