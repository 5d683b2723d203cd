import type { CursorKind } from './knobs.js';
import { ServiceError } from './service-error.js';

/** A place in a list. `start` is before the first item; it is used where a fault must name that place. */
export type Place = { kind: 'keyset'; id: number } | { kind: 'offset'; offset: number } | { kind: 'start' };

/**
 * A cursor of the service: base64 of `cursor_<id>` (as a published sample decodes) or `offset_<n>`. `nonce` makes
 * another string for the same place.
 */
export function encodeCursor(place: Place, nonce?: number): string {
  const value =
    place.kind === 'keyset' ? `cursor_${place.id}` : place.kind === 'offset' ? `offset_${place.offset}` : 'start';
  return Buffer.from(nonce === undefined ? value : `${value}~${nonce}`).toString('base64');
}

/**
 * @param kind what the list uses at present; a cursor of the other kind is from another time and is refused
 * @throws {ServiceError} 6000 for anything this service did not issue
 */
export function decodeCursor(text: string, kind: CursorKind): Place {
  const decoded = Buffer.from(text, 'base64').toString('latin1');
  const match = /^(?:(cursor|offset)_(-?\d{1,15})|start)(?:~\d+)?$/.exec(decoded);
  if (match === null) throw new ServiceError(6000, { message: 'Invalid parameter value: cursor' });
  const value = Number(match[2]);
  if (match[1] === undefined) return { kind: 'start' };
  if (match[1] === 'cursor' && kind === 'keyset') return { kind: 'keyset', id: value };
  if (match[1] === 'offset' && kind === 'offset') return { kind: 'offset', offset: value };
  throw new ServiceError(6000, { message: 'Invalid parameter value: cursor' });
}
