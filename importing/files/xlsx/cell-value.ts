import { plainDecimal } from '../plain-decimal.js';
import { type Finding, RegistrantFileError } from '../registrant-file.js';
import { pictured, type NumberForm, serialDate } from './number-format.js';
import type { SharedTexts } from './shared-texts.js';
import { readLimits } from '../read-limits.js';

/** A cell as in its XML. */
export interface StoredCell {
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
}

export interface CellValue {
  readonly text: string;
  readonly finding?: Finding['kind'];
}

const nothing: CellValue = { text: '' };
const error: CellValue = { text: '', finding: 'error-cell' };

/**
 * Returns a cell as text: texts unchanged; numbers with the digits of their format (00123 for 00000), otherwise plain
 * and never in scientific notation; dates in ISO form. A formula is its stored result, or an error if none is stored.
 */
export function cellValue(cell: StoredCell, { texts, styles, from1904 }: WorkbookValues): CellValue {
  const { type, value } = cell;
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
      return { text: value?.trim() === '1' || value?.trim() === 'true' ? 'TRUE' : 'FALSE' };
    case 'e':
      return error;
    case 'd':
      return { text: (value ?? '').trim(), finding: 'date-cell' };
    default:
      if (value === undefined || value.trim() === '') return cell.formula ? error : nothing;
      return numberText(Number(value), styles[cell.style] ?? { kind: 'plain' }, from1904);
  }
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
export interface CellText {
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
export function unescaped(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_whole, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
