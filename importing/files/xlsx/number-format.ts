import { RegistrantFileError, readLimits } from '../registrant-file.js';
import { readXml } from './xml-events.js';
/** The effect of a number format. */
export type NumberForm =
  | { readonly kind: 'plain' }
  | ({ readonly kind: 'date' } & ShownParts)
  /** Whole numbers are shown with a picture, such as 00000 or 000-00-0000. */
  | { readonly kind: 'picture'; readonly picture: readonly PictureToken[] };

/** Parts of an instant that a format shows. */
interface ShownParts {
  readonly date: boolean;
  readonly time: boolean;
  /** Whether it shows a duration, as `[h]:mm` does: 36:00 where `h:mm` shows 12:00. */
  readonly elapsed?: boolean;
}

type PictureToken = { readonly digit: '0' | '#' } | { readonly literal: string };

const plain: NumberForm = { kind: 'plain' };

/**
 * Returns the effect of a built-in format, which files name only by number. Dates are 14 to 22 and 45 to 47, and in
 * East Asia 27 to 36 and 50 to 58. Source: ECMA-376, part 1, 18.8.30.
 */
export function builtInForm(id: number): NumberForm {
  if (
    (id >= 14 && id <= 17) ||
    (id >= 27 && id <= 31) ||
    id === 36 ||
    (id >= 50 && id <= 54) ||
    id === 57 ||
    id === 58
  ) {
    return { kind: 'date', date: true, time: false };
  }
  if (id === 22) return { kind: 'date', date: true, time: true };
  if (id === 46) return { kind: 'date', date: false, time: true, elapsed: true };
  if ((id >= 18 && id <= 21) || (id >= 32 && id <= 35) || (id >= 45 && id <= 47) || id === 55 || id === 56) {
    return { kind: 'date', date: false, time: true };
  }
  return plain;
}

/**
 * Returns the effect of a format code such as `00000` or `dd.mm.yyyy hh:mm`, by its section for positive numbers.
 * Percentages, fractions and currencies are plain, because only their number matters.
 */
