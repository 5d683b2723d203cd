import { pigeonholeNames } from '../ledger/pigeonholes.js';
import type { ApiContext } from './api-app.js';
import { Refused } from './problem.js';
import { workspaceOf } from './scope.js';
import type { StatusSources } from './status.js';

/**
 * The pigeonhole that is named by its id, and a workspace where several have it.
 * @throws {Refused} 404 when none is known, 409 when it could be several
 */
export async function knownPigeonhole(
  c: ApiContext,
  { ledger, config }: Pick<StatusSources, 'ledger' | 'config'>,
  id: string,
  asked: string | undefined,
): Promise<{ workspace: string; pigeonholeId: number }> {
  const only = workspaceOf(c, asked);
  const known = (await pigeonholeNames(ledger, only)).filter(
    ({ workspace, pigeonholeId }) =>
      pigeonholeId === Number(id) && pigeonholeId !== 0 && Object.hasOwn(config.workspaces, workspace),
  );
  const [first, ...others] = known;
  if (first === undefined) {
    throw new Refused(
      404,
      `no pigeonhole ${only === null ? '' : `${only}/`}${id} is known; "pigeonpost status" shows what is`,
    );
  }
  if (others.length > 0) {
    const names = known.map(({ workspace }) => `${workspace}/${id}`).join(' or ');
    throw new Refused(409, `several workspaces have a pigeonhole ${id}: say which, ${names}`);
  }
  return { workspace: first.workspace, pigeonholeId: first.pigeonholeId };
}
