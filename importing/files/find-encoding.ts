import { alphabets } from './alphabets.js';

/** The encoding of a text that says nothing about it, as far as its bytes show it. */
export interface EncodingGuess {
  /** A name of the WHATWG Encoding Standard. */
  readonly encoding: string;
  /** Whether no other encoding gives a plausible text; otherwise a person has to confirm the guess. */
  readonly isSure: boolean;
  /** Cells that differ most between the likely encodings: at most three. */
  readonly proofs: readonly EncodingProof[];
}

/** A cell as several encodings read it, the guess first. */
export interface EncodingProof {
  /** Line of the text, from 1. */
  readonly line: number;
  readonly readings: readonly { readonly encoding: string; readonly text: string }[];
}

interface Candidate {
  readonly encoding: string;
  /** Logarithm of how usual it is for lists of people, compared with Windows-1252. */
  readonly prior: number;
  /** For encodings with two bytes a character: the logarithm of how usual a character is. */
  readonly pair?: (lead: number, trail: number) => number;
}

const rare = -13;
const inRange = (value: number, from: number, to: number) => value >= from && value <= to;

/** Encodings that programs still write, without UTF-8 and UTF-16, which their bytes prove. */
const candidates: readonly Candidate[] = [
  { encoding: 'windows-1252', prior: 0 },
  { encoding: 'windows-1250', prior: -2 },
  { encoding: 'windows-1251', prior: -2 },
  { encoding: 'windows-1254', prior: -2 },
  { encoding: 'windows-1253', prior: -2 },
  { encoding: 'windows-1257', prior: -4 },
  { encoding: 'windows-1255', prior: -2 },
  { encoding: 'windows-1256', prior: -2 },
  { encoding: 'macintosh', prior: -3 },
  { encoding: 'iso-8859-2', prior: -4 },
  { encoding: 'iso-8859-15', prior: -4 },
  { encoding: 'iso-8859-5', prior: -4 },
  { encoding: 'koi8-u', prior: -4 },
  { encoding: 'ibm866', prior: -4 },
  { encoding: 'x-mac-cyrillic', prior: -4 },
  { encoding: 'windows-874', prior: -3 },
  // the first level of each standard has the usual characters
  { encoding: 'gb18030', prior: -2, pair: (lead) => (inRange(lead, 0xb0, 0xd7) ? -8.3 : rare) },
  { encoding: 'big5', prior: -2, pair: (lead) => (inRange(lead, 0xa4, 0xc6) ? -8.6 : rare) },
  { encoding: 'euc-kr', prior: -2, pair: (lead) => (inRange(lead, 0xb0, 0xc8) ? -7.9 : rare) },
  {
    encoding: 'shift_jis',
    prior: -2,
    pair: (lead, trail) =>
      (lead === 0x82 && trail >= 0x9f) || lead === 0x83 ? -5.8 : inRange(lead, 0x88, 0x98) ? -8.5 : rare,
  },
  {
    encoding: 'euc-jp',
    prior: -3,
    pair: (lead) => (lead === 0xa4 || lead === 0xa5 ? -5.8 : inRange(lead, 0xb0, 0xcf) ? -8.5 : rare),
  },
];

/** Difference of logarithms from which another encoding is out of the question: about 1 in 150. */
const sureMargin = 5;
/** Cells from which two bytes a character are certain: other pairs of bytes are usual characters by accident. */
const minEastAsianCells = 3;
const eastAsianMargin = 15;
/** Share of cells up to which the best encoding may give what names do not have. */
const maxFaultyShare = 0.25;
const maxCells = 2_000;
const maxCellBytes = 200;
const maxProofs = 3;
const maxReadings = 3;

/**
 * Guesses the encoding of bytes that are not UTF-8: that under which the cells beyond ASCII are the most likely names.
 * Judged are letters, by how usual they are in the best-fitting language, and words: their scripts do not mix, capitals
 * do not follow small letters, signs do not stand inside. Encodings under which all cells read the same count as one.
 */
