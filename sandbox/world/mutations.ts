import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { isSpaceListName, LISTS, RESPONSE_LISTS, type ListName } from '../list-name.js';
import type { AnyTable } from '../store/item-table.js';
import type { Conference } from './conference.js';
import { addNewItem } from './new-item.js';
import { qnaStatusOf, questionStatusOf } from './question-source.js';
import { draw } from './random.js';

/** A change requested by a test or through the control API. */
export interface Mutation {
  op: 'insert' | 'patch' | 'delete' | 'restore';
  list: ListName;
  /** Null for the two lists of the workspace. */
  pigeonholeId: number | null;
  /** Id of the item. An insert may give it in the item, or let the list choose it. */
  id?: number | undefined;
  /** Values to merge into a plausible item (insert) or the current item (patch), by RFC 7386. */
  item?: JsonObject | undefined;
  /** Whether an insert stores the item unchanged, even if it is malformed. */
  exact?: boolean | undefined;
  /** Whether a question changes in both of its lists; true by default. */
  mirror?: boolean | undefined;
}

/** Result of a mutation: the id, and the item as the API shows it now, or null after a deletion. */
export interface MutationResult {
  id: number;
  item: JsonObject | null;
}

/** A mutation that names a missing item or cannot be carried out. */
export class MutationError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MutationError';
  }
}

/**
 * Carries out one mutation.
 * @throws {MutationError} if the pigeonhole or item does not exist
 */
export function mutate(conference: Conference, mutation: Mutation, nowMs: number): MutationResult {
  const { list, pigeonholeId } = mutation;
  const table = conference.table(list, pigeonholeId);
  if (table === undefined) {
    throw new MutationError(
      `there is no pigeonhole ${String(pigeonholeId)} with a list ${list}; name one that GET /_control/state shows`,
    );
  }
  if (mutation.op === 'insert') return insert(conference, table, mutation, nowMs);
  const { id } = mutation;
  if (mutation.op === 'restore') return restore(conference, mutation, nowMs);
  if (id === undefined || !table.has(id)) {
    throw new MutationError(
      `${list} has no item ${String(id)} to ${mutation.op}; give the id of an item that is in the list`,
    );
  }
  const mirrored = mutation.mirror === false ? undefined : mirrorOf(conference, mutation);
  if (mutation.op === 'delete') {
    removeItem(conference, mutation, id, nowMs);
    if (mirrored !== undefined) removeItem(conference, { ...mutation, list: mirrored.list }, id, nowMs);
    return { id, item: null };
  }
  const patch = mutation.item ?? {};
  mirrored?.table.patch(id, mirrored.translate(patch));
  const from = table.item(id)?.['consent'];
  const item = table.patch(id, patch) ?? null;
  if (list === 'attendees' && pigeonholeId !== null && 'consent' in patch) {
    conference.consentChanges.push({
      pigeonholeId,
      id,
      from,
      to: item?.['consent'],
      at: new Date(nowMs).toISOString(),
    });
  }
  return { id, item };
}

function insert(conference: Conference, table: AnyTable, mutation: Mutation, nowMs: number): MutationResult {
  const { list, pigeonholeId, item = {} } = mutation;
  const id = mutation.id ?? idIn(list, item) ?? table.freeId();
  if (mutation.exact === true || !isSpaceListName(list)) {
    if (list === 'pigeonholes') conference.addPigeonhole(id, { id, ...item });
    else table.insert(isSpaceListName(list) ? item : { id, ...item }, id);
    return { id, item: table.item(id) ?? null };
  }
  const space = pigeonholeId === null ? undefined : conference.space(pigeonholeId);
  const session = item['session'];
  const sessionId = isJsonObject(session) && typeof session['id'] === 'number' ? session['id'] : undefined;
  const drawn = draw(conference.size.seed, 0x1245, id);
  const added = space && addNewItem({ space, list, drawn, nowMs, sessionId, id });
  if (added === undefined) {
    // No plausible item can be generated without a suitable session and attendee, so the given item is inserted
    // unchanged.
    table.insert(item, id);
    return { id, item: table.item(id) ?? null };
  }
  if (mutation.mirror === false) {
    if (list === 'questions') space?.qnaQuestions.remove(id);
    if (list === 'qna-questions') space?.questions.remove(id);
  } else {
    const mirrored = mirrorOf(conference, mutation);
    mirrored?.table.patch(id, mirrored.translate(item));
  }
  return { id, item: table.patch(id, item) ?? null };
}

