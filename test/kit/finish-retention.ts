import { keepRetention } from '../../people/retention.js';
import type { Scene } from './scene.js';

/** Removes everything whose retention has ended. One cycle has a time budget, which a slow machine may exceed. */
export async function finishRetention(deps: Scene['deps']): Promise<void> {
  const never = new AbortController().signal;
  while (await keepRetention(deps, 'acme', never));
}