export function guessEncoding(bytes: Buffer): EncodingGuess {
  const cells = cellsBeyondAscii(bytes);
  const judged = candidates.map((candidate) => judge(candidate, cells)).sort((a, b) => b.score - a.score);
  const [best] = judged;
  const others = judged.filter(({ texts }) => texts.some((text, index) => text !== best!.texts[index]));
  const isSure =
    best!.isClean &&
    (!best!.isEastAsian || cells.length >= minEastAsianCells) &&
    best!.faulty <= maxFaultyShare * cells.length &&
    best!.score - (others[0]?.score ?? -Infinity) >= sureMargin &&
    !others.some(({ isUsual, score }) => isUsual && score >= best!.score - eastAsianMargin); // few characters of East Asia can look like a name in Cyrillic letters
  const rivals = [best!, ...others.filter(({ isClean }) => isClean)].slice(0, maxReadings);
  const telling = cells
    .map((cell, index) => ({
      cell,
      readings: rivals.map(({ encoding, texts }) => ({ encoding, text: texts[index]! })),
    }))
    .sort((a, b) => differences(b.readings) - differences(a.readings));
  return {
    encoding: best!.encoding,
    isSure,
    proofs: telling.slice(0, maxProofs).map(({ cell, readings }) => ({ line: cell.line, readings })),
  };
}

/** Returns the sentence that refuses a text whose encoding is only guessed. It quotes no cell. */
export function unsureEncoding({ encoding, proofs }: EncodingGuess): string {
  const [first] = proofs;
  const others = first?.readings.slice(1).map((each) => each.encoding) ?? [];
  const named = [encoding, ...others].join(' or ');
  return `The encoding of the text is not certain (${named}, see line ${first?.line ?? 1}); save the file as UTF-8, or name its encoding.`;
}

function differences(readings: readonly { readonly text: string }[]): number {
  return new Set(readings.map(({ text }) => text)).size;
}

interface Cell {
  readonly bytes: Buffer;
  readonly line: number;
}

