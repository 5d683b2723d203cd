import type { ErrorCode } from 'yaml';

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
