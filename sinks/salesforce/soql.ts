/**
 * A text as a literal of SOQL, quotes included. Source: Salesforce, SOQL and SOSL Reference, "Quoted String Escape
 * Sequences". `%` and `_` are wildcards for LIKE alone, and a backslash before them is an error anywhere else: they
 * are escaped only when asked for. Half of a surrogate pair, which no URL can hold, becomes U+FFFD.
 */
export function soqlText(text: string, { forLike = false }: { readonly forLike?: boolean } = {}): string {
  const escaped = text
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replace(/[\\'"\n\r\t\b\f]/g, (character) => `\\${escapes[character] ?? character}`);
  return `'${forLike ? escaped.replace(/[%_]/g, (wildcard) => `\\${wildcard}`) : escaped}'`;
}

const escapes: Readonly<Record<string, string>> = { '\n': 'n', '\r': 'r', '\t': 't', '\b': 'b', '\f': 'f' };

/** A value for a field that holds numbers, which takes no quotes. Undefined: it is no number, so nothing has it. */
export function soqlNumber(text: string): string | undefined {
  return /^-?\d{1,18}(\.\d{1,18})?$/.test(text) ? text : undefined;
}

/**
 * Longest query in the URL of a request, once encoded. Salesforce takes URLs of 16,384 bytes, and proxies often of 8,192.
 * Source: Salesforce, REST API Developer Guide, "Query" and "HTTP 414".
 */
const LONGEST_ENCODED = 7_000;

/**
 * Queries that together ask for all of these values: as many in each as its URL holds.
 * @param queryWith the query for some literals, joined by commas
 */
export function queriesFor(literals: readonly string[], queryWith: (list: string) => string): string[] {
  const queries: string[] = [];
  const frame = encodeURIComponent(queryWith('')).length;
  let chunk: string[] = [];
  let length = frame;
  for (const literal of new Set(literals)) {
    const more = encodeURIComponent(`${literal},`).length;
    if (chunk.length > 0 && length + more > LONGEST_ENCODED) {
      queries.push(queryWith(chunk.join(',')));
      chunk = [];
      length = frame;
    }
    chunk.push(literal);
    length += more;
  }
  if (chunk.length > 0) queries.push(queryWith(chunk.join(',')));
  return queries;
}
