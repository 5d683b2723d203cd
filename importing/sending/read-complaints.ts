import type { FieldError } from '../../pigeonhole/api-error.js';

/** The meaning of a complaint about a registrant. */
type Meaning =
  /** The code is taken. */
  | 'duplicate'
  /** The value itself is refused. */
  | 'value'
  /** About the code, in words that say neither. */
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
  /** By place in the request, from 0. */
  readonly named: ReadonlyMap<number, readonly Complaint[]>;
  /** About no row in particular. */
  readonly nameless: readonly Complaint[];
  /** There are too many registrants in the request. */
  readonly tooMany: boolean;
  /** From what the service counts rows, where this refusal shows it or it was known; null: either is possible. */
  readonly indexBase: 0 | 1 | null;
  /** Places that are meant, one or the other, as long as the base is not known. */
  readonly candidates: readonly number[];
}

const duplicateWords =
  /taken|exist|duplic|uniqu|already|in use|registered|twice|vergeben|vorhanden|doppelt|eindeutig|existe|déjà|ya está|única/i;
const valueWords =
  /requir|empty|blank|format|invalid|charact|length|too (long|short)|at (most|least)|must (be|have|not)|may not|string|null/i;
const sizeWords = /at most|maxim|exceed|too (many|large|big|long)|limit|size|more than|fewer|less than/i;

/**
 * Parses the service's complaints. The specification gives an error `field` and `message` and no form for
 * either in a bulk request, so several are read: `data[12].attendeeCode`, `data.12.attendeeCode`, `12.attendeeCode`,
 * `/data/12/attendeeCode`, `registrants[12]`, a message that says `row 12`; and whether rows count from 0 or from 1 is
 * told by what can be. Source: docs/decisions/0025. Pure.
 * @param said the message of the answer itself: most say nothing of registrants, so only a duplicate or a size is heard
 * @param count registrants in the request
 * @param knownBase what an earlier refusal has shown
 */
export function readComplaints(
  errors: readonly FieldError[],
  said: string | null,
  count: number,
  knownBase: 0 | 1 | null,
): Complaints {
  const isTelling = errors.length === 0 && said !== null && (duplicateWords.test(said) || sizeWords.test(said));
  const all = isTelling ? [{ field: '', message: said }] : errors;
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

/** 0 and the count itself are each possible in one way of counting alone; beyond, no row is meant. */
function baseOf(indexes: readonly number[], count: number): 0 | 1 | null {
  if (indexes.some((index) => index > count)) return null;
  const fromZero = indexes.includes(0);
  const fromOne = indexes.includes(count);
  if (fromZero === fromOne) return null;
  return fromZero ? 0 : 1;
}

/** The path of a field: the first number in it is the row's place, what follows it the field. */
function parsePlace(field: string, message: string): { index: number | null; field: string } {
  const steps = field.split(/[.[\]/]+/).filter((step) => step !== '');
  const at = steps.slice(0, 3).findIndex((step) => /^\d{1,7}$/.test(step));
  if (at !== -1) return { index: Number(steps[at]), field: steps.slice(at + 1).join('.') };
  const spoken = /\b(?:row|registrant|item|index|entry|element)\s*#?(\d{1,7})\b/i.exec(message);
  return { index: spoken === null ? null : Number(spoken[1]), field };
}

/** The whole of a request, not something of a registrant. */
function isWhole(field: string): boolean {
  return /^(data|body|registrants|request|)$/i.test(field);
}

/**
 * Recognizes a duplicate by its words, about the code or about no field; a complaint about a profile field is never
 * one. A complaint about the code in unknown words may be a duplicate in another language.
 */
function meaningOf(field: string, message: string): Meaning {
  const isAboutCode = /code|identifier|^id$/i.test(field);
  if (!isAboutCode && !isWhole(field)) return 'value';
  if (duplicateWords.test(message)) return 'duplicate';
  if (valueWords.test(message) || !isAboutCode) return 'value';
  return 'unclear';
}
