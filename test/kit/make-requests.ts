import { PermitRefusal } from '../../requests/quota-rules.js';
import type { Priority } from '../../requests/quota.js';
import type { Scene } from './scene.js';

/** Makes requests one after the other. Returns `made`, or the reason of the refusal, for each. */
export async function makeRequests(
  { deps }: Pick<Scene, 'deps'>,
  times: number,
  priority: Priority = 'import',
): Promise<string[]> {
  const outcomes: string[] = [];
  for (let n = 0; n < times; n += 1) {
    try {
      await deps.gate.request(
        deps,
        { workspace: 'acme', priority },
        (client) => client.page({ list: 'subscriptions' }),
        ({ quota }) => quota,
      );
      outcomes.push('made');
    } catch (error) {
      if (!(error instanceof PermitRefusal)) throw error;
      outcomes.push(error.reason);
    }
  }
  return outcomes;
}
