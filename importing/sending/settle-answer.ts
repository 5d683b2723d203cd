import type { Complaint, Complaints } from './read-complaints.js';

/**
 * Decides the outcomes of an import's rows. Rows are sent in pieces, as large as the service accepts, until an answer
 * distinguishes them. Pure: from what was sent and answered, it derives what is known and what to send next.
 *
 * A refusal that names rows settles those and sends the rest again. One that names none is a search for its row: half
 * of what is under suspicion goes alone; created, it is the other half (split unsent), refused, it is this one. So a
 * row is found by one request for each halving, and what lies behind it goes on as one piece (decision 0025).
 */
export interface Piece {
  readonly rows: number;
  /** Before, and with what end: a complaint about a duplicate may then mean that it arrived. */
  readonly sent: 'never' | 'refused' | 'unknown';
  /** The request by which its rows may be there; null: none. */
  readonly origin: number | null;
  /** At least one of this number of first rows is refused; null: no row is under suspicion. */
  readonly suspects: number | null;
  /** Number of first rows to send next; null: all. */
  readonly next: number | null;
  /** Since a row was last refused, some were created. */
  readonly fruitful: boolean;
  /** Requests in a row whose outcome is not known. */
  readonly unknowns: number;
}

export type Answer =
  | { readonly kind: 'created' }
  /** It may have taken effect. */
  | { readonly kind: 'unknown' }
  /** Nobody was there to hear the answer: as `unknown`, but it says nothing of the service. */
  | { readonly kind: 'unheard' }
  /** It certainly has not: as if it had not been made. */
  | { readonly kind: 'failed' }
  | { readonly kind: 'tooMany' }
  | { readonly kind: 'refused'; readonly complaints: Complaints };

export interface SettledRow {
  /** Place in the piece, from 0. */
  readonly index: number;
  readonly outcome: 'confirmed' | 'existing' | 'rejected' | 'unknown';
  readonly field: string | null;
  readonly message: string | null;
  /** By which it may be there, and how that ended: what comes to light of it later changes the outcome. */
  readonly origin: number | null;
  readonly sent: 'refused' | 'unknown' | null;
}

export interface Settlement {
  /** In order, and without the rows that have outcomes of their own. */
  readonly pieces: readonly (Piece & { readonly created: boolean })[];
  readonly rows: readonly SettledRow[];
  /** A request that is known now to have created nothing: one of its rows was created by a later one. */
  readonly withoutEffect: number | null;
  /** The service has shown that it creates nothing of what it refuses: rows of a refused request were created later. */
  readonly refusesWhole: boolean;
  /** Fewer registrants should go in one request: the service said so, or answers do not come. */
  readonly smaller: 'refused' | 'unanswered' | null;
}

/** Unanswered requests with a single row, while others are answered, before the row is given up. */
export const maxUnknowns = 6;

/** Returns the number of a piece's rows for the next request. Pure. */
export function countToSend({ rows, suspects, next }: Piece): number {
  if (next !== null) return Math.min(rows, next);
  return suspects === null ? rows : Math.max(1, Math.ceil(Math.min(rows, suspects) / 2));
}

/**
 * @param count how many of the piece's first rows were sent
 * @param request the number of that request
 * @param refusesWhole the service is known to create nothing of a request that it refuses
 */
export function settleAnswer(
  before: Piece,
  { count, request, refusesWhole }: { count: number; request: number; refusesWhole: boolean },
  answer: Answer,
): Settlement {
  const piece: Piece = refusesWhole && before.sent === 'refused' ? { ...before, sent: 'never', origin: null } : before;
  switch (answer.kind) {
    case 'created':
      return created(piece, count);
    case 'unknown':
    case 'unheard':
      return unknown(piece, count, request, answer.kind);
    case 'failed':
      return { ...nothing, pieces: [open(piece)] };
    case 'tooMany':
      if (count === 1) return refusedAlone(piece, { field: null, message: null, meaning: 'value' });
      return { ...nothing, pieces: halves(piece, count), smaller: 'refused' };
    case 'refused':
      return refused(piece, count, refusesWhole ? null : request, answer.complaints);
  }
}

const nothing: Omit<Settlement, 'pieces'> = { rows: [], withoutEffect: null, refusesWhole: false, smaller: null };

function open(piece: Piece): Piece & { created: false } {
  return { ...piece, created: false };
}

function created(piece: Piece, count: number): Settlement {
  const done = { ...piece, rows: count, suspects: null, next: null, created: true };
  const left = piece.rows - count;
  const suspects = piece.suspects === null ? null : piece.suspects - count;
  // One of these was refused before, and now all are there: it was their number, or the service's mood.
  const wasNumber = suspects !== null && suspects <= 0;
  const learnt = {
    ...nothing,
    withoutEffect: piece.origin,
    refusesWhole: piece.sent === 'refused',
    smaller: wasNumber ? ('refused' as const) : null,
  };
  if (left === 0) return { ...learnt, pieces: [done] };
  const rest: Piece = {
    rows: left,
    sent: 'never',
    origin: null,
    suspects: wasNumber ? null : suspects,
    next: piece.next === null || piece.next * 2 >= left ? null : piece.next * 2,
    fruitful: true,
    unknowns: 0,
  };
  return { ...learnt, pieces: [done, open(rest)] };
}

function unknown(piece: Piece, count: number, request: number, kind: 'unknown' | 'unheard'): Settlement {
  const unknowns = piece.unknowns + (kind === 'unknown' ? 1 : 0);
  const isTwice = unknowns >= 2 && count > 1;
  const sent: Piece = {
    rows: count,
    sent: 'unknown',
    origin: request,
    suspects: null,
    next: isTwice ? Math.ceil(count / 2) : piece.next === null ? null : Math.min(piece.next, count),
    fruitful: false,
    unknowns: isTwice ? 0 : unknowns,
  };
  const rest = { ...piece, rows: piece.rows - count, suspects: null, next: null, unknowns: 0 };
  return {
    ...nothing,
    pieces: [open(sent), ...(rest.rows > 0 ? [open(rest)] : [])],
    smaller: isTwice ? 'unanswered' : null,
  };
}

