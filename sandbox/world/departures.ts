import { isJsonObject, type JsonObject } from '../json.js';
import type { SpaceListName } from '../list-name.js';
import type { Conference } from './conference.js';
import { mutate } from './mutations.js';
import { idAtRandom } from './new-item.js';
import type { PigeonholeSpace, SessionNow } from './pigeonhole-space.js';
import { below, draw, pick } from './random.js';

/** Place of an event, and the seed of its random choices. */
export interface Happening {
  readonly conference: Conference;
  readonly space: PigeonholeSpace;
  readonly drawn: number;
  readonly nowMs: number;
}

/** Lists that a deletion may affect; a question leaves both of its lists. */
const DELETABLE = ['questions', 'answers', 'answer_ratings', 'poll-mcq-votes', 'poll-quiz-votes', 'attendees'] as const;

/** Removes a random item from a list. No effect if the list is empty. */
export function deleteFrom(list: SpaceListName, { conference, space, drawn, nowMs }: Happening): void {
  const id = idAtRandom(space.table(list).order(null, 'byId'), draw(drawn, 40));
  if (id !== undefined) mutate(conference, { op: 'delete', list, pigeonholeId: space.id, id }, nowMs);
}

/** Removes one item from a random list. */
export function deleteAnything(happening: Happening): void {
  deleteFrom(pick(DELETABLE, draw(happening.drawn, 41)), happening);
}

/** Restores a deleted item unchanged. If none is deleted, deletes one. */
export function bringBack(happening: Happening): void {
  const { conference, space, drawn, nowMs } = happening;
  const gone = conference.absences.openIn(space.id);
  if (gone.length === 0) return deleteAnything(happening);
  const { list, id } = pick(gone, draw(drawn, 42));
  mutate(conference, { op: 'restore', list, pigeonholeId: space.id, id }, nowMs);
}

/** Moves a question, or occasionally an answer, to another session of the same kind. No effect if there is only one. */
export function moveToAnotherSession(happening: Happening): void {
  const { conference, space, drawn, nowMs } = happening;
  const answers = sessionsOf(space, 'poll_word_cloud');
  const list = draw(drawn, 43) % 3 === 0 && answers.length > 1 ? 'answers' : 'questions';
  const sessions = list === 'answers' ? answers : sessionsOf(space, 'qna');
  const id = idAtRandom(space.table(list).order(null, 'byId'), draw(drawn, 44));
  if (id === undefined) return;
  const from = space.table(list).fields(id)?.sessionId;
  const others = sessions.filter((session) => session.id !== from);
  const to = others[below(draw(drawn, 45), others.length)];
  if (to === undefined) return;
  const item = { session: { id: to.id, name: to.name, type: to.type } };
  mutate(conference, { op: 'patch', list, pigeonholeId: space.id, id, item }, nowMs);
}

/** Renames a session. The name is part of the session, and every item created in it contains a copy. */
export function renameSession({ conference, space, drawn, nowMs }: Happening): void {
  const id = idAtRandom(space.sessions.order(null, 'byId'), draw(drawn, 46));
  if (id === undefined) return;
  const item: JsonObject = { name: `${nameOf(space.sessions.item(id))} (room ${1 + (draw(drawn, 47) % 90)})` };
  mutate(conference, { op: 'patch', list: 'sessions', pigeonholeId: space.id, id, item }, nowMs);
}

function sessionsOf(space: PigeonholeSpace, type: SessionNow['type']): SessionNow[] {
  return [...space.sessionsNow().values()].filter((session) => session.type === type);
}

/** Drops the room that an earlier event added to the name. */
function nameOf(session: JsonObject | undefined): string {
  const name = isJsonObject(session) ? session['name'] : undefined;
  return typeof name === 'string' ? name.replace(/ \(room \d+\)$/, '') : '';
}
