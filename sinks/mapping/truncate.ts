const characters = new Intl.Segmenter('und', { granularity: 'grapheme' });

/**
 * A text of at most `longest` UTF-16 units, cut between two characters as people see them: an emoji with its skin tone
 * or a letter with its accents stays whole or goes. By UTF-16 units no vendor's count comes out higher, whether it counts
 * units, code points or characters (bytes are another matter).
 * @param longest 0 or more
 * @param ending appended to a cut text, and counted; left out if there is no room for it
 */
export function truncate(text: string, longest: number, ending = ''): string {
  if (text.length <= longest) return text;
  if (ending.length > longest) return truncate(text, longest);
  return text.slice(0, lastBoundary(text, longest - ending.length)) + ending;
}

/** Returns the last position at or before `end` that cuts no character. */
function lastBoundary(text: string, end: number): number {
  // only the surroundings matter: no need to segment a text of a million letters
  const from = Math.max(0, end - 1000);
  const start = isLowSurrogate(text, from) ? from + 1 : from;
  const boundary = start + (characters.segment(text.slice(start, end + 1000)).containing(end - start)?.index ?? 0);
  if (boundary > start || start === 0) {
    if (boundary > 0) return boundary;
  }
  // a "character" of a thousand combining marks: better its beginning than nothing
  return isLowSurrogate(text, end) ? end - 1 : end;
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}
