import { chunksOf } from '../../base/grouping.js';
import { fieldsOf, type Result } from '../sink.js';
import type { Sending } from './batch.js';
import { listOf, problemOf } from './classify.js';

/** Number of records in one call. HubSpot accepts 1,000. */
const MAX_RECORDS = 100;

/**
 * Returns the ids of the records with which records are associated, by id, or the result that says why they could not be
 * read. Reads all pages.
 */
export async function associatedIds(
  ids: readonly string[],
  { from, to }: { readonly from: string; readonly to: string },
  { client, budget }: Sending,
): Promise<ReadonlyMap<string, ReadonlySet<string>> | Result> {
  const found = new Map<string, Set<string>>();
  let inputs: { readonly id: string; readonly after?: string }[] = [...new Set(ids)].map((id) => ({ id }));
  while (inputs.length > 0) {
    const next: typeof inputs = [];
    for (const chunk of chunksOf(inputs, MAX_RECORDS)) {
      const path = client.path('associations', `${from}/${to}/batch/read`);
      const reply = await client.call('POST', path, { inputs: chunk }, budget);
      if (reply.kind === 'failed') return reply.result;
      if (reply.kind === 'refused') {
        const detail = `HubSpot refused to list the ${to} of ${from} (HTTP ${reply.status})`;
        return { kind: 'rejected', cause: 'hubspot:not-readable', detail };
      }
      for (const result of listOf(reply.body.results).map(fieldsOf)) {
        const id = String(fieldsOf(result.from).id);
        const own = found.get(id) ?? new Set();
        found.set(id, own);
        for (const each of listOf(result.to)) own.add(String(fieldsOf(each).toObjectId));
        const { after } = fieldsOf(fieldsOf(result.paging).next);
        if (typeof after === 'string') next.push({ id, after });
      }
      const errors = listOf(reply.body.errors);
      if (errors.some((error) => problemOf(error).code !== 'NO_ASSOCIATIONS_FOUND')) {
        return { kind: 'retry', detail: `HubSpot could not list the ${to} of some ${from}` };
      }
    }
    inputs = next;
  }
  for (const id of ids) if (!found.has(id)) found.set(id, new Set());
  return found;
}
