import { malformed, readTokens, type Token } from './read-tokens.js';

export type Literal = string | number | boolean | null;

export type Condition =
  | { readonly kind: 'and' | 'or'; readonly all: readonly Condition[] }
  | { readonly kind: 'not'; readonly one: Condition }
  | { readonly kind: 'compare'; readonly field: string; readonly operator: string; readonly value: Literal }
  | { readonly kind: 'in'; readonly field: string; readonly not: boolean; readonly values: readonly Literal[] };

/** `SELECT fields FROM object [WHERE …] [ORDER BY field [ASC|DESC]] [LIMIT n] [OFFSET n]`, or `SELECT COUNT() FROM …`. */
export interface Query {
  /** Empty where the query counts. */
  readonly fields: readonly string[];
  readonly from: string;
  readonly where: Condition | undefined;
  readonly orderBy: { readonly field: string; readonly descending: boolean } | undefined;
  readonly limit: number | undefined;
  readonly offset: number;
}

/** @throws {SalesforceRefusal} MALFORMED_QUERY naming the column, for whatever is not of that form */
export function parseQuery(soql: string): Query {
  return new Parser(readTokens(soql), soql.length + 1).query();
}

class Parser {
  private at = 0;

  constructor(
    private readonly tokens: readonly Token[],
    private readonly endColumn: number,
  ) {}

  query(): Query {
    this.keyword('SELECT');
    const fields = this.fields();
    this.keyword('FROM');
    const from = this.word();
    const where = this.accept('WHERE') ? this.conditions() : undefined;
    const orderBy = this.accept('ORDER') ? this.order() : undefined;
    const limit = this.accept('LIMIT') ? this.count() : undefined;
    const offset = this.accept('OFFSET') ? this.count() : 0;
    if (this.at < this.tokens.length) throw this.unexpected();
    return { fields, from, where, orderBy, limit, offset };
  }

  private fields(): string[] {
    if (this.accept('COUNT')) {
      this.sign('(');
      this.sign(')');
      return [];
    }
    const fields = [this.word()];
    while (this.acceptSign(',')) fields.push(this.word());
    return fields;
  }

  /** AND and OR may not stand side by side without brackets, as in Salesforce. */
  private conditions(): Condition {
    const first = this.condition();
    const kind = this.peekWord('AND') ? 'and' : this.peekWord('OR') ? 'or' : undefined;
    if (kind === undefined) return first;
    const all = [first];
    while (this.accept(kind.toUpperCase())) all.push(this.condition());
    if (this.peekWord('AND') || this.peekWord('OR')) throw this.unexpected();
    return { kind, all };
  }

  private condition(): Condition {
    if (this.accept('NOT')) return { kind: 'not', one: this.condition() };
    if (this.acceptSign('(')) {
      const inner = this.conditions();
      this.sign(')');
      return inner;
    }
    const field = this.word();
    if (this.accept('NOT')) {
      this.keyword('IN');
      return { kind: 'in', field, not: true, values: this.list() };
    }
    if (this.accept('IN')) return { kind: 'in', field, not: false, values: this.list() };
    if (this.accept('LIKE')) {
      const token = this.next();
      if (token.pattern === undefined) throw this.unexpected(token);
      return { kind: 'compare', field, operator: 'LIKE', value: token.pattern };
    }
    const operator = this.next();
    if (operator.kind !== 'sign' || !/^(=|!=|<>|<|<=|>|>=)$/.test(operator.value)) throw this.unexpected(operator);
    return { kind: 'compare', field, operator: operator.value, value: this.literal() };
  }

  private order(): { field: string; descending: boolean } {
    this.keyword('BY');
    const field = this.word();
    if (this.accept('DESC')) return { field, descending: true };
    this.accept('ASC');
    return { field, descending: false };
  }

  private list(): Literal[] {
    this.sign('(');
    const values = [this.literal()];
    while (this.acceptSign(',')) values.push(this.literal());
    this.sign(')');
    return values;
  }

  private literal(): Literal {
    const token = this.next();
    if (token.kind === 'text') return token.value;
    if (token.kind === 'number') return /^[+-]?\d+(\.\d+)?$/.test(token.value) ? Number(token.value) : token.value;
    const word = token.value.toLowerCase();
    if (word === 'true' || word === 'false') return word === 'true';
    if (word === 'null') return null;
    throw this.unexpected(token);
  }

  private count(): number {
    const token = this.next();
    if (token.kind !== 'number' || !/^\d+$/.test(token.value)) throw this.unexpected(token);
    return Number(token.value);
  }

  private word(): string {
    const token = this.next();
    if (token.kind !== 'word') throw this.unexpected(token);
    return token.value;
  }

  private keyword(word: string): void {
    const token = this.next();
    if (token.kind !== 'word' || token.value.toUpperCase() !== word) throw this.unexpected(token);
  }

  private sign(sign: string): void {
    const token = this.next();
    if (token.kind !== 'sign' || token.value !== sign) throw this.unexpected(token);
  }

  private accept(word: string): boolean {
    if (!this.peekWord(word)) return false;
    this.at += 1;
    return true;
  }

  private acceptSign(sign: string): boolean {
    const token = this.tokens[this.at];
    if (token?.kind !== 'sign' || token.value !== sign) return false;
    this.at += 1;
    return true;
  }

  private peekWord(word: string): boolean {
    const token = this.tokens[this.at];
    return token?.kind === 'word' && token.value.toUpperCase() === word;
  }

  private next(): Token {
    const token = this.tokens[this.at];
    if (token === undefined) throw malformed(this.endColumn, "unexpected token: '<EOF>'");
    this.at += 1;
    return token;
  }

  private unexpected(token = this.tokens[this.at]): ReturnType<typeof malformed> {
    return malformed(token?.column ?? this.endColumn, `unexpected token: '${token?.value ?? '<EOF>'}'`);
  }
}
