/**
 * Characters that control a terminal or change the order of letters: C0 and C1 controls, DEL, bidirectional controls,
 * and line and paragraph separators.
 */
const unsafe = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** Colours and weights that this program prints. They cannot hide or move text. */
const ownStyle = /^\u001b\[(?:1|2|22|31|32|33|39)m/;

/**
 * Returns a text that is safe for a terminal. Texts of attendees, vendors and files may contain any character. Replaces
 * control characters by escapes such as `\u009b`, which JSON parses to the same text. Line ends and tabs stay.
 */
export function shownText(text: string, { colours }: { readonly colours: boolean }): string {
  return text.replace(unsafe, (character, position: number) => {
    if (character === '\n' || character === '\t') return character;
    if (character === '\r' && text[position + 1] === '\n') return character;
    if (colours && ownStyle.test(text.slice(position, position + 5))) return character;
    return `\\u${character.codePointAt(0)!.toString(16).padStart(4, '0')}`;
  });
}

/** More combining marks than any language puts on a letter: a stack of them would cover the lines above and below. */
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
