import type { Collaborators } from '../../cycles/collaborators.js';

/** Returns a workflow starter for actions that starts and wakes nothing, because a scene has no workflows. */
export function starterOf({ orchestration }: Collaborators) {
  return { ...orchestration, start: async () => undefined, wakeWorkflow: async () => true };
}
