import { z } from 'zod';
import { CallFailure } from './operation.js';
import type { Org } from './object-fields.js';

export type Row = Readonly<Record<string, unknown>>;

const pageSchema = z.object({
  records: z.array(z.record(z.string(), z.unknown())),
  done: z.boolean(),
  nextRecordsUrl: z.string().optional(),
});

/** Maximum number of pages of a query. A query about 200 people never needs more. */
const MAX_PAGES = 20;

/**
 * Returns all rows of a query.
 * @param resource `queryAll` also finds records in the recycle bin
 * @throws {CallFailure} @throws {CallsEnded}
 */
export async function query(
  { client, budget }: Org,
  soql: string,
  resource: 'query' | 'queryAll' = 'query',
): Promise<Row[]> {
  const rows: Row[] = [];
  let path: string | undefined = `${resource}?q=${encodeURIComponent(soql)}`;
  for (let pages = 0; path !== undefined; pages += 1) {
    const { body, refused, requestId } = await client.call({ method: 'GET', path }, budget);
    const page = refused === null ? pageSchema.safeParse(body) : undefined;
    if (!page?.success || pages === MAX_PAGES) {
      const why =
        refused === null ? 'with something other than rows' : `with ${[refused.code, ...refused.fields].join(' ')}`;
      const at = requestId === undefined ? '' : ` (request ${requestId})`;
      throw new CallFailure({
        kind: 'retry',
        detail: `Salesforce answered a query ${why}${at}; "pigeonpost check" names missing fields`,
      });
    }
    rows.push(...page.data.records);
    path = page.data.done ? undefined : nextPath(page.data.nextRecordsUrl);
  }
  return rows;
}

/**
 * Returns all rows of the queries that together contain all literals.
 * @param queryWith returns the query for a comma-separated list of literals
 * @throws {CallFailure} @throws {CallsEnded}
 */
export async function queryAll(
  org: Org,
  literals: readonly string[],
  queryWith: (list: string) => string,
  resource: 'query' | 'queryAll' = 'query',
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const soql of queriesFor(literals, queryWith)) rows.push(...(await query(org, soql, resource)));
  return rows;
}

/** Returns the path of the next page. It uses only the path of the link, because the link's host could be any. */
function nextPath(url: string | undefined): string {
  const path = /^\/services\/data\/v\d+\.\d\/(query\/[\w-]+)$/.exec(url ?? '')?.[1];
  if (path === undefined) {
    throw new CallFailure({
      kind: 'retry',
      detail: 'Salesforce announced more rows of a query, but not where to read them',
    });
  }
  return path;
}

/**
 * Returns a text as a SOQL literal in quotes. `%` and `_` are not escaped: they are wildcards only in LIKE, and SOQL
 * refuses a backslash before them elsewhere. A lone surrogate, which a URL cannot contain, becomes U+FFFD. Source:
 * Salesforce, SOQL and SOSL Reference, "Quoted String Escape Sequences".
 */
export function soqlText(text: string): string {
  const escaped = text
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replace(/[\\'"\n\r\t\b\f]/g, (character) => `\\${escapes[character] ?? character}`);
  return `'${escaped}'`;
}

const escapes: Readonly<Record<string, string>> = { '\n': 'n', '\r': 'r', '\t': 't', '\b': 'b', '\f': 'f' };

/**
 * Returns a SOQL literal for a field that holds numbers, without quotes. Undefined if the text is not a number; no
 * record can have such a value.
 */
export function soqlNumber(text: string): string | undefined {
  return /^-?\d{1,18}(\.\d{1,18})?$/.test(text) ? text : undefined;
}

/**
 * Maximum length of an encoded query in a URL. Salesforce accepts URLs of 16,384 bytes, but many proxies accept only
 * 8,192. Source: Salesforce, REST API Developer Guide, "Query" and "HTTP 414".
 */
const LONGEST_ENCODED = 7_000;

/**
 * Returns queries that together contain all literals, with as many literals in each query as fit into its URL.
 * @param queryWith returns the query for a comma-separated list of literals
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
