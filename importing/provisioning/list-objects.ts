import type { ListRef } from '../../pigeonhole/lists.js';
import { ApiError } from '../../pigeonhole/api-error.js';
import { walkPages } from '../../pigeonhole/client.js';
import { requestPage } from '../../work/requests/request-page.js';
import { requestPigeonhole } from '../../work/requests/request-pigeonhole.js';
import type { Collaborators } from '../../work/collaborators.js';
import type { Shown } from './matching.js';

/** A person waits for it, as for an import. */
export const priority = 'import';

type Dependencies = Pick<Collaborators, 'clients' | 'config' | 'gate' | 'stopping'>;

/**
 * Everything that a list shows.
 * @param twice where something is to be found missing: what moves while pages are read can be missed by one walk, and one
 *   empty answer can be a glitch, so the list is walked once more, and what either has shown counts
 * @throws {PermitRefusal} or {ApiError} as `requestPage`
 */
export async function listAll(
  deps: Dependencies,
  workspace: string,
  list: ListRef,
  { twice }: { readonly twice: boolean },
): Promise<Shown[]> {
  const shown = new Map<number, Shown>();
  const walk = async (): Promise<void> => {
    const permit = { workspace, priority } as const;
    for await (const page of walkPages((ref, options) => requestPage(deps, permit, ref, options ?? {}), list, {
      signal: deps.stopping,
    })) {
      for (const item of page.items) if (isShown(item)) shown.set(item.id, item);
    }
  };
  await walk();
  if (twice) await walk();
  return [...shown.values()];
}

/**
 * One pigeonhole; undefined where the service itself says that there is none.
 * @throws {PermitRefusal} or {ApiError} as `requestPigeonhole`
 */
export async function findOne(deps: Dependencies, workspace: string, pigeonholeId: number): Promise<Shown | undefined> {
  try {
    const found = await requestPigeonhole(deps, { workspace, priority }, pigeonholeId, deps.stopping);
    return { ...found };
  } catch (error) {
    const isMissing = error instanceof ApiError && ['pigeonholeNotFound', 'notFound'].includes(error.kind);
    if (isMissing) return undefined;
    throw error;
  }
}

function isShown(item: object): item is Shown {
  return 'id' in item && typeof item.id === 'number';
}
