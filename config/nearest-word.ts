/**
 * Returns the known word that was probably meant: the one with the fewest typing errors. At most one error for each
 * three letters is allowed.
 */
export function nearestWord(found: string, known: readonly string[]): string | undefined {
  let nearest: string | undefined;
  // Short words may have two errors, so that `evry`, `lvie` and `sink` are recognized as `every`, `live` and `sinks`.
  let fewest = Math.max(2, Math.floor(found.length / 3)) + 1;
  for (const word of known) {
    const slips = editDistance(found.toLowerCase(), word.toLowerCase());
    // At least half of a word must match: a word of three letters is two edits away from many others.
    if (slips < fewest && slips * 2 <= Math.max(found.length, word.length)) {
      nearest = word;
      fewest = slips;
    }
  }
  return nearest;
}

/** Levenshtein distance that counts a swap of two neighbours as one edit (optimal string alignment). */
export function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      let slips = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) slips = Math.min(slips, at(beforePrevious, column - 2) + 1);
      current.push(slips);
    }
    beforePrevious = previous;
    previous = current;
  }
  return at(previous, b.length);
}

const at = (row: readonly number[], column: number) => row[column] ?? Number.POSITIVE_INFINITY;
