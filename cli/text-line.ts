import { randomInt } from 'node:crypto';
import { styleText } from 'node:util';

/**
 * Characters that control a terminal or change the order of letters: C0 and C1 controls, DEL, bidirectional controls,
 * and line and paragraph separators.
 */
const unsafe = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/**
 * Precedes each colour that this program prints. A text from outside cannot contain it, because the number is random in
 * each process. A terminal that receives it ignores it.
 */
const ownMark = `\u001b[${randomInt(2 ** 47)}m`;

/** Colours and weights of this program with their marks. They cannot hide or move text. */
const ownStyle = new RegExp(`${ownMark.replace('[', '\\[')}(\u001b\\[(?:1|2|22|31|32|33|39)m)`);

/**
 * Returns a text that is safe for a terminal. Texts of attendees, vendors and files may contain any character. Replaces
 * control characters by escapes such as `\u009b`, which JSON parses to the same text. Line ends and tabs stay.
 * @param how.colours keeps the colours of `paint` and `renderLine`, and no others
 */
export function shownText(text: string, { colours }: { readonly colours: boolean }): string {
  return shown(text, colours, /[\n\t]|\r(?=\n)/y);
}

/** Works like `shownText` for a single line: escapes line ends as well, so that a text cannot look like another line. */
export function shownLine(text: string, { colours }: { readonly colours: boolean }): string {
  return shown(text, colours, /\t/y);
}

function shown(text: string, colours: boolean, kept: RegExp): string {
  const escaped = (part: string): string =>
    part.replace(unsafe, (character, position: number) => {
      kept.lastIndex = position;
      return kept.test(part) ? character : `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`;
    });
  // `split` returns the texts at even positions, and the colours between them at odd ones.
  const parts = text.split(ownStyle);
  return parts.map((part, at) => (at % 2 === 0 ? escaped(part) : colours ? part : '')).join('');
}

/**
 * Matches more combining marks than any language puts on a letter. A stack of them would cover the lines above and
 * below.
 */
const stackedMarks = /(\p{M}{4})\p{M}+/gu;

/**
 * Returns a text of the same width for a line that is drawn in place: control characters become spaces, lone surrogates
 * become replacement characters.
 */
export function shownInLine(text: string): string {
  return text
    .replace(/\p{Cs}/gu, '\ufffd')
    .replace(unsafe, ' ')
    .replace(stackedMarks, '$1');
}

export type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red';

/** A piece of a line with its colour. */
export interface Span {
  readonly text: string;
  readonly style?: Style | undefined;
  /** The line is never cut: the terminal wraps it. For a link, which does not work without its end. */
  readonly isWhole?: boolean;
}

export type TextLine = readonly Span[];

export function span(text: string, style?: Style): Span {
  return { text, style };
}

/** Returns a span whose line is never cut. */
export function wholeSpan(text: string): Span {
  return { text, isWhole: true };
}

/** Returns the number of rows that the terminal adds by wrapping lines that are never cut. Pure. */
export function extraRows(lines: readonly TextLine[], columns: number): number {
  const whole = lines.filter((line) => line.some(({ isWhole }) => isWhole));
  const widths = whole.map((line) => line.reduce((width, { text }) => width + widthOf(text), 0));
  return widths.reduce((rows, width) => rows + Math.max(1, Math.ceil(width / columns)) - 1, 0);
}

/** Renders a line: never wider than `columns`, with an ellipsis where text was cut, unless a span is whole. Pure. */
export function renderLine(line: TextLine, { columns, colours }: { columns: number; colours: boolean }): string {
  const spans = line.map(({ text, style }) => ({ text: shownInLine(text), style }));
  const isCut =
    !line.some(({ isWhole }) => isWhole) && spans.reduce((width, { text }) => width + widthOf(text), 0) > columns;
  let room = columns;
  let rendered = '';
  for (const { text, style } of spans) {
    const cut = isCut && widthOf(text) >= room ? cutBefore(text, room) : text;
    room -= widthOf(cut);
    rendered += cut.trim() === '' ? cut : paint(cut, style, colours);
    if (room <= 0 || cut !== text) break;
  }
  return rendered.trimEnd();
}

