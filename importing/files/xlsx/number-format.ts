/** What a number format makes of a number. */
export type NumberForm =
  | { readonly kind: 'plain' }
  | { readonly kind: 'date'; readonly date: boolean; readonly time: boolean }
  /** Whole numbers are shown through a picture, such as 00000 or 000-00-0000. */
  | { readonly kind: 'picture'; readonly picture: readonly PictureToken[] };

export type PictureToken = { readonly digit: '0' | '#' } | { readonly literal: string };

const plain: NumberForm = { kind: 'plain' };

/**
 * Formats that files name by number alone and that are dates: 14 to 22 and 45 to 47 everywhere, 27 to 36 and 50 to 58 in East Asia.
 * Source: ECMA-376, part 1, 18.8.30.
 */
export function builtInForm(id: number): NumberForm {
  if (
    (id >= 14 && id <= 17) ||
    (id >= 27 && id <= 31) ||
    id === 36 ||
    (id >= 50 && id <= 54) ||
    id === 57 ||
    id === 58
  ) {
    return { kind: 'date', date: true, time: false };
  }
  if (id === 22) return { kind: 'date', date: true, time: true };
  if ((id >= 18 && id <= 21) || (id >= 32 && id <= 35) || (id >= 45 && id <= 47) || id === 55 || id === 56) {
    return { kind: 'date', date: false, time: true };
  }
  return plain;
}

/**
 * What a format code such as `00000` or `dd.mm.yyyy hh:mm` does, by its section for positive numbers. Percentages, fractions,
 * currencies with separators and the like are plain: their number is what counts.
 */
export function formOf(code: string): NumberForm {
  const tokens = firstSection(code);
  if (tokens === undefined) return plain;
  const bare = tokens.map((token) => ('bare' in token ? token.bare : '')).join('');
  if (/general/i.test(bare)) return plain;
  const letters = bare.replace(/AM\/PM|A\/P/gi, '').toLowerCase();
  if (/[ydhsm]/.test(letters)) {
    const time = /[hs]/.test(letters);
    return { kind: 'date', date: /[yd]/.test(letters) || !time, time };
  }
  if (!/0/.test(bare) || /[^0#() :+-]/.test(bare)) return plain;
  return {
    kind: 'picture',
    picture: tokens.flatMap((token): PictureToken[] =>
      'bare' in token
        ? token.bare
            .split('')
            .map((character) =>
              character === '0' || character === '#' ? { digit: character } : { literal: character },
            )
        : [{ literal: token.literal }],
    ),
  };
}

/** A whole number in a picture: digits fill it from the right, those that have no place stand before the first. */
export function pictured(value: number, picture: readonly PictureToken[]): string {
  const digits = value === 0 ? [] : String(value).split('');
  const firstPlace = picture.findIndex((token) => 'digit' in token);
  let shown = '';
  for (let at = picture.length - 1; at >= 0; at--) {
    const token = picture[at]!;
    if ('literal' in token) shown = token.literal + shown;
    else if (at === firstPlace && digits.length > 1) shown = digits.splice(0).join('') + shown;
    else shown = (digits.pop() ?? (token.digit === '0' ? '0' : '')) + shown;
  }
  return shown;
}

type Token = { readonly bare: string } | { readonly literal: string };

/** The tokens up to the first `;`; undefined when a condition decides between sections. */
function firstSection(code: string): Token[] | undefined {
  const tokens: Token[] = [];
  for (let at = 0; at < code.length; at++) {
    const character = code[at]!;
    if (character === ';') break;
    if (character === '"') {
      const end = code.indexOf('"', at + 1);
      tokens.push({ literal: code.slice(at + 1, end < 0 ? undefined : end) });
      at = end < 0 ? code.length : end;
    } else if (character === '\\') {
      tokens.push({ literal: code[++at] ?? '' });
    } else if (character === '_' || character === '*') {
      at++; // a space as wide as the next character, or a filling: nothing of it is text
    } else if (character === '[') {
      const end = code.indexOf(']', at);
      const inside = code.slice(at + 1, end < 0 ? undefined : end);
      if (/^[<>=]/.test(inside)) return undefined;
      if (/^(h+|m+|s+)$/i.test(inside)) tokens.push({ bare: inside }); // elapsed time
      at = end < 0 ? code.length : end;
    } else tokens.push({ bare: character });
  }
  return tokens;
}
