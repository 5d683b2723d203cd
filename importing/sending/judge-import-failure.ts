import type { ApiError, FieldError } from '../../pigeonhole/api-error.js';
import type { Answer } from './settle-answer.js';
import { backoff, judgeFailure } from '../../requests/failures.js';
import { PermitRefusal } from '../../requests/quota-rules.js';

/** The reaction of an import to a failed request. */
export type ImportVerdict =
  /** The answer concerns the rows. */
  | {
      readonly affects: 'rows';
      readonly answer: Answer;
      readonly indexBase: 0 | 1 | null;
      readonly retryInMs: number | null;
    }
  /** No request of the workspace would succeed. */
  | { readonly affects: 'workspace'; readonly reason: 'quota' | 'throttled' | 'credential'; readonly waitMs: number }
  /** The quota has no room for this request now: it was not made. */
  | { readonly affects: 'request'; readonly waitMs: number }
  /** An operator has to act before the import can continue. */
  | { readonly affects: 'import'; readonly cause: string; readonly detail: string };

const remedies: Readonly<Record<string, string>> = {
  registrantsOff:
    'registrants are switched off in this pigeonhole: enable registrant profiles in the dashboard, then resume',
  profilesOff: 'attendee profiles are switched off in this pigeonhole: enable them in the dashboard, then resume',
  pigeonholeNotFound: 'the service no longer has this pigeonhole: check it in the dashboard, then resume or cancel',
};

/**
 * Decides what a failed request of an import means; no other code does. If the request has to wait for the workspace or
 * the quota, it counts as neither made nor failed. If a request may have taken effect, its rows are sent again. Only an
 * answer of the service itself settles a row. Pure.
 * @param before.failures consecutive failures of this import
 * @param before.workspaceWaits consecutive waits of its workspace for the same reason
 * @param clock.now epoch ms; `random` 0 to 1, for jitter
 */
export function judgeImportFailure(
  error: ApiError | PermitRefusal,
  sent: { readonly count: number; readonly indexBase: 0 | 1 | null },
  before: { readonly failures: number; readonly workspaceWaits: number },
  clock: { readonly now: number; readonly random: number },
): ImportVerdict {
  const general = judgeFailure(
    error,
    { streamFailures: before.failures, workspaceWaits: before.workspaceWaits, cursor: null },
    clock,
  );
  if (general.affects === 'workspace' || general.affects === 'request') return general;
  if (error instanceof PermitRefusal) return { affects: 'request', waitMs: error.waitMs };
  const retryInMs = error.retryAfterMs ?? backoff(before.failures, clock.random);
  const rows = (answer: Answer, indexBase: 0 | 1 | null = null): ImportVerdict => ({
    affects: 'rows',
    answer,
    indexBase,
    retryInMs: answer.kind === 'unknown' || answer.kind === 'failed' ? retryInMs : null,
  });
  const { kind } = error;
  switch (kind) {
    case 'invalid': {
      if (error.status === 413) return rows({ kind: 'tooMany' });
      // An answer without the service's error code lost its body or came from a proxy, so it says nothing about the rows.
      if (error.code === null) return rows({ kind: 'unknown' });
      const complaints = readComplaints(
        error.fieldErrors ?? [],
        error.serviceMessage ?? null,
        sent.count,
        sent.indexBase,
      );
      return rows({ kind: 'refused', complaints }, complaints.indexBase);
    }
    case 'protocol': {
      // A success status with a list of errors: the service created some rows and names the others.
      const { fieldErrors = [] } = error;
      if (fieldErrors.length === 0) return rows({ kind: error.mayHaveTakenEffect ? 'unknown' : 'failed' });
      const complaints = readComplaints(fieldErrors, null, sent.count, sent.indexBase);
      return rows({ kind: 'refused', complaints }, complaints.indexBase);
    }
    case 'transient':
      return rows({ kind: error.mayHaveTakenEffect ? 'unknown' : 'failed' });
    case 'aborted':
      return { ...rows({ kind: error.mayHaveTakenEffect ? 'unheard' : 'failed' }), retryInMs: null } as ImportVerdict;
    default: // an operator reads this message; it contains the code, the status and the request ID
      return { affects: 'import', cause: kind, detail: remedies[kind] ?? error.message };
  }
}

/** The meaning of a complaint about a registrant. */
type Meaning =
  /** Another registrant has the code. */
  | 'duplicate'
  /** The service refuses the value itself. */
  | 'value'
  /** It concerns the code, but its words show neither of the other meanings. */
  | 'unclear';

export interface Complaint {
  /** Name of the field without its path; null: the service names none. */
  readonly field: string | null;
  /** The service's words. */
  readonly message: string | null;
  readonly meaning: Meaning;
}