/** Returns a text in a colour, for `shownText`; unchanged without colours. */
export function paint(text: string, style: Style | undefined, colours: boolean): string {
  if (!colours || style === undefined) return text;
  const [begin, end] = styleText(style, '\0', { validateStream: false }).split('\0');
  return `${ownMark}${begin}${text}${ownMark}${end}`;
}

/**
 * Characters that a terminal draws two columns wide: East Asian Wide and Fullwidth of Unicode Standard Annex 11, and
 * characters with an emoji presentation by default.
 */
const wide =
  /[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u;

/** Combining marks and invisible format characters, which take no column. */
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

/** Returns the beginning of a text that fits into `columns`, with an ellipsis as its last character if it was cut. */
export function cutToWidth(text: string, columns: number): string {
  return widthOf(text) <= columns ? text : cutBefore(text, columns);
}

/** Works like `cutToWidth` for a text that is followed by more: ends with an ellipsis even if it fits exactly. */
function cutBefore(text: string, columns: number): string {
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

/** Returns the end of a text that fits into `columns`, for paths and addresses. */
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

/** Returns a cell of a table: cut to `columns`, then padded with spaces on the right. */
export function cell(text: string, columns: number): string {
  const cut = cutToWidth(text, columns);
  return `${cut}${' '.repeat(Math.max(0, columns - widthOf(cut)))}`;
}

/**
 * Formats rows as columns of equal width, two spaces apart. Columns that the first row does not have are not aligned.
 * Pure.
 * @param right positions of the columns that are aligned on the right, for numbers
 */
export function tableLines(rows: readonly (readonly string[])[], right: readonly number[] = []): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const aligned = (text: string, column: number): string =>
    right.includes(column) ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0);
  return rows.map((row) => row.map(aligned).join('  ').trimEnd());
}

/**
 * Wraps a text into lines of at most `columns`, between words. The first line starts with `lead`, the others with
 * spaces of the same width, or `indent` spaces. A word longer than a line gets its own line. Control characters become
 * spaces. Pure.
 */
export function wrapText(
  text: string,
  { columns, lead = '', indent = lead.length }: { columns: number; lead?: string; indent?: number },
): string[] {
  const words = shownInLine(text)
    .split(' ')
    .filter((word) => word !== '');
  const lines: string[] = [];
  let line = lead;
  let isEmpty = true;
  for (const word of words) {
    const longer = isEmpty ? `${line}${word}` : `${line} ${word}`;
    if (widthOf(longer) > columns && !isEmpty) {
      lines.push(line);
      line = `${' '.repeat(indent)}${word}`;
    } else line = longer;
    isEmpty = false;
  }
  return [...lines, line.trimEnd()];
}

/** Wraps a text as `wrapText` does, in one colour. Pure. */
export function wrapLines(text: string, style: Style | undefined, how: Parameters<typeof wrapText>[1]): TextLine[] {
  return wrapText(text, how).map((line) => [span(line, style)]);
}

/**
 * Wraps facts after a label, separated by commas. Later lines are indented to the first fact, or a little if the label
 * takes a third of the width. A fact that is longer than a line is broken between words. Returns no lines without
 * facts. Pure.
 */
export function wrapFacts(label: string, facts: readonly string[], columns: number, style?: Style): TextLine[] {
  const indent = label.length > columns / 3 ? 4 : label.length;
  const lines: string[] = [];
  for (const fact of facts) {
    const last = lines.at(-1);
    const room = columns - (lines.length === 1 ? label.length : indent);
    if (last === undefined) lines.push(fact);
    else if (last.length + ', '.length + fact.length + ','.length <= room) lines[lines.length - 1] = `${last}, ${fact}`;
    else {
      lines[lines.length - 1] = `${last},`;
      lines.push(fact);
    }
  }
  const broken = lines.flatMap((line, index) =>
    wrapText(line, { columns: columns - (index === 0 ? label.length : indent), indent: 0 }),
  );
  return broken.map((line, index) => [
    span(index === 0 ? label : ' '.repeat(indent), style ?? 'dim'),
    span(line, style),
  ]);
}
