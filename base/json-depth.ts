/**
 * Whether the brackets of a JSON text are nested deeper than `levels`. Reads characters only, so that a text can be
 * refused before it is parsed. For a text that is not JSON, the result means nothing.
 */
export function isNestedDeeper(text: string, levels: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text[at]) {
      case '"':
        at = endOfString(text, at);
        break;
      case '[':
      case '{':
        depth += 1;
        if (depth > levels) return true;
        break;
      case ']':
      case '}':
        depth -= 1;
        break;
    }
  }
  return false;
}

/** Returns the position of the closing quote, or the end of the text if there is none. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
  return text.length;
}
