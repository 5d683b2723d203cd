import type { Piece } from '../../ledger/imports/chunks.js';
import type { SettledRow } from '../../ledger/imports/rows.js';
import type { Settlement } from '../../ledger/imports/settle-chunk.js';
import type { Complaint, Complaints } from './judge-import-failure.js';

export type Answer =
  | { readonly kind: 'created' }
  /** The service did not answer, and the request may have taken effect. */
  | { readonly kind: 'unknown' }
  /**
   * The answer was not received, because the process crashed or aborted the request. The request may have taken effect,
   * but the missing answer does not show a problem of the service.
   */
  | { readonly kind: 'unheard' }
  /** The request certainly had no effect. Its rows are sent again as if it had not been made. */
  | { readonly kind: 'failed' }
  | { readonly kind: 'tooMany' }
  | { readonly kind: 'refused'; readonly complaints: Complaints };

/** Maximum unanswered requests with the same single row, if the service answers other requests. */
export const maxUnknowns = 6;

/** Returns the number of a piece's first rows to send in the next request: half of the suspected rows, or all. Pure. */
export function countToSend({ rows, suspects, next }: Piece): number {
  if (next !== null) return Math.min(rows, next);
  return suspects === null ? rows : Math.max(1, Math.ceil(Math.min(rows, suspects) / 2));
}

/**
 * Decides, from the answer to a request, the outcomes of rows and the pieces to send next. Pure.
 *
 * If a refusal names rows, those rows get their outcomes, and the rest is sent again. If it names none, a binary search
 * finds the bad row: the first half of the suspected rows is sent. If that half is created, the other half is
 * suspected; if it is refused, the search continues in it. The rows behind the bad one stay in one piece (decision
 * 0025).
 * @param count number of the piece's first rows that were sent
 * @param request the number of that request
 * @param refusesWhole the service is known to create no row of a request that it refuses
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
  // All suspected rows are created now, so no row caused the refusal: their number did, or a temporary fault.
  const noneAtFault = suspects !== null && suspects <= 0;
  const learned = {
    ...nothing,
    withoutEffect: piece.origin,
    refusesWhole: piece.sent === 'refused',
    smaller: noneAtFault ? ('refused' as const) : null,
  };
  if (left === 0) return { ...learned, pieces: [done] };
  const rest: Piece = {
    rows: left,
    sent: 'never',
    origin: null,
    suspects: noneAtFault ? null : suspects,
    next: piece.next === null || piece.next * 2 >= left ? null : piece.next * 2,
    fruitful: true,
    unknowns: 0,
  };
  return { ...learned, pieces: [done, open(rest)] };
}

function unknown(piece: Piece, count: number, request: number, kind: 'unknown' | 'unheard'): Settlement {
  const unknowns = piece.unknowns + (kind === 'unknown' ? 1 : 0);
  const unansweredTwice = unknowns >= 2 && count > 1;
  const sent: Piece = {
    rows: count,
    sent: 'unknown',
    origin: request,
    suspects: null,
    next: unansweredTwice ? Math.ceil(count / 2) : piece.next === null ? null : Math.min(piece.next, count),
    fruitful: false,
    unknowns: unansweredTwice ? 0 : unknowns,
  };
  const rest = { ...piece, rows: piece.rows - count, suspects: null, next: null, unknowns: 0 };
  return {
    ...nothing,
    pieces: [open(sent), ...(rest.rows > 0 ? [open(rest)] : [])],
    smaller: unansweredTwice ? 'unanswered' : null,
  };
}

function halves(piece: Piece, count: number): (Piece & { created: false })[] {
  const first = Math.ceil(count / 2);
  const part = (rows: number) => open({ ...piece, rows, suspects: null, next: null });
  return [part(first), part(piece.rows - first)].filter(({ rows }) => rows > 0);
}

/**
 * Returns which request may have created the rows of a refused request: an earlier one, otherwise the refused one
 * itself.
 * @param request the refused request; null: it certainly created nothing
 */
function afterRefusal({ sent, origin }: Piece, request: number | null): Pick<Piece, 'sent' | 'origin'> {
  return sent === 'never' && request !== null ? { sent: 'refused', origin: request } : { sent, origin };
}