function halves(piece: Piece, count: number): (Piece & { created: false })[] {
  const first = Math.ceil(count / 2);
  const part = (rows: number) => open({ ...piece, rows, suspects: null, next: null });
  return [part(first), part(piece.rows - first)].filter(({ rows }) => rows > 0);
}

/** Returns what is known about rows after a refused request. @param request null: it has certainly created nothing */
function afterRefusal({ sent, origin }: Piece, request: number | null): Pick<Piece, 'sent' | 'origin'> {
  return sent === 'never' && request !== null ? { sent: 'refused', origin: request } : { sent, origin };
}

function refused(piece: Piece, count: number, request: number | null, complaints: Complaints): Settlement {
  const { named, nameless, candidates } = complaints;
  if (named.size > 0) return refusedByRow(piece, count, request, named);
  if (count === 1) return refusedAlone(piece, mainOf(nameless));
  if (complaints.tooMany) return { ...nothing, pieces: halves(piece, count), smaller: 'refused' };
  const [low, high] = candidates;
  if (low !== undefined && high !== undefined) return setApart(piece, { count, request, low, high });
  const areDuplicates = nameless.length > 0 && nameless.every(({ meaning }) => meaning === 'duplicate');
  if (areDuplicates && nameless.length === count) {
    const all = new Map(nameless.map((complaint, index) => [index, [complaint]] as const));
    return refusedByRow(piece, count, request, all);
  }
  // What may be there as a whole is asked row by row; one that is not there after all is created, and more follow it.
  const isProbablyThere = areDuplicates && piece.sent === 'unknown';
  const sent = {
    ...piece,
    ...afterRefusal(piece, request),
    rows: count,
    suspects: isProbablyThere ? null : count,
    next: isProbablyThere ? 1 : null,
    unknowns: 0,
  };
  return { ...nothing, pieces: together(sent, { ...piece, rows: piece.rows - count }) };
}

/** Joins the rest with the sent rows if the same is known about both. */
function together(sent: Piece, rest: Piece): (Piece & { created: false })[] {
  if (rest.rows === 0) return [open(sent)];
  if (sent.sent === rest.sent && sent.origin === rest.origin) {
    return [open({ ...sent, rows: sent.rows + rest.rows, next: sent.next })];
  }
  return [open(sent), open({ ...rest, suspects: null, next: null, unknowns: 0 })];
}

function refusedByRow(
  piece: Piece,
  count: number,
  request: number | null,
  named: ReadonlyMap<number, readonly Complaint[]>,
): Settlement {
  const rows = [...named].map(([index, complaints]) => settleRow(piece, index, mainOf(complaints)));
  const left = count - rows.length;
  const behind = { ...piece, rows: piece.rows - count, suspects: null, next: null, unknowns: 0 };
  if (left === 0) return { ...nothing, rows, pieces: behind.rows > 0 ? [open(behind)] : [] };
  const sent = { ...piece, ...afterRefusal(piece, request), rows: left, suspects: null, next: null, unknowns: 0 };
  return { ...nothing, rows, pieces: together(sent, behind) };
}

function refusedAlone(piece: Piece, complaint: Complaint): Settlement {
  const rows = [settleRow(piece, 0, complaint)];
  const left = piece.rows - 1;
  if (left === 0) return { ...nothing, rows, pieces: [] };
  // Right behind another: this is no odd row among good ones, so the next is asked alone, too.
  const next = piece.fruitful || left === 1 ? null : 1;
  return {
    ...nothing,
    rows,
    pieces: [open({ ...piece, rows: left, suspects: null, next, fruitful: false, unknowns: 0 })],
  };
}

/**
 * Sends two rows apart from the others. The refusal names one of them, depending on whether the service counts from 0 or
 * from 1, and the next refusal shows which.
 */
function setApart(
  piece: Piece,
  { count, request, low, high }: { count: number; request: number | null; low: number; high: number },
): Settlement {
  const known = { ...piece, ...afterRefusal(piece, request), suspects: null, next: null, unknowns: 0 };
  const parts = [low, 1, 1, count - high - 1].map((rows) => open({ ...known, rows }));
  const rest = open({ ...piece, rows: piece.rows - count, suspects: null, next: null, unknowns: 0 });
  return { ...nothing, pieces: [...parts, rest].filter(({ rows }) => rows > 0) };
}

/** A problem of the value takes precedence over complaints about the code. */
function mainOf(complaints: readonly Complaint[]): Complaint {
  return (
    complaints.find(({ meaning }) => meaning === 'value') ??
    complaints.find(({ meaning }) => meaning === 'duplicate') ??
    complaints[0] ?? { field: null, message: null, meaning: 'unclear' }
  );
}

function settleRow(piece: Piece, index: number, { field, message, meaning }: Complaint): SettledRow {
  const { sent, origin } = piece;
  const told = { index, field, message };
  const isReasonless = field === null && message === null;
  if (meaning === 'duplicate' || (meaning === 'unclear' && !isReasonless && sent === 'unknown')) {
    if (sent === 'never') return { ...told, outcome: 'existing', origin: null, sent: null };
    return { ...told, outcome: 'confirmed', origin, sent };
  }
  if (isReasonless && sent !== 'never') return { ...told, outcome: 'unknown', origin, sent };
  return { ...told, outcome: 'rejected', origin: null, sent: null };
}