/** The content of a refusal. */
export interface Complaints {
  /** Complaints that name a row, by the row's position in the request, counted from 0. */
  readonly named: ReadonlyMap<number, readonly Complaint[]>;
  /** Complaints that name no row. */
  readonly nameless: readonly Complaint[];
  /** The service refuses the number of registrants in the request. */
  readonly tooMany: boolean;
  /** The number from which the service counts rows, if this or an earlier refusal shows it; null: 0 and 1 are possible. */
  readonly indexBase: 0 | 1 | null;
  /** While `indexBase` is null: the two positions that the first ambiguous row number can mean. Otherwise empty. */
  readonly candidates: readonly number[];
}

const duplicateWords =
  /taken|exist|duplic|uniqu|already|in use|registered|twice|vergeben|vorhanden|doppelt|eindeutig|existe|déjà|ya está|única/i;
const valueWords =
  /requir|empty|blank|format|invalid|charact|length|too (long|short)|at (most|least)|must (be|have|not)|may not|string|null/i;
const sizeWords = /at most|maxim|exceed|too (many|large|big|long)|limit|size|more than|fewer|less than/i;

/**
 * Parses the complaints of a refusal. The specification defines `field` and `message` of an error, but not how a bulk
 * request names a row in them. This function therefore understands several forms: `data[12].attendeeCode`,
 * `data.12.attendeeCode`, `12.attendeeCode`, `/data/12/attendeeCode`, `registrants[12]`, and a message that contains
 * `row 12`. The numbers that occur show whether the service counts rows from 0 or from 1 (see `baseOf`). Source:
 * docs/decisions/0025. Pure.
 * @param said message of the whole answer, used if the answer lists no errors. Most such messages do not concern
 *   registrants, so only one about a duplicate or the size counts
 * @param count registrants in the request
 * @param knownBase the base, if an earlier refusal showed it
 */
export function readComplaints(
  errors: readonly FieldError[],
  said: string | null,
  count: number,
  knownBase: 0 | 1 | null,
): Complaints {
  const concernsRows = errors.length === 0 && said !== null && (duplicateWords.test(said) || sizeWords.test(said));
  const all = concernsRows ? [{ field: '', message: said }] : errors;
  const parsed = all.map(({ field, message }) => ({ ...parsePlace(field, message), message }));
  const indexes = parsed.flatMap(({ index }) => (index === null ? [] : [index]));
  const indexBase = knownBase ?? baseOf(indexes, count);
  const named = new Map<number, Complaint[]>();
  const nameless: Complaint[] = [];
  const candidates: number[] = [];
  let tooMany = false;
  for (const { index, field, message } of parsed) {
    const complaint = { field: field === '' ? null : field, message, meaning: meaningOf(field, message) };
    if (index === null) {
      nameless.push(complaint);
      tooMany ||= isWhole(field) && complaint.meaning !== 'duplicate' && sizeWords.test(message);
    } else if (indexBase !== null && index >= indexBase && index < count + indexBase) {
      named.set(index - indexBase, [...(named.get(index - indexBase) ?? []), complaint]);
    } else {
      nameless.push(complaint);
      if (indexBase === null && candidates.length === 0 && index > 0 && index < count)
        candidates.push(index - 1, index);
    }
  }
  return { named, nameless, tooMany: tooMany && count > 1, indexBase, candidates };
}

/**
 * Returns the number from which the service counts rows; null if the numbers do not show it. Row 0 exists only if it
 * counts from 0, and row `count` only if it counts from 1. A number above `count` is not a row number, so the other
 * numbers may not be row numbers either.
 */
function baseOf(indexes: readonly number[], count: number): 0 | 1 | null {
  if (indexes.some((index) => index > count)) return null;
  const fromZero = indexes.includes(0);
  const fromOne = indexes.includes(count);
  if (fromZero === fromOne) return null;
  return fromZero ? 0 : 1;
}

/**
 * Splits the path of a field. The first number among its first three steps is the row's number, and the steps after it
 * name the field. If the path has no number, the message may contain one.
 */
function parsePlace(field: string, message: string): { index: number | null; field: string } {
  const steps = field.split(/[.[\]/]+/).filter((step) => step !== '');
  const at = steps.slice(0, 3).findIndex((step) => /^\d{1,7}$/.test(step));
  if (at !== -1) return { index: Number(steps[at]), field: steps.slice(at + 1).join('.') };
  const spoken = /\b(?:row|registrant|item|index|entry|element)\s*#?(\d{1,7})\b/i.exec(message);
  return { index: spoken === null ? null : Number(spoken[1]), field };
}

/** Whether a field name means the whole request and not a field of a registrant. */
function isWhole(field: string): boolean {
  return /^(data|body|registrants|request|)$/i.test(field);
}

/**
 * Returns what a complaint means. A complaint about the code, or about no field, is a duplicate if its words say so. A
 * complaint about a profile field never is. A complaint about the code in unknown words is `unclear`, because it may
 * report a duplicate in another language.
 */
function meaningOf(field: string, message: string): Meaning {
  const isAboutCode = /code|identifier|^id$/i.test(field);
  if (!isAboutCode && !isWhole(field)) return 'value';
  if (duplicateWords.test(message)) return 'duplicate';
  if (valueWords.test(message) || !isAboutCode) return 'value';
  return 'unclear';
}
