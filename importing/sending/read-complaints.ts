import type { FieldError } from '../../pigeonhole/api-error.js';

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
 * `row 12`. Which numbers occur shows whether the service counts rows from 0 or from 1 (see `baseOf`). Source:
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
 * counts from 0, and row `count` only if it counts from 1. A number above `count` is no row number, so the others may be
 * none either.
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