/** Returns different cells with bytes beyond ASCII. The bytes between cells are never part of a character. */
function cellsBeyondAscii(bytes: Buffer): Cell[] {
  const cells: Cell[] = [];
  const known = new Set<string>();
  let line = 1;
  let start = 0;
  let isBeyond = false;
  for (let at = 0; at <= bytes.length && cells.length < maxCells; at++) {
    const byte = bytes[at] ?? 0x0a;
    if (byte >= 0x80) isBeyond = true;
    else if (byte < 0x40 && /[,;\t\r\n"]/.test(String.fromCharCode(byte))) {
      const cell = bytes.subarray(start, Math.min(at, start + maxCellBytes));
      const key = cell.toString('latin1');
      if (isBeyond && !known.has(key)) {
        known.add(key);
        cells.push({ bytes: cell, line });
      }
      start = at + 1;
      isBeyond = false;
      if (byte === 0x0a || (byte === 0x0d && bytes[at + 1] !== 0x0a)) line++;
    }
  }
  return cells;
}

/** Cost of a cell that has bytes without a character. */
const notClean = 20;

interface Judged {
  readonly encoding: string;
  readonly score: number;
  /** Whether all bytes are characters. */
  readonly isClean: boolean;
  /** Whether it has two bytes a character. */
  readonly isEastAsian: boolean;
  /** The same, and all characters are usual. */
  readonly isUsual: boolean;
  /** Number of cells with what names do not have. */
  readonly faulty: number;
  readonly texts: readonly string[];
}

function judge({ encoding, prior, pair }: Candidate, cells: readonly Cell[]): Judged {
  const decoder = new TextDecoder(encoding);
  const texts = cells.map(({ bytes }) => decode(decoder, bytes));
  let score = prior;
  let isClean = true;
  let isUsual = pair !== undefined;
  let faulty = 0;
  const letters = new Map<string, number>();
  for (const [index, text] of texts.entries()) {
    if (/[\ufffd\u0080-\u009f\ue000-\uf8ff]/.test(text)) {
      isClean = false;
      score -= notClean;
    }
    const { faults, quotes } = costsOf(text);
    score -= faults + quotes;
    if (faults > 0) {
      isUsual = false;
      faulty++;
    }
    if (pair !== undefined) {
      const pairs = pairsOf(cells[index]!.bytes, pair);
      score += pairs.sum;
      isUsual &&= pairs.areUsual;
    } else {
      for (const character of text.toLowerCase()) {
        if (character > '\x7f') letters.set(character, (letters.get(character) ?? 0) + 1);
      }
    }
  }
  return {
    encoding,
    score: score + likelihood(letters),
    isClean,
    isUsual: isUsual && isClean,
    isEastAsian: pair !== undefined,
    faulty,
    texts,
  };
}

/** Node 22 and 23 decode these bytes of Windows-1252 as Latin-1 in some versions (nodejs/node 56542). */
function decode(decoder: InstanceType<typeof TextDecoder>, bytes: Buffer): string {
  return decoder.encoding === 'windows-1252' ? fromWindows1252(bytes) : decoder.decode(bytes);
}

/** Sums the logarithms of two-byte characters. */
function pairsOf(bytes: Buffer, pair: (lead: number, trail: number) => number): { sum: number; areUsual: boolean } {
  let sum = 0;
  let areUsual = true;
  for (let at = 0; at < bytes.length; at++) {
    const lead = bytes[at]!;
    if (lead < 0x80) continue;
    const each = pair(lead, bytes[at + 1] ?? 0);
    sum += each;
    areUsual &&= each > rare;
    at++;
  }
  return { sum, areUsual };
}

/** Cost of a fault in a word: such a text is about 150 times less likely. */
const faultCost = 5;
/** Costs of a character that is no letter: more than a letter, which it could be in another encoding. */
const quoteCost = 4;
const seldomCost = 8;
const signCost = 14;
const seldomSigns = '\u00a0\u2026\u20ac\u00b0\u00b7\u00ba\u00aa\u00ab\u00bb\u201e\u201a\u2022\u2122\u00ae\u00a9\u00b4';
const quote = /[\u2018\u2019\u201c\u201d\u2013\u2014]/g;
const seldom = new RegExp(`[${seldomSigns}]`, 'g');
const sign = new RegExp(`[^\\p{L}\\p{M}\\x00-\\x7f\u2018\u2019\u201c\u201d\u2013\u2014${seldomSigns}]`, 'gu');
/** A capital beyond ASCII after a small letter, or within a word of small letters. */
const capitalInside =
  /\p{Ll}(?=\p{Lu})(?:(?<=[^\x00-\x7f])|(?=[^\x00-\x7f]))|(?<=\p{L})(?=[^\x00-\x7f])\p{Lu}(?=\p{Ll})/gu;
const scripts = [
  'Latin',
  'Cyrillic',
  'Greek',
  'Hebrew',
  'Arabic',
  'Thai',
  'Hangul',
  'Han}\\p{sc=Hiragana}\\p{sc=Katakana',
];
const mixedWord = new RegExp(
  scripts
    .map((one) => `[\\p{sc=${one}}](?=[\\p{L}\\p{M}])(?![\\p{sc=${one}}\\p{sc=Inherited}\\p{sc=Common}])`)
    .join('|'),
  'gu',
);
/** A sign between two letters, an opening quotation mark that opens nothing, a bracket or bar after a letter beyond ASCII. */
const inside =
  /\p{L}[^\p{L}\p{M}\s\x00-\x7f\u2019\u2018\u00b7\u2013\u2014](?=\p{L})|[\u2018\u201c\u201e](?![\p{L}\p{Nd}])|(?=[^\x00-\x7f])\p{L}[[\]{}\\|^_~`@]/gu;

/** The cost of what names do not have, and of quotation marks, which they may have. */
function costsOf(text: string): { readonly faults: number; readonly quotes: number } {
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
  const faults =
    faultCost * (2 * count(capitalInside) + count(mixedWord) + count(inside)) +
    seldomCost * count(seldom) +
    signCost * count(sign);
  return { faults, quotes: quoteCost * count(quote) };
}

/** Share of letters that the best language does not have. */
const foreignShare = 0.1;
const foreignLetters = 150;

/** The logarithm of the probability of letters beyond ASCII in the language that fits best. */
function likelihood(letters: ReadonlyMap<string, number>): number {
  const foreign = Math.log(foreignShare / foreignLetters);
  let best = -Infinity;
  for (const shares of languages) {
    let sum = 0;
    for (const [letter, count] of letters) {
      const share = shares.get(letter);
      sum +=
        count *
        (share === undefined ? (/\p{L}|\p{M}/u.test(letter) ? foreign : 0) : Math.log((1 - foreignShare) * share));
    }
    best = Math.max(best, sum);
  }
  return letters.size === 0 ? 0 : best;
}

/** The share of each letter in each language, by its rank. */
const languages: readonly ReadonlyMap<string, number>[] = alphabets.map((alphabet) => {
  const letters = Array.from(alphabet);
  const total = letters.reduce((sum, _letter, rank) => sum + 1 / (rank + 2), 0);
  return new Map(letters.map((letter, rank) => [letter, 1 / (rank + 2) / total]));
});

/** Characters of the bytes 0x80 to 0x9F; five have none and stay unchanged. Source: WHATWG Encoding Standard. */
const high =
  '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f' +
  '\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178';

/**
 * Decodes Windows-1252. Not by TextDecoder, which reads these bytes as Latin-1 in some versions of Node 22 and 23
 * (nodejs/node 56542), so that a typographic apostrophe becomes a control character.
 */
export function fromWindows1252(bytes: Buffer): string {
  return bytes.toString('latin1').replace(/[\x80-\x9f]/g, (character) => high[character.charCodeAt(0) - 0x80]!);
}
