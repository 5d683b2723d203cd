import { plainDecimal } from '../plain-decimal.js';
import { type Finding, RegistrantFileError, readLimits } from '../registrant-file.js';
import { isoDate, pictured, type NumberForm, serialDate } from './number-format.js';
import { readXml, truth } from './xml-events.js';

/** A cell as in its XML. */
interface StoredCell {
  /** The attribute `t`: s, str, inlineStr, b, e, d, n, or absent for n. */
  readonly type: string;
  readonly style: number;
  /** Content of `v`; undefined if there is none. */
  readonly value: string | undefined;
  /** Content of `is`. */
  readonly inline: string;
  readonly formula: boolean;
}

export interface WorkbookValues {
  readonly texts: SharedTexts;
  readonly styles: readonly NumberForm[];
  readonly from1904: boolean;
  /** Whether the workbook says that its formulas are to be calculated when it is opened. */
  readonly calculatesOnLoad: boolean;
}

interface CellValue {
  readonly text: string;
  readonly finding?: Finding['kind'];
}

const nothing: CellValue = { text: '' };
const error: CellValue = { text: '', finding: 'error-cell' };

/**
 * Returns a cell as text: texts unchanged; numbers with the digits of their format (00123 for 00000), otherwise plain
 * and never in scientific notation; dates in ISO form. A formula is its stored result, with a finding if the result is
 * missing or may not be one.
 */
export function cellValue(cell: StoredCell, workbook: WorkbookValues): CellValue {
  if (!cell.formula) return storedValue(cell, workbook);
  const isEmpty = cell.value === undefined || cell.value.trim() === '';
  if (cell.type === 'inlineStr' ? cell.inline === '' : isEmpty && (cell.value === undefined || cell.type !== 'str')) {
    return { text: '', finding: 'no-result' };
  }
  const result = storedValue(cell, workbook);
  if (result.finding !== undefined && result.finding !== 'date-cell') return result;
  // Programs that cannot calculate store 0 or nothing, and say that the workbook is to be calculated.
  const isZero = isEmpty || (!['s', 'b', 'd', 'inlineStr'].includes(cell.type) && Number(cell.value) === 0);
  if (workbook.calculatesOnLoad) return { ...result, finding: isZero ? 'not-calculated' : 'calculated-on-load' };
  return isZero && !isEmpty ? { ...result, finding: 'zero-result' } : result;
}

function storedValue(cell: StoredCell, { texts, styles, from1904 }: WorkbookValues): CellValue {
  const { type, value } = cell;
  const form = styles[cell.style] ?? { kind: 'plain' };
  switch (type) {
    case 's': {
      const text = value === undefined || value.trim() === '' ? '' : texts.at(Number(value));
      return text === undefined ? error : { text };
    }
    case 'inlineStr':
      return { text: cell.inline };
    case 'str':
      return { text: unescaped(value ?? '') };
    case 'b':
      return { text: truth(value) ? 'TRUE' : 'FALSE' };
    case 'e':
      return error;
    case 'd':
      return isoValue(value ?? '', form);
    default:
      if (value === undefined || value.trim() === '') return nothing;
      return numberText(Number(value), form, from1904);
  }
}

/** Returns a date of a strict document, which is ISO 8601 text, in the form that all dates have here. */
function isoValue(stored: string, form: NumberForm): CellValue {
  const text = stored.trim();
  if (text === '') return nothing;
  return { text: isoDate(text, form) ?? text, finding: 'date-cell' };
}

function numberText(value: number, form: NumberForm, from1904: boolean): CellValue {
  if (!Number.isFinite(value)) return error;
  if (form.kind === 'date') {
    const text = serialDate(value, form, from1904);
    if (text !== undefined) return { text, finding: 'date-cell' };
  }
  const { text, digitsLost } = plainDecimal(value);
  if (digitsLost) return { text, finding: 'digits-lost' };
  return form.kind === 'picture' && /^\d+$/.test(text) ? { text: pictured(Number(text), form.picture) } : { text };
}