export function formOf(code: string): NumberForm {
  const tokens = firstSection(code);
  if (tokens === undefined) return plain;
  const bare = tokens.map((token) => ('bare' in token ? token.bare.replace('[', '') : '')).join('');
  if (/general/i.test(bare)) return plain;
  const letters = bare.replace(/AM\/PM|A\/P/gi, '').toLowerCase();
  if (/[ydhsm]/.test(letters)) {
    const elapsed = tokens.some((token) => 'bare' in token && token.bare.startsWith('['));
    const time = elapsed || /[hs]/.test(letters);
    const date = /[yd]/.test(letters) || !time;
    return { kind: 'date', date, time, ...(elapsed && !date && { elapsed }) };
  }
  if (!/0/.test(bare) || /[^0#() :+-]/.test(bare)) return plain;
  return {
    kind: 'picture',
    picture: tokens.flatMap((token): PictureToken[] =>
      'bare' in token
        ? token.bare
            .split('')
            .map((character) =>
              character === '0' || character === '#' ? { digit: character } : { literal: character },
            )
        : [{ literal: token.literal }],
    ),
  };
}

/** Formats a whole number with a picture: digits fill it from the right, and extra digits precede the first place. */
export function pictured(value: number, picture: readonly PictureToken[]): string {
  const digits = value === 0 ? [] : String(value).split('');
  const firstPlace = picture.findIndex((token) => 'digit' in token);
  let shown = '';
  for (let at = picture.length - 1; at >= 0; at--) {
    const token = picture[at]!;
    if ('literal' in token) shown = token.literal + shown;
    else if (at === firstPlace && digits.length > 1) shown = digits.splice(0).join('') + shown;
    else shown = (digits.pop() ?? (token.digit === '0' ? '0' : '')) + shown;
  }
  return shown;
}

type Token = { readonly bare: string } | { readonly literal: string };

/** Returns the tokens up to the first `;`; undefined if a condition selects the section. */
function firstSection(code: string): Token[] | undefined {
  const tokens: Token[] = [];
  for (let at = 0; at < code.length; at++) {
    const character = code[at]!;
    if (character === ';') break;
    if (character === '"') {
      const end = code.indexOf('"', at + 1);
      tokens.push({ literal: code.slice(at + 1, end < 0 ? undefined : end) });
      at = end < 0 ? code.length : end;
    } else if (character === '\\') {
      tokens.push({ literal: code[++at] ?? '' });
    } else if (character === '_' || character === '*') {
      at++; // padding or filling, which is not text
    } else if (character === '[') {
      const end = code.indexOf(']', at);
      const inside = code.slice(at + 1, end < 0 ? undefined : end);
      if (/^[<>=]/.test(inside)) return undefined;
      if (/^(h+|m+|s+)$/i.test(inside)) tokens.push({ bare: `[${inside}` }); // elapsed time
      at = end < 0 ? code.length : end;
    } else tokens.push({ bare: character });
  }
  return tokens;
}

const secondsADay = 86_400;
/** 9999-12-31, the last day that Excel shows. */
const lastDay = 2_958_465;

/** Excel accepts a typed duration up to 9999:59:59; a longer one is an instant in the format of a duration. */
const longestDuration = 10_000 * 3600;

/**
 * Formats a spreadsheet's date number in ISO form, with the parts that the cell shows: `2026-11-21`,
 * `2026-11-21T09:30:00`, or `09:30:00` (a duration may have more than 24 hours). It has no offset, because spreadsheets
 * have none. Undefined: Excel shows no date.
 *
 * Day 1 is 1900-01-01, and day 60 is 29 February 1900, which did not exist: Excel repeats an error of Lotus 1-2-3.
 */
export function serialDate(serial: number, shows: ShownParts, from1904: boolean): string | undefined {
  const seconds = Math.round(serial * secondsADay);
  if (seconds < 0 || seconds >= (lastDay + 1) * secondsADay) return undefined;
  if (shows.elapsed === true && seconds < longestDuration) return clock(seconds);
  if (!shows.date && shows.elapsed !== true) return clock(seconds % secondsADay);
  const day = Math.floor(seconds / secondsADay);
  if (day === 0 && !from1904) return clock(seconds); // no day has this number: Excel shows 0 January 1900
  const date = from1904 ? calendar(Date.UTC(1904, 0, 1), day) : dateFrom1900(day);
  return shows.time ? `${date}T${clock(seconds % secondsADay)}` : date;
}

const isoInstant = /^(\d{4}-\d\d-\d\d)?(?:(?:^|T| )(\d\d):(\d\d)(?::(\d\d(?:\.\d+)?))?Z?)?$/;
const isoDuration = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;

/**
 * Formats the ISO 8601 text of a strict document as `serialDate` formats a number: with the parts that the cell shows,
 * rounded to seconds, and a duration as a clock. Undefined: it has another form, such as one with an offset.
 */
export function isoDate(text: string, form: NumberForm): string | undefined {
  const [period, days = 0, hours = 0, minutes = 0, seconds = 0] = isoDuration.exec(text) ?? [];
  if (period !== undefined && period.length > 1 && !period.endsWith('T')) {
    return clock(
      Math.round(Number(days) * secondsADay + Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)),
    );
  }
  const [instant, day, hour, minute = 0, second = 0] = isoInstant.exec(text) ?? [];
  if (instant === undefined || instant === '') return undefined;
  const secondsOfDay = Math.round(Number(hour ?? 0) * 3600 + Number(minute) * 60 + Number(second));
  if (day === undefined) return clock(secondsOfDay);
  const at = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(at)) return undefined;
  const shows: ShownParts = form.kind === 'date' ? form : { date: true, time: hour !== undefined };
  if (!shows.date && shows.elapsed !== true) return clock(secondsOfDay % secondsADay);
  const date = calendar(at, Math.floor(secondsOfDay / secondsADay));
  return shows.time ? `${date}T${clock(secondsOfDay % secondsADay)}` : date;
}

function dateFrom1900(day: number): string {
  if (day === 60) return '1900-02-29';
  return calendar(Date.UTC(1899, 11, day < 60 ? 31 : 30), day);
}

function calendar(start: number, days: number): string {
  return new Date(start + days * secondsADay * 1000).toISOString().slice(0, 10);
}

function clock(seconds: number): string {
  const two = (number: number) => String(number).padStart(2, '0');
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

/** Reads the number format of each style of a workbook, by the index that cells use. */
export async function readStyles(content: AsyncIterable<Buffer> | undefined): Promise<readonly NumberForm[]> {
  if (content === undefined) return [];
  const own = new Map<number, NumberForm>();
  const styles: NumberForm[] = [];
  let ofCells = false;
  await readXml(content, {
    open: (name, attribute) => {
      if (styles.length >= readLimits.styles || own.size >= readLimits.styles) throw tooMany();
      if (name === 'numFmt') own.set(Number(attribute('numFmtId')), formOf(attribute('formatCode') ?? ''));
      else if (name === 'cellXfs') ofCells = true;
      else if (name === 'xf' && ofCells) {
        const id = Number(attribute('numFmtId') ?? 0);
        styles.push(own.get(id) ?? builtInForm(id)); // numFmts precede cellXfs (18.8.39)
      }
    },
    text: () => undefined,
    close: (name) => {
      if (name === 'cellXfs') ofCells = false;
    },
  });
  return styles;
}

function tooMany(): RegistrantFileError {
  return new RegistrantFileError(
    'too-large',
    `The workbook has more than ${readLimits.styles.toLocaleString('en')} cell styles, more than Excel allows; save the sheet as CSV.`,
  );
}
