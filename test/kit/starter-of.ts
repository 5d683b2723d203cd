import type { Collaborators } from '../../work/collaborators.js';

/** Returns what an action needs to start and wake workflows, without any: a scene has none. */
export function starterOf({ orchestration }: Collaborators) {
  return { ...orchestration, start: async () => undefined, signal: async () => true };
}
