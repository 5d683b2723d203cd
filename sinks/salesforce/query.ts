import { z } from 'zod';
import { CallFailure } from './call-failure.js';
import type { SalesforceClient } from './client.js';
import type { CallBudget } from '../rest/call-budget.js';

export type Row = Readonly<Record<string, unknown>>;

const pageSchema = z.object({
  records: z.array(z.record(z.string(), z.unknown())),
  done: z.boolean(),
  nextRecordsUrl: z.string().optional(),
});

/** More pages than this are no answer to a question about 200 people. */
const MOST_PAGES = 20;

/** All rows of a query. @throws {CallFailure} @throws {CallsEnded} */
export async function query(client: SalesforceClient, soql: string, budget: CallBudget): Promise<Row[]> {
  const rows: Row[] = [];
  let path: string | undefined = `query?q=${encodeURIComponent(soql)}`;
  for (let pages = 0; path !== undefined; pages += 1) {
    const { body, refused, requestId } = await client.call({ method: 'GET', path }, budget);
    const page = refused === null ? pageSchema.safeParse(body) : undefined;
    if (!page?.success || pages === MOST_PAGES) {
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