function refused(piece: Piece, count: number, request: number | null, complaints: Complaints): Settlement {
  const { named, nameless, candidates } = complaints;
  if (named.size > 0) return refusedByRow(piece, count, request, named);
  if (count === 1) return refusedAlone(piece, mainOf(nameless));
  if (complaints.tooMany) return { ...nothing, pieces: halves(piece, count), smaller: 'refused' };
  const [low, high] = candidates;
  if (low !== undefined && high !== undefined) return isolateRows(piece, { count, request, low, high });
  const areDuplicates = nameless.length > 0 && nameless.every(({ meaning }) => meaning === 'duplicate');
  if (areDuplicates && nameless.length === count) {
    const all = new Map(nameless.map((complaint, index) => [index, [complaint]] as const));
    return refusedByRow(piece, count, request, all);
  }
  // An unanswered request has probably created all these rows. They are sent one by one, so that each is confirmed. If
  // one is created instead, it was missing, and the next requests grow again (`created`).
  const isProbablyThere = areDuplicates && piece.sent === 'unknown';
  const sent = {
    ...piece,
    ...afterRefusal(piece, request),
    rows: count,
    suspects: isProbablyThere ? null : count,
    next: isProbablyThere ? 1 : null,
    unknowns: 0,
  };
  return { ...nothing, pieces: joinPieces(sent, { ...piece, rows: piece.rows - count }) };
}

/** Returns the sent rows and the rest, as one piece if the same is known about both. */
function joinPieces(sent: Piece, rest: Piece): (Piece & { created: false })[] {
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
  return { ...nothing, rows, pieces: joinPieces(sent, behind) };
}

function refusedAlone(piece: Piece, complaint: Complaint): Settlement {
  const rows = [settleRow(piece, 0, complaint)];
  const left = piece.rows - 1;
  if (left === 0) return { ...nothing, rows, pieces: [] };
  // If no row was created since the last refusal, bad rows may follow each other, so the next row is sent alone.
  const next = piece.fruitful || left === 1 ? null : 1;
  return {
    ...nothing,
    rows,
    pieces: [open({ ...piece, rows: left, suspects: null, next, fruitful: false, unknowns: 0 })],
  };
}

/**
 * Puts each of two rows into a piece of its own. The refusal means one of them, depending on whether the service counts
 * from 0 or from 1, and the next refusal shows which.
 */
function isolateRows(
  piece: Piece,
  { count, request, low, high }: { count: number; request: number | null; low: number; high: number },
): Settlement {
  const known = { ...piece, ...afterRefusal(piece, request), suspects: null, next: null, unknowns: 0 };
  const parts = [low, 1, 1, count - high - 1].map((rows) => open({ ...known, rows }));
  const rest = open({ ...piece, rows: piece.rows - count, suspects: null, next: null, unknowns: 0 });
  return { ...nothing, pieces: [...parts, rest].filter(({ rows }) => rows > 0) };
}

/** Returns the complaint that decides: first one about a profile value, then a duplicate code, then any other. */
function mainOf(complaints: readonly Complaint[]): Complaint {
  return (
    complaints.find(({ meaning }) => meaning === 'value') ??
    complaints.find(({ meaning }) => meaning === 'duplicate') ??
    complaints[0] ?? { field: null, message: null, meaning: 'unclear' }
  );
}

/**
 * Returns the outcome of a refused row. A duplicate existed before, or is confirmed if an earlier request may have
 * created it. After an unanswered request, a complaint about the registrant's code counts as a duplicate even if its
 * wording is not recognized (`unclear`). A refusal
 * without a reason proves nothing if an earlier request may have created the row.
 */
function settleRow(piece: Piece, index: number, { field, message, meaning }: Complaint): SettledRow {
  const { sent, origin } = piece;
  const common = { index, field, message };
  const isReasonless = field === null && message === null;
  if (meaning === 'duplicate' || (meaning === 'unclear' && !isReasonless && sent === 'unknown')) {
    if (sent === 'never') return { ...common, outcome: 'existing', origin: null, sent: null };
    return { ...common, outcome: 'confirmed', origin, sent };
  }
  if (isReasonless && sent !== 'never') return { ...common, outcome: 'unknown', origin, sent };
  return { ...common, outcome: 'rejected', origin: null, sent: null };
}
