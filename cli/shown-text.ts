/**
 * Characters that a terminal obeys, or that turn the order of letters around: C0 and C1 controls, DEL, bidirectional
 * controls, and separators that end a line.
 */
const unsafe = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** The colours and weights that this program prints itself: with them nothing can be hidden or moved. */
const ownStyle = /^\u001b\[(?:1|2|22|31|32|33|39)m/;

/**
 * Returns a text as it may reach a terminal. What the audience, a vendor or a file wrote can hold any character. Each that
 * a terminal would obey becomes an escape such as `\u009b`, which says what it was and which JSON reads as the same text.
 * Line ends and tabs stay.
 */
export function shownText(text: string, { colours }: { readonly colours: boolean }): string {
  return text.replace(unsafe, (character, position: number) => {
    if (character === '\n' || character === '\t') return character;
    if (character === '\r' && text[position + 1] === '\n') return character;
    if (colours && ownStyle.test(text.slice(position, position + 5))) return character;
    return `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`;
  });
}

/** More marks than any language puts on one letter: a stack of them paints over the lines above and below. */
const stackedMarks = /(\p{M}{4})\p{M}+/gu;

/**
 * Returns a text for a line that is drawn in place: as wide as it was, with blanks for what a terminal would obey, and
 * a replacement character for half a surrogate pair.
 */
export function shownInLine(text: string): string {
  return text
    .replace(/\p{Cs}/gu, '\ufffd')
    .replace(unsafe, ' ')
    .replace(stackedMarks, '$1');
}
