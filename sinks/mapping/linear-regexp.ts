import { RE2JS } from 're2js';

/** By the expression's own, of which there is one for all its evaluations: compiling costs a hundred times what matching does. */
const compiled = new WeakMap<RegExp, RE2JS>();

/**
 * Replaces RegExp in JSONata, and matches in time linear in the text. With JavaScript's own RegExp, `^(a+)+$` and a
 * question of thirty letters stop the process for minutes. The price: no look-ahead, look-behind or back-references, at
 * most 1000 repeats, and `\s`, `\w`, `\d` and `\b` only cover ASCII. An emoji is one character, as with JavaScript's
 * flag `u`. Source: RE2, "Syntax".
 */
export class LinearRegExp {
  /** As RegExp's: where `exec` begins, and after a match its end. */
  lastIndex = 0;
  readonly #compiled: RE2JS;

  /** @throws {SyntaxError} when it needs what linear matching cannot do */
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
    // RE2 would take it for the letter k, without a word
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