/** Collects a rich text (`si` or `is`) from XML events. */
interface CellText {
  readonly open: (name: string) => void;
  readonly text: (text: string) => void;
  readonly close: (name: string) => void;
  /** Returns the text and starts the next. */
  readonly take: () => string;
}

/**
 * Joins the `t` elements, except in `rPh`, which holds the pronunciation.
 * @throws {RegistrantFileError} kind `too-large` if a text is longer than a cell allows
 */
export function cellText(): CellText {
  let gathered = '';
  let within = false;
  let pronounced = false;
  return {
    open: (name) => {
      if (name === 't') within = !pronounced;
      else if (name === 'rPh') pronounced = true;
    },
    text: (text) => {
      if (within) gathered = appended(gathered, text);
    },
    close: (name) => {
      if (name === 't') within = false;
      else if (name === 'rPh') pronounced = false;
    },
    take: () => {
      const whole = unescaped(gathered);
      gathered = '';
      return whole;
    },
  };
}

/** @throws {RegistrantFileError} kind `too-large` */
export function appended(text: string, more: string): string {
  if (text.length + more.length > readLimits.cellLength) {
    throw new RegistrantFileError(
      'too-large',
      `A cell of the XLSX file holds more than ${readLimits.cellLength.toLocaleString('en')} characters; shorten it, Excel allows no more.`,
    );
  }
  return text + more;
}

/** Decodes characters that XML cannot contain, written as `_x000D_` (ECMA-376, part 1, 22.9.2.19, ST_Xstring). */
function unescaped(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_whole, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

/**
 * The shared strings of an XLSX file, packed as UTF-8: JavaScript strings would take several times the memory.
 */
export class SharedTexts {
  #bytes = Buffer.alloc(64 * 1024);
  /** End of each text in `#bytes`; each starts where the previous one ends. */
  #ends = new Uint32Array(1024);
  #count = 0;

  /** @param maxBytes total size of all texts */
  constructor(private readonly maxBytes: number = readLimits.sharedTextBytes) {}

  /** @throws {RegistrantFileError} kind `too-large` if all texts need too much memory */
  add(text: string): void {
    const start = this.#startOf(this.#count);
    const end = start + Buffer.byteLength(text);
    if (this.#count >= readLimits.sharedTexts || end > this.maxBytes) throw tooMuchText();
    if (end > this.#bytes.length) {
      this.#bytes = Buffer.concat([this.#bytes], Math.min(this.maxBytes, Math.max(end, 2 * this.#bytes.length)));
    }
    if (this.#count === this.#ends.length) {
      const ends = new Uint32Array(2 * this.#count);
      ends.set(this.#ends);
      this.#ends = ends;
    }
    this.#bytes.write(text, start);
    this.#ends[this.#count] = end;
    this.#count++;
  }

  /** Returns a text by its index; undefined if there is none. */
  at(index: number): string | undefined {
    if (!(index >= 0 && index < this.#count)) return undefined;
    return this.#bytes.toString('utf8', this.#startOf(index), this.#ends[index]);
  }

  #startOf(index: number): number {
    return index === 0 ? 0 : this.#ends[index - 1]!;
  }
}

function tooMuchText(): RegistrantFileError {
  return new RegistrantFileError(
    'too-large',
    'The XLSX file holds more text than can be kept in memory; save the sheet as CSV, which has no such limit.',
  );
}

/** Reads `sharedStrings.xml`: joins the runs of a formatted text and skips pronunciation hints. */
export async function readSharedTexts(content: AsyncIterable<Buffer> | undefined): Promise<SharedTexts> {
  const texts = new SharedTexts();
  if (content === undefined) return texts;
  const text = cellText();
  await readXml(content, {
    open: text.open,
    text: text.text,
    close: (name) => {
      text.close(name);
      if (name === 'si') texts.add(text.take());
    },
  });
  return texts;
}
