import { Composer, Lexer, type LineCounter, Parser, type Document, type ErrorCode, type ParsedNode } from 'yaml';

/**
 * Limits of a text, far above any configuration and event file. Parsing a text at these limits takes less than a
 * second. Without them, a deeply nested text takes minutes or crashes the process.
 */
export const yamlLimits = {
  characters: 1_000_000,
  /** Lists and groups inside each other. */
  depth: 50,
  /** Tokens: words, signs, spaces and line ends. A line such as `key: value` has about eight. */
  tokens: 200_000,
} as const;

/** A text is beyond a limit. */
export class YamlLimitError extends Error {
  override readonly name = 'YamlLimitError';

  /** @param offset in the text, of the first character beyond the limit */
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(message);
  }
}

/** One document of plain YAML, and where its lines begin. */
export interface ParsedYaml {
  readonly document: Document.Parsed<ParsedNode>;
  /** Only the first error: later ones are mostly consequences of it. */
  readonly error: { readonly code: YamlErrorCode; readonly offset: number } | undefined;
}

/** `NEXT_LINE_INDENTED`: the line after it is indented further, as if it belonged to the value of this line. */
type YamlErrorCode = ErrorCode | 'NEXT_LINE_INDENTED';

/**
 * Parses one YAML document without resolving aliases. The limits are checked while the text is parsed, before the
 * document is composed: composing recurses into each level, and each error costs time.
 * @throws {YamlLimitError}
 */
export function parseYaml(text: string, lines: LineCounter): ParsedYaml {
  if (text.length > yamlLimits.characters) {
    throw new YamlLimitError(
      `the file is larger than ${shown(yamlLimits.characters)} characters; split it or shorten it`,
      0,
    );
  }
  const composer = new Composer({
    prettyErrors: false, // "pretty" quotes the source, secrets included
    uniqueKeys: false, // `DocumentReader` reports duplicate keys itself, with the whole path
    stringKeys: true,
  });
  const errors = stopAtSecondError(composer);
  const composed: Composed[] = [];
  try {
    for (const each of composer.compose(tokensWithin(text, lines), true, text.length)) composed.push(each);
  } catch (stopped) {
    if (!(stopped instanceof EnoughErrors)) throw stopped;
  }
  const [document, second] = composed;
  const [error, consequence] = document === undefined ? errors : document.errors;
  if (error !== undefined) {
    // With `a: b` before a deeper `c: d`, the parser takes `b c` for one key. In `a: b: c`, no key spans two lines.
    const isNextLine = error.code === 'BLOCK_AS_IMPLICIT_KEY' && consequence?.code === 'MULTILINE_IMPLICIT_KEY';
    const code = isNextLine ? 'NEXT_LINE_INDENTED' : error.code;
    return { document: parsed(document), error: { code, offset: error.pos[0] } };
  }
  if (second === undefined) return { document: parsed(document), error: undefined };
  return { document: parsed(document), error: { code: 'MULTIPLE_DOCS', offset: second.range[0] } };
}

type Composed = Document.Parsed<ParsedNode, boolean>;
/** The function to which the composer reports an error. The library does not export its type. */
type Report = (
  source: number | readonly number[] | { readonly offset: number },
  code: ErrorCode,
  message: string,
  isWarning?: boolean,
) => void;

interface FoundError {
  readonly code: ErrorCode;
  readonly pos: readonly [number, number];
}

class EnoughErrors extends Error {}

/**
 * Lets the composer end at the second error: only the first one is reported, and the next may explain it. Each error
 * costs time, and a text of a megabyte can contain half a million. The library has no option for this.
 * @returns the errors found so far
 */
function stopAtSecondError(composer: Composer): readonly FoundError[] {
  const errors: FoundError[] = [];
  const own = composer as unknown as { onError: Report };
  const report = own.onError;
  own.onError = (source, code, message, isWarning) => {
    report(source, code, message, isWarning);
    if (isWarning === true) return;
    errors.push({ code, pos: [offsetOf(source), 0] });
    if (errors.length === 2) throw new EnoughErrors('two errors are enough');
  };
  return errors;
}

function offsetOf(source: Parameters<Report>[0]): number {
  if (typeof source === 'number') return source;
  return 'offset' in source ? source.offset : source[0]!;
}

function* tokensWithin(text: string, lines: LineCounter): ReturnType<Parser['parse']> {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      yield token;
      if (token.type === 'error') return yield* parser.end();
    }
    count += 1;
    // The lowest entry of the stack is the document itself, which is not a level.
    if (parser.stack.length - 1 > yamlLimits.depth) {
      throw new YamlLimitError(
        `lists and groups are nested more than ${yamlLimits.depth} levels deep; look for brackets that are not closed`,
        parser.offset,
      );
    }
    if (count > yamlLimits.tokens) {
      throw new YamlLimitError(
        `the file holds more than ${shown(yamlLimits.tokens)} words and signs; split it or shorten it`,
        parser.offset,
      );
    }
  }
  yield* parser.end();
}

/** `compose` always returns a document here, because its argument `forceDoc` is true. */
function parsed(document: unknown): Document.Parsed<ParsedNode> {
  return document as Document.Parsed<ParsedNode>;
}

function shown(number: number): string {
  return number.toLocaleString('en');
}

/**
 * Returns a sentence for an error of the YAML parser. The parser's own messages may quote the file, and with it a
 * secret.
 */
export function syntaxMessage(code: YamlErrorCode, line: string): string {
  // `{ token: ${NAME} }` is a common mistake with references
  if (/[[{,].*\$\{/.test(line)) return 'inside { } or [ ] a reference needs quotes: write "${NAME}"';
  return `this is not YAML: ${reasons[code] ?? 'the line cannot be understood here; look for a missing quote, colon or space'}`;
}

export const aliasMessage = 'YAML aliases are not supported; write the value again';

const reasons: Partial<Record<YamlErrorCode, string>> = {
  TAB_AS_INDENT: 'the line is indented with a tab; use spaces',
  BAD_INDENT: 'the line is not indented like its neighbours, or a bracket before it is not closed',
  BLOCK_AS_IMPLICIT_KEY: 'the line has two colons; put the value in quotes, or on a line of its own',
  NEXT_LINE_INDENTED: 'this line or the next is not indented like its neighbours',
  BLOCK_IN_FLOW: 'inside { } or [ ] only { } and [ ] are allowed; close the bracket first',
  MISSING_CHAR: 'a quote, bracket or colon is missing here or just before',
  BAD_SCALAR_START: 'a value cannot begin with this character; put it in quotes',
  BAD_DQ_ESCAPE: 'inside "…" a backslash is written twice; or use single quotes',
  MULTIPLE_DOCS: 'a second document begins here; remove the line of three dashes',
  MULTILINE_IMPLICIT_KEY: 'a key spans several lines; look for a missing colon',
  NON_STRING_KEY: 'a key must be a text',
  UNEXPECTED_TOKEN:
    'the line does not fit the one before it; look for a missing quote, colon or space, or another indentation',
};
