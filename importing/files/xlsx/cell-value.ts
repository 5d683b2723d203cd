import { plainDecimal } from '../plain-decimal.js';
import { type Finding, RegistrantFileError } from '../registrant-file.js';
import { pictured, type NumberForm, serialDate } from './number-format.js';
import type { SharedTexts } from './shared-texts.js';
import { readLimits } from '../read-limits.js';

/** A cell as its XML has it. */
export interface StoredCell {
  /** The attribute `t`: s, str, inlineStr, b, e, d, n, or absent for n. */
  readonly type: string;
  readonly style: number;
  /** What stands in `v`; undefined without one. */
  readonly value: string | undefined;
  /** What stands in `is`. */
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
 * A cell as text: texts as they stand; numbers as the sheet shows them where it is a matter of digits (00123 of a format 00000), else
 * plain, never in scientific notation; dates in ISO form, which is the only case where a number becomes one. A formula is its stored
 * result, and an error where none is stored.
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

/** Gathers a rich text (`si` or `is`) from its events. */
export interface CellText {
  readonly open: (name: string) => void;
  readonly text: (text: string) => void;
  readonly close: (name: string) => void;
  /** The text so far; the next begins. */
  readonly take: () => string;
}

/**
 * Joins what stands in `t`, but for `rPh`, which says how the text is pronounced.
 * @throws {RegistrantFileError} kind `too-large` while a text grows beyond any cell's
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
      `A cell of the XLSX file holds more than ${readLimits.cellLength.toLocaleString('en')} characters; no registrant's does.`,
    );
  }
  return text + more;
}

/** Characters that XML has no room for are written as `_x000D_` (ECMA-376, part 1, 22.9.2.19, ST_Xstring). */
export function unescaped(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_whole, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
