/** A record of a CSV text: a row of the table, which may span several lines. */
export type CsvRecord =
  /** The text ends before the record does. */
  | { readonly kind: 'incomplete' }
  | {
      readonly kind: 'whole';
      readonly values: readonly string[];
      /** Whether a cell without quotation marks around it holds one too many, or an escaped one. */
      readonly hasStrayQuote: boolean;
      /** Whether a cell holds a line end. */
      readonly isSpread: boolean;
      readonly areAllQuoted: boolean;
      /** Whether a line end follows it. */
      readonly isTerminated: boolean;
      /** Start of the next record. */
      readonly next: number;
    }
  /** A cell that starts with a quotation mark does not end with one. */
  | { readonly kind: 'broken'; readonly next: number };

interface Scan {
  readonly delimiter: string;
  /** Whether nothing follows the text. */
  readonly isEnd: boolean;
}

/**
 * Scans the record that starts at a position. A cell is quoted if it starts with a quotation mark, after blanks; then
 * only blanks may stand between the closing mark and the end of the cell. Strict, because a lenient reader takes a mark
 * too many for the start of a cell that ends many people later.
 */
export function scanRecord(text: string, from: number, { delimiter, isEnd }: Scan): CsvRecord {
  const values: string[] = [];
  let hasStrayQuote = false;
  let isSpread = false;
  let areAllQuoted = true;
  let at = from;
  for (;;) {
    const open = afterBlanks(text, at, delimiter);
    if (text[open] === '"') {
      const close = closingQuote(text, open);
      if (close === undefined) return isEnd ? { kind: 'broken', next: text.length } : { kind: 'incomplete' };
      const end = afterBlanks(text, close + 1, delimiter);
      if (end >= text.length && !isEnd) return { kind: 'incomplete' };
      const inside = text.slice(open + 1, close);
      if (end < text.length && !text.startsWith(delimiter, end) && !isLineEnd(text[end])) {
        const lineEnd = findLineEnd(text, end);
        if (lineEnd === undefined && !isEnd) return { kind: 'incomplete' };
        return { kind: 'broken', next: lineEnd?.next ?? text.length };
      }
      values.push(inside.replaceAll('""', '"'));
      if (/[\r\n]/.test(inside)) isSpread = true;
      if (inside.includes('\\"')) hasStrayQuote = true;
      at = end;
    } else {
      areAllQuoted = false;
      const end = endOfPlainCell(text, at, delimiter);
      if (end === text.length && !isEnd) return { kind: 'incomplete' };
      const value = text.slice(at, end);
      values.push(value);
      if (value.includes('"') && (value.includes('\\"') || quotesIn(value) % 2 === 1)) hasStrayQuote = true;
      at = end;
    }
    if (text.startsWith(delimiter, at) && at < text.length) {
      at += delimiter.length;
      continue;
    }
    if (text[at] === '\r' && at + 1 === text.length && !isEnd) return { kind: 'incomplete' };
    const isTerminated = at < text.length;
    const next = text.startsWith('\r\n', at) ? at + 2 : Math.min(at + 1, text.length);
    return { kind: 'whole', values, hasStrayQuote, isSpread, areAllQuoted, isTerminated, next };
  }
}

/** Position after blanks, which are text only in cells without quotation marks. */
function afterBlanks(text: string, from: number, delimiter: string): number {
  let at = from;
  while ((text[at] === ' ' || text[at] === '\t') && text[at] !== delimiter) at++;
  return at;
}

/** Position of the quotation mark that closes a cell; two of them in a row stand for one inside. */
function closingQuote(text: string, open: number): number | undefined {
  let at = open + 1;
  for (;;) {
    const close = text.indexOf('"', at);
    if (close < 0) return undefined;
    if (text[close + 1] !== '"') return close;
    at = close + 2;
  }
}

function endOfPlainCell(text: string, from: number, delimiter: string): number {
  const first = delimiter[0];
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === '\n' || character === '\r') return at;
    if (character === first && text.startsWith(delimiter, at)) return at;
  }
  return text.length;
}

function isLineEnd(character: string | undefined): boolean {
  return character === '\n' || character === '\r';
}

/** Returns where the line ends and the next one starts; undefined: the text ends first. */
function findLineEnd(text: string, from: number): { readonly end: number; readonly next: number } | undefined {
  for (let at = from; at < text.length; at++) {
    if (text[at] === '\n') return { end: at, next: at + 1 };
    if (text[at] === '\r') return { end: at, next: text[at + 1] === '\n' ? at + 2 : at + 1 };
  }
  return undefined;
}

/** A line of the text that is read as a row of its own. */
export interface CsvLine {
  readonly text: string;
  readonly isTerminated: boolean;
  readonly next: number;
}

/** Returns the line at a position; undefined: the text ends first, and more may follow. */
export function lineAt(text: string, from: number, isEnd: boolean): CsvLine | undefined {
  const found = findLineEnd(text, from);
  if (found === undefined)
    return isEnd ? { text: text.slice(from), isTerminated: false, next: text.length } : undefined;
  if (found.end + 1 === text.length && text[found.end] === '\r' && !isEnd) return undefined;
  return { text: text.slice(from, found.end), isTerminated: true, next: found.next };
}

/** Returns the whole lines of a part of a text. */
export function linesOf(part: string): string[] {
  return part.split(/\r\n|\n|\r/);
}

export function quotesIn(text: string): number {
  return text.split('"').length - 1;
}

/** Returns the cells of a line as if no quotation mark had a meaning. */
export function plainCells(line: string, delimiter: string): string[] {
  return line.split(delimiter);
}

/**
 * Whether a line reads like another row of the table: as many cells, none of which starts with a blank as prose does
 * after a comma, and a first cell of the same form, such as C-2 after C-1.
 */
export function looksLikeRow(cells: readonly string[], first: readonly string[], width: number): boolean {
  if (cells.length !== width) return false;
  if (cells.slice(1).some((cell) => /^\s+\S/.test(cell)) && !first.slice(1).some((cell) => /^\s+\S/.test(cell)))
    return false;
  const form = formOf(cells[0]!);
  return form === formOf(first[0]!) && form !== '' && (width > 2 || form.includes('9'));
}

/** Reduces a cell to its form: 9 for digits, A for letters, other characters as they are. */
export function formOf(cell: string): string {
  return cell
    .replace(/["\s]/g, '')
    .replace(/\p{N}+/gu, '9')
    .replace(/\p{L}+/gu, 'A');
}
