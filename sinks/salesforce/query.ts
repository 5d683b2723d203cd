import { z } from 'zod';
import { CallFailure } from './operation.js';
import type { SalesforceClient } from './client.js';
import type { CallBudget } from '../rest/rest-client.js';

export type Row = Readonly<Record<string, unknown>>;

const pageSchema = z.object({
  records: z.array(z.record(z.string(), z.unknown())),
  done: z.boolean(),
  nextRecordsUrl: z.string().optional(),
});

/** More pages than this are no answer to a question about 200 people. */
const MAX_PAGES = 20;

/** All rows of a query. @throws {CallFailure} @throws {CallsEnded} */
export async function query(client: SalesforceClient, soql: string, budget: CallBudget): Promise<Row[]> {
  const rows: Row[] = [];
  let path: string | undefined = `query?q=${encodeURIComponent(soql)}`;
  for (let pages = 0; path !== undefined; pages += 1) {
    const { body, refused, requestId } = await client.call({ method: 'GET', path }, budget);
    const page = refused === null ? pageSchema.safeParse(body) : undefined;
    if (!page?.success || pages === MAX_PAGES) {
      const why =
        refused === null ? 'with something else than its rows' : `with ${[refused.code, ...refused.fields].join(' ')}`;
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

/** Only what stands below our own address is followed: the rest of a link could lead anywhere. */
function nextPath(url: string | undefined): string {
  const path = /^\/services\/data\/v\d+\.\d\/(query\/[\w-]+)$/.exec(url ?? '')?.[1];
  if (path === undefined) {
    throw new CallFailure({ kind: 'retry', detail: 'Salesforce announced more rows of a query and did not say where' });
  }
  return path;
}

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
