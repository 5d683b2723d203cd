/*
 * How a search compares texts: by the beginnings of their words, without regard to case and accents. In scripts without
 * spaces between words, a word begins at each character.
 */

/** Number of characters of a text that are searched, and of words of one item. */
const maxText = 2000;
const maxWords = 120;
/** Maximum length of a word. Longer words, such as addresses of pages, are found by their beginnings. */
const maxWord = 24;

/** The lengths of the beginnings that are indexed. A searched word is looked up by the longest of them that it has. */
const indexedLengths = [12, 8, 6, 5, 4, 3, 2] as const;

const words = /[\p{L}\p{N}]+/gu;
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** Returns a text in which equal words are spelled equally. */
function folded(text: string): string {
  // Upper case first: "ß" becomes "ss", and both forms of the Greek sigma become one.
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toUpperCase().toLowerCase();
}

/** Returns the words of a text that was entered to search for, without repetitions. Pure. */
export function searchedWords(text: string): string[] {
  const found = folded(text.slice(0, maxText)).match(words) ?? [];
  return [...new Set(found.map((word) => word.slice(0, maxWord)))].filter(isSearchable);
}

/** One letter of an alphabet begins too many words. */
function isSearchable(word: string): boolean {
  return word.length > 1 || unspaced.test(word);
}

/** Returns the words of texts that a search finds, without repetitions. Pure. */
export function wordsIn(texts: readonly string[]): Set<string> {
  const found = new Set<string>();
  for (const text of texts) {
    for (const word of folded(text.slice(0, maxText)).match(words) ?? []) {
      for (const each of beginsIn(word)) {
        if (found.size === maxWords) return found;
        found.add(each);
      }
    }
  }
  return found;
}

/** Returns a word, and what follows from each of its characters that may begin a word. */
function beginsIn(word: string): string[] {
  if (!unspaced.test(word)) return [word.slice(0, maxWord)];
  const characters = Array.from(word);
  return characters.flatMap((character, at) =>
    at === 0 || unspaced.test(character)
      ? [
          characters
            .slice(at, at + maxWord)
            .join('')
            .slice(0, maxWord),
        ]
      : [],
  );
}

/** Returns the beginnings under which words are indexed. Pure. */
export function beginningsOf(found: Iterable<string>): Set<string> {
  const beginnings = new Set<string>();
  for (const word of found) {
    if (unspaced.test(word)) beginnings.add(Array.from(word)[0]!);
    for (const length of indexedLengths) if (word.length >= length) beginnings.add(word.slice(0, length));
  }
  return beginnings;
}

/** Returns the indexed beginning by which a searched word is looked up. Every match has it, but not only matches. Pure. */
export function lookedUpBy(word: string): string {
  const length = indexedLengths.find((each) => word.length >= each);
  return length === undefined ? word : word.slice(0, length);
}

/** Whether each searched word begins a word of the texts, and how many of them are whole words. Pure. */
export function matchOf(searched: readonly string[], found: ReadonlySet<string>): { matches: boolean; whole: number } {
  const all = [...found];
  const matches = searched.every((word) => found.has(word) || all.some((each) => each.startsWith(word)));
  return { matches, whole: searched.filter((word) => found.has(word)).length };
}
