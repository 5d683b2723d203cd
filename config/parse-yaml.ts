import { Composer, Lexer, type LineCounter, Parser, type Document, type ErrorCode, type ParsedNode } from 'yaml';

/**
 * What a text may have before it is given up. Far above any configuration and any event file; a text at these limits
 * takes less than a second, where deep nesting used to take minutes or the process.
 */
export const yamlLimits = {
  characters: 1_000_000,
  /** Lists and groups inside each other. */
  depth: 50,
  /** Words, signs, spaces and line ends: about eight for a line such as `key: value`. */
  tokens: 200_000,
} as const;

/** A text that is not read to its end. */
export class YamlLimitError extends Error {
  override readonly name = 'YamlLimitError';

  /** @param offset in the text, of the character that went beyond the limit */
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
  /** The first of its errors only: those after it are mostly its echoes. */
  readonly error: { readonly code: ErrorCode; readonly offset: number } | undefined;
}

/**
 * Parses one YAML document without resolving aliases. Stops at a limit before the text is parsed any further: composing
 * recurses into each level, and a parser that has to recover from errors does so for each of them.
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
    uniqueKeys: false, // the reader finds them, with the whole key
    stringKeys: true,
  });
  const [document, second] = composer.compose(tokensWithin(text, lines), true, text.length);
  const error = document!.errors[0];
  if (error !== undefined) return { document: parsed(document), error: { code: error.code, offset: error.pos[0] } };
  if (second === undefined) return { document: parsed(document), error: undefined };
  return { document: parsed(document), error: { code: 'MULTIPLE_DOCS', offset: second.range[0] } };
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
    // the document itself is the lowest of the stack
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

/** `compose` promises a document where it is told to end with one. */
function parsed(document: unknown): Document.Parsed<ParsedNode> {
  return document as Document.Parsed<ParsedNode>;
}

function shown(number: number): string {
  return number.toLocaleString('en');
}

/**
 * A sentence for an error of the YAML parser. The parser's own words are not used: some of them quote the file, where a
 * secret may stand.
 */
export function syntaxMessage(code: ErrorCode, line: string): string {
  // `{ token: ${NAME} }` is the slip of the pen that this file's references invite
  if (/[[{,].*\$\{/.test(line)) return 'inside { } or [ ] a reference needs quotes: write "${NAME}"';
  return `this is not YAML: ${reasons[code] ?? 'the line cannot be understood here; look for a missing quote, colon or space'}`;
}

const reasons: Partial<Record<ErrorCode, string>> = {
  TAB_AS_INDENT: 'a tab stands where spaces must; indent with spaces',
  BAD_INDENT: 'the line is not indented like its neighbours, or a bracket before it is not closed',
  BLOCK_AS_IMPLICIT_KEY: 'two colons stand in one line; put the value in quotes, or on a line of its own',
  BLOCK_IN_FLOW: 'inside { } or [ ] only { } and [ ] can stand; close the bracket first',
  MISSING_CHAR: 'a quote, bracket or colon is missing here or just before',
  BAD_SCALAR_START: 'a value cannot begin with this character; put it in quotes',
  BAD_DQ_ESCAPE: 'inside "…" a backslash is written twice; or use single quotes',
  MULTIPLE_DOCS: 'a second document begins here; remove the line of three dashes',
  MULTILINE_IMPLICIT_KEY: 'a key stands on more than one line; look for a missing colon',
  NON_STRING_KEY: 'a key must be a text',
  UNEXPECTED_TOKEN:
    'the line does not fit what stands before it; look for a missing quote, colon or space, or another indentation',
};
