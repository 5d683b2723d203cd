/**
 * A character that a terminal draws two columns wide: East Asian Wide and Fullwidth of Unicode Standard Annex 11, and
 * characters that are emoji by default.
 */
const wide =
  /[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u;

/** Combining marks and invisible format characters, which take no column of their own. */
const zero = /[\p{Mn}\p{Me}\p{Cf}]/u;

const plain = /^[\u0020-\u007e]*$/;

/** Returns the number of columns that a text takes on a terminal. Expects a text without control characters. */
export function widthOf(text: string): number {
  if (plain.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOfCharacter(character);
  return width;
}

function widthOfCharacter(character: string): number {
  if (zero.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}

/** Returns the beginning of a text that fits into `columns`, with an ellipsis as its last character where it was cut. */
export function cutToWidth(text: string, columns: number): string {
  return widthOf(text) <= columns ? text : cutBefore(text, columns);
}

/** As `cutToWidth` for a text that is followed by more: it ends with an ellipsis also where it fits exactly. */
export function cutBefore(text: string, columns: number): string {
  if (columns <= 0) return '';
  let room = columns - 1;
  let kept = '';
  for (const character of text) {
    room -= widthOfCharacter(character);
    if (room < 0) break;
    kept += character;
  }
  return `${kept}…`;
}

/** Returns the end of a text that fits into `columns`: of a path or an address the end says most. */
export function keepEnd(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let room = columns - 1;
  let kept = '';
  for (const character of Array.from(text).toReversed()) {
    room -= widthOfCharacter(character);
    if (room < 0) break;
    kept = `${character}${kept}`;
  }
  return `…${kept}`;
}

/** Returns a cell of a table: cut to `columns`, then filled with blanks on the right. */
export function cell(text: string, columns: number): string {
  const cut = cutToWidth(text, columns);
  return `${cut}${' '.repeat(Math.max(0, columns - widthOf(cut)))}`;
}
