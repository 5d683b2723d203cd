import { createHmac, randomUUID } from 'node:crypto';
import type { CursorKind, CursorText } from './knobs.js';
import { ServiceError } from './service-error.js';

/** A place in a list. `start` is before the first item; it is used where a fault must name that place. */
export type Place = { kind: 'keyset'; id: number } | { kind: 'offset'; offset: number } | { kind: 'start' };

/** Signs cursors for the life of this process. */
const signingKey = randomUUID();
let cursorsSigned = 0;

/**
 * A cursor of the service: base64 of `cursor_<id>` (as a published sample decodes) or `offset_<n>`. `nonce` makes
 * another string for the same place. A signed cursor also carries the instant at which it was issued, so that no two
 * answers ever hold the same cursor.
 */
export function encodeCursor(
  place: Place,
  { text = 'plain', nonce, nowMs = 0 }: { text?: CursorText; nonce?: number; nowMs?: number } = {},
): string {
  const value =
    place.kind === 'keyset' ? `cursor_${place.id}` : place.kind === 'offset' ? `offset_${place.offset}` : 'start';
  const named = nonce === undefined ? value : `${value}~${nonce}`;
  if (text === 'plain') return Buffer.from(named).toString('base64');
  cursorsSigned += 1;
  const issued = `${named}@${nowMs}.${cursorsSigned}`;
  return Buffer.from(`${issued}!${signatureOf(issued)}`).toString('base64');
}

/**
 * @param kind what the list uses at present; a cursor of the other kind is from another time and is refused
 * @throws {ServiceError} 6000 for anything this service did not issue
 */
export function decodeCursor(text: string, kind: CursorKind): Place {
  const decoded = unsigned(Buffer.from(text, 'base64').toString('latin1'));
  const match = /^(?:(cursor|offset)_(-?\d{1,15})|start)(?:~\d+)?$/.exec(decoded);
  if (match === null) throw refused();
  const value = Number(match[2]);
  if (match[1] === undefined) return { kind: 'start' };
  if (match[1] === 'cursor' && kind === 'keyset') return { kind: 'keyset', id: value };
  if (match[1] === 'offset' && kind === 'offset') return { kind: 'offset', offset: value };
  throw refused();
}

/** Both forms are accepted at any time: a cursor outlives a change of the knob. */
function unsigned(decoded: string): string {
  const match = /^(.*)@(\d+\.\d+)!([0-9a-f]{16})$/.exec(decoded);
  if (match === null) return decoded;
  const [, named = '', issued = '', signature = ''] = match;
  if (signature !== signatureOf(`${named}@${issued}`)) throw refused();
  return named;
}

function signatureOf(text: string): string {
  return createHmac('sha256', signingKey).update(text).digest('hex').slice(0, 16);
}

function refused(): ServiceError {
  return new ServiceError(6000, { message: 'Invalid parameter value: cursor' });
}
