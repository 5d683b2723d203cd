import type { NamedRecord } from '../mapping/crm-records.js';
import type { PlainKeys } from '../records/plan-plain-records.js';
import type { CallBudget } from '../rest/rest-client.js';
import type { CheckLine } from '../sink.js';
import type { DynamicsClient } from './client.js';
import { primaryKey } from './row-calls.js';

/** Checks the address, the login, and that each table and its columns can be read. Writes nothing and never throws. */
export async function checkEnvironment(
  client: DynamicsClient,
  records: readonly NamedRecord<PlainKeys>[],
  budget: CallBudget,
): Promise<CheckLine[]> {
  const problem = await client.reachProblem(budget);
  const who = await client.call({ method: 'GET', path: '/WhoAmI' }, budget);
  if (who.kind !== 'ok') return [problem ?? [], detailOf(who)].flat().map((text) => ({ ok: false, text }));
  const lines: CheckLine[] = [{ ok: true, text: 'the login to Dynamics succeeds' }];
  for (const { keys, path } of records) {
    const columns = [primaryKey(keys.object), ...Object.keys(keys.properties)].join(',');
    const reply = await client.call({ method: 'GET', path: `/${keys.object}?$select=${columns}&$top=1` }, budget);
    const text =
      reply.kind === 'ok'
        ? `${path}: table ${keys.object} has all columns of "properties"`
        : `${path}: table ${keys.object} cannot be read with the columns ${columns}: ${detailOf(reply)}`;
    lines.push({ ok: reply.kind === 'ok', text });
  }
  return lines;
}

function detailOf(reply: Exclude<Awaited<ReturnType<DynamicsClient['call']>>, { kind: 'ok' }>): string {
  const detail = 'result' in reply && 'detail' in reply.result ? reply.result.detail : undefined;
  return detail ?? 'Dynamics did not answer as expected: check "baseUrl"';
}
