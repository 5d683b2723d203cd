import type { ListName } from '../list-name.js';
import { ServiceError } from './service-error.js';

/** One of the fifteen operations, or the single read of a pigeonhole, with its parameters. */
export type Route =
  | { kind: 'list'; list: ListName; pigeonholeId: number | null }
  | { kind: 'createPigeonhole' }
  | { kind: 'readPigeonhole'; pigeonholeId: number }
  | { kind: 'createSession'; pigeonholeId: number }
  | { kind: 'createRegistrants'; pigeonholeId: number };

/** The operations of a path, by method. */
interface Resource {
  pigeonholeId: number | null;
  list: ListName | null;
  GET?: Route;
  POST?: Route;
}

const READABLE: readonly ListName[] = [
  'attendees',
  'questions',
  'votes',
  'answer_ratings',
  'answers',
  'poll-mcq-votes',
  'poll-quiz-votes',
  'qna-questions',
];

/**
 * Returns the resource of a path; undefined for an unknown path.
 * @throws {ServiceError} 4504 if a pigeonhole id is not an integer
 */
export function resourceOf(path: string): Resource | undefined {
  const [empty, version, first, id, ...rest] = path.split('/');
  if (empty !== '' || version !== 'v2') return undefined;
  if (first === 'subscriptions' && id === undefined) {
    return {
      pigeonholeId: null,
      list: 'subscriptions',
      GET: { kind: 'list', list: 'subscriptions', pigeonholeId: null },
    };
  }
  if (first !== 'pigeonholes') return undefined;
  if (id === undefined) {
    const GET: Route = { kind: 'list', list: 'pigeonholes', pigeonholeId: null };
    return { pigeonholeId: null, list: 'pigeonholes', GET, POST: { kind: 'createPigeonhole' } };
  }
  const below = rest.join('/');
  const readable = READABLE.find((list) => list === below);
  if (readable === undefined && !['', 'sessions', 'registrants/bulk'].includes(below)) return undefined;
  if (!/^\d{1,15}$/.test(id)) throw new ServiceError(4504);
  const pigeonholeId = Number(id);
  if (readable !== undefined) {
    return { pigeonholeId, list: readable, GET: { kind: 'list', list: readable, pigeonholeId } };
  }
  if (below === 'sessions') {
    const GET: Route = { kind: 'list', list: 'sessions', pigeonholeId };
    return { pigeonholeId, list: 'sessions', GET, POST: { kind: 'createSession', pigeonholeId } };
  }
  if (below === '') return { pigeonholeId, list: null, GET: { kind: 'readPigeonhole', pigeonholeId } };
  return { pigeonholeId, list: 'registrants', POST: { kind: 'createRegistrants', pigeonholeId } };
}
