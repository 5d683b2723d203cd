import type { PigeonholeName, ReadingResult } from '../cycles/cycle-results.js';
import type { Collaborators } from '../cycles/collaborators.js';
import { PigeonholeReader } from './pigeonhole-reader.js';

/** Runs one cycle of a pigeonhole with a reader of its own. Safe to run twice, also concurrently. */
export async function readPigeonhole(
  deps: Collaborators,
  name: PigeonholeName,
  signal: AbortSignal,
): Promise<ReadingResult> {
  const reader = new PigeonholeReader(deps, name, null);
  const result = await reader.round(signal);
  await reader.close();
  return result;
}
