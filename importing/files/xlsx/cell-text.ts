import { readLimits } from '../read-limits.js';
import { RegistrantFileError } from '../registrant-file-error.js';

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
