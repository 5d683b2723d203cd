import { RE2JS } from 're2js';

/**
 * Compiled patterns, by the RegExp object in the expression, which is the same in all evaluations. They are cached
 * because compiling takes a hundred times as long as matching.
 */
const compiled = new WeakMap<RegExp, RE2JS>();

/**
 * Replaces RegExp in JSONata. It matches in time proportional to the length of the text. With JavaScript's own RegExp,
 * the pattern `^(a+)+$` and a question of thirty letters stop the process for minutes. The disadvantages are: no
 * look-ahead, look-behind or back-references, at most 1000 repeats, and `\s`, `\w`, `\d` and `\b` cover only ASCII. An
 * emoji is one character, as with JavaScript's flag `u`. Source: RE2, "Syntax".
 */
export class LinearRegExp {
  /** The position at which `exec` starts, and after a match, the match's end, as in RegExp. */
  lastIndex = 0;
  readonly #compiled: RE2JS;

  /** @throws {SyntaxError} if the pattern needs a feature that linear matching does not support */
  constructor(written: RegExp) {
    this.#compiled = compiled.get(written) ?? compile(written);
    compiled.set(written, this.#compiled);
  }

  /**
   * Returns the first match at or after `lastIndex`, as RegExp does: the whole match, then the groups; null if there is
   * none.
   */
  exec(text: string): (readonly (string | undefined)[] & { readonly index: number }) | null {
    const matcher = this.#compiled.matcher(text);
    if (this.lastIndex > text.length || !matcher.find(this.lastIndex)) {
      this.lastIndex = 0;
      return null;
    }
    this.lastIndex = matcher.end();
    const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, n) => matcher.group(n) ?? undefined);
    return Object.assign(groups, { index: matcher.start() });
  }
}

function compile({ source, flags }: RegExp): RE2JS {
  try {
    // RE2 would silently read `\k` as the letter k
    if ([...source.matchAll(/\\(.)/gs)].some(([, escaped]) => escaped === 'k'))
      throw new SyntaxError('a back-reference');
    return RE2JS.compile(RE2JS.translateRegExp(source), flagsOf(flags));
  } catch (cause) {
    throw new SyntaxError(
      'a regular expression here has no look-ahead, look-behind or back-reference and at most 1000 repeats',
      { cause },
    );
  }
}

function flagsOf(flags: string): number {
  return (
    (flags.includes('i') ? RE2JS.CASE_INSENSITIVE : 0) |
    (flags.includes('m') ? RE2JS.MULTILINE : 0) |
    (flags.includes('s') ? RE2JS.DOTALL : 0)
  );
}