/** Deletes an item; for a session, also everything created in it. */
function removeItem(conference: Conference, { list, pigeonholeId }: Mutation, id: number, nowMs: number): void {
  takeOut(conference, list, pigeonholeId, id, nowMs);
  if (list !== 'sessions' || pigeonholeId === null) return;
  for (const name of RESPONSE_LISTS) {
    const own = conference.table(name, pigeonholeId)?.order(id, 'byId');
    for (let each = own?.idAt(0); each !== undefined; each = own?.idAt(0)) {
      takeOut(conference, name, pigeonholeId, each, nowMs);
    }
  }
}

function takeOut(conference: Conference, list: ListName, pigeonholeId: number | null, id: number, nowMs: number): void {
  const table = conference.table(list, pigeonholeId);
  const item = table?.item(id) ?? null;
  if (table?.remove(id) === true) conference.absences.gone({ list, pigeonholeId, id, item }, nowMs);
}

/** Restores a deleted item unchanged, and a question in both of its lists. */
function restore(conference: Conference, mutation: Mutation, nowMs: number): MutationResult {
  const { list, pigeonholeId, id } = mutation;
  const table = conference.table(list, pigeonholeId);
  if (id === undefined || table?.restore(id) !== true) {
    throw new MutationError(
      `no item ${String(id)} was deleted from ${list}; give the id of an item that was deleted from it`,
    );
  }
  conference.absences.back(list, pigeonholeId, id, nowMs);
  const mirrored = mutation.mirror === false ? undefined : mirrorOf(conference, mutation);
  if (mirrored?.table.restore(id) === true) conference.absences.back(mirrored.list, pigeonholeId, id, nowMs);
  return { id, item: table.item(id) ?? null };
}

/** Returns the id that an item shows: its own or that of its entity. Votes show none. */
function idIn(list: ListName, item: JsonObject): number | undefined {
  const { idWithin, hasIds } = LISTS[list];
  const holder = idWithin === null ? item : item[idWithin];
  const id = hasIds && isJsonObject(holder) ? holder['id'] : undefined;
  return typeof id === 'number' ? id : undefined;
}

interface Mirror {
  list: ListName;
  table: AnyTable;
  translate(patch: JsonObject): JsonObject;
}

/** Returns the other list of a question and the patch translated for it; undefined for every other list. */
function mirrorOf(conference: Conference, { list, pigeonholeId }: Mutation): Mirror | undefined {
  const space = pigeonholeId === null ? undefined : conference.space(pigeonholeId);
  if (space === undefined) return undefined;
  if (list === 'questions') return { list: 'qna-questions', table: space.qnaQuestions, translate: toQnaPatch };
  if (list === 'qna-questions') return { list: 'questions', table: space.questions, translate: toQuestionPatch };
  return undefined;
}

function toQnaPatch(patch: JsonObject): JsonObject {
  const { attendeeId, createdAt, session, question } = patch;
  const translated: JsonObject = {};
  const { content, status } = isJsonObject(question) ? question : {};
  set(translated, 'content', content);
  set(translated, 'status', typeof status === 'string' ? qnaStatusOf(status) : status);
  set(translated, 'createdAt', createdAt);
  if (attendeeId !== undefined) translated['attendee'] = { id: attendeeId };
  if (isJsonObject(session)) {
    const { type: _type, ...copy } = session;
    translated['session'] = copy;
  }
  return translated;
}

/** Translates a patch. `questions` has no equivalent of `anonymous`, so its readers cannot see it. */
function toQuestionPatch(patch: JsonObject): JsonObject {
  const { attendee, createdAt, session, content, status } = patch;
  const translated: JsonObject = {};
  const question: JsonObject = {};
  set(question, 'content', content);
  set(question, 'status', typeof status === 'string' ? questionStatusOf(status) : status);
  if (Object.keys(question).length > 0) translated['question'] = question;
  set(translated, 'createdAt', createdAt);
  if (isJsonObject(attendee)) set(translated, 'attendeeId', attendee['id']);
  set(translated, 'session', session);
  return translated;
}

function set(target: JsonObject, key: string, value: Json | undefined): void {
  if (value !== undefined) target[key] = value;
}
