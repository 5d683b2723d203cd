import type { DoubleAnswer } from '../serve/double-request.js';
import { type Call, type Route, notFound, SalesforceRefusal } from './call.js';
import { parseQuery, runQuery, selected } from './soql.js';

/** Documented: maximum number of characters in a query. */
const MAX_QUERY_CHARACTERS = 100_000;

/** Routes for queries, with their pages, and for the limits of the org. */
export const queryRoutes: readonly Route[] = [
  { method: 'GET', path: /^\/query$/, answer: (call) => page(call, call.request.query.get('q') ?? '', 0) },
  { method: 'GET', path: /^\/query\/([^/]+)$/, answer: nextPage },
  { method: 'GET', path: /^\/limits$/, answer: limits },
];

function page(call: Call, soql: string, from: number): DoubleAnswer {
  if (soql.length > MAX_QUERY_CHARACTERS) throw new SalesforceRefusal('QUERY_TOO_COMPLICATED', 'the query is too long');
  const query = parseQuery(soql);
  if ([...call.org.withheldObjects].some((name) => name.toLowerCase() === query.from.toLowerCase())) {
    throw new SalesforceRefusal('INVALID_TYPE', `sObject type '${query.from}' is not supported.`);
  }
  const found = runQuery(call.org.org, query);
  const until = from + call.org.queryPage;
  return {
    status: 200,
    json: {
      totalSize: found.length,
      done: until >= found.length,
      ...(until < found.length && { nextRecordsUrl: `/services/data/${call.version}/query/${locator(soql, until)}` }),
      records: found.slice(from, until).map((record) => selected(record, query.fields, call.version)),
    },
  };
}

/** Encodes the query in its locator, so that the server needs no state. */
function locator(soql: string, from: number): string {
  return `${Buffer.from(soql).toString('base64url')}-${from}`;
}

function nextPage(call: Call): DoubleAnswer {
  const [, query, from] = /^(.+)-(\d+)$/.exec(call.parts[0]!) ?? [];
  if (query === undefined) throw notFound();
  return page(call, Buffer.from(query, 'base64url').toString('utf8'), Number(from));
}

function limits({ org }: Call): DoubleAnswer {
  const Max = org.dailyRequests;
  return { status: 200, json: { DailyApiRequests: { Max, Remaining: Math.max(0, Max - org.usedRequests()) } } };
}
