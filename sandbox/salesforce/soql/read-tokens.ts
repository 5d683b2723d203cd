import { SalesforceRefusal } from '../call.js';

/** A word, sign or literal of a query, and where it stands (from 1). */
export interface Token {
  readonly kind: 'word' | 'text' | 'number' | 'sign';
  /** A text without its quotes and escapes. */
  readonly value: string;
  /** A text for LIKE: with backslashes and escaped wildcards after a backslash. */
  readonly pattern?: string;
  readonly column: number;
}

/** Characters that may follow a backslash in a text. Documented: "Quoted String Escape Sequences". */
const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
  '"': '"',
  "'": "'",
  '\\': '\\',
};

/** @throws {SalesforceRefusal} MALFORMED_QUERY for a text that does not end, an unknown escape, and any other character */
export function readTokens(soql: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < soql.length) {
    const rest = soql.slice(at);
    const space = /^\s+/.exec(rest);
    if (space !== null) {
      at += space[0].length;
      continue;
    }
    if (rest.startsWith("'")) {
      const { value, pattern, length } = readText(rest, at + 1);
      tokens.push({ kind: 'text', value, pattern, column: at + 1 });
      at += length;
      continue;
    }
    const word = /^[A-Za-z_][A-Za-z0-9_.]*/.exec(rest)?.[0];
    const number = /^[+-]?\d[\d.:TZ+-]*/.exec(rest)?.[0]; // dates and instants are written like numbers, without quotes
    const sign = /^(<=|>=|!=|<>|[=<>(),])/.exec(rest)?.[0];
    const value = word ?? number ?? sign;
    if (value === undefined) throw malformed(at + 1, `unexpected token: '${rest[0]}'`);
    tokens.push({
      kind: word !== undefined ? 'word' : number !== undefined ? 'number' : 'sign',
      value,
      column: at + 1,
    });
    at += value.length;
  }
  return tokens;
}

export function malformed(column: number, problem: string): SalesforceRefusal {
  return new SalesforceRefusal('MALFORMED_QUERY', `ERROR at Row:1:Column:${column}\n${problem}`);
}

function readText(rest: string, column: number): { value: string; pattern: string; length: number } {
  let [value, pattern] = ['', ''];
  for (let at = 1; at < rest.length; at += 1) {
    const character = rest[at]!;
    if (character === "'") return { value, pattern, length: at + 1 };
    if (character === '\n' || character === '\r') break;
    if (character !== '\\') {
      value += character;
      pattern += character;
      continue;
    }
    at += 1;
    const escaped = rest[at] ?? '';
    if (escaped === '_' || escaped === '%') {
      value += `\\${escaped}`; // documented for LIKE alone: elsewhere the backslash is one of the text
      pattern += `\\${escaped}`;
      continue;
    }
    const meant = ESCAPES[escaped];
    if (meant === undefined) {
      throw malformed(column, `Invalid string literal. Illegal character sequence '\\${escaped}' in string literal.`);
    }
    value += meant;
    pattern += meant === '\\' ? '\\\\' : meant;
  }
  throw malformed(column, 'line breaks and the end of the query are not allowed in string literals');
}
