import type { Outcome, SendResult } from '../sink.js';
import type { SlackOperation } from './operation.js';
import { settleIntent, unknownObject } from './settle-intent.js';
import type { Turn } from './turn.js';

/**
 * What became of operations that an earlier attempt may have sent. Only a post is ever in doubt, and each has an intent
 * in the lane's memory; edits, redactions and deletions do no harm when they are made again.
 */
export async function recoverOperations(operations: readonly SlackOperation[], turn: Turn): Promise<SendResult> {
  const outcomes: Outcome[] = [];
  for (const operation of operations) {
    const intent = turn.notes.post(operation.itemKey);
    if (intent?.replaces !== undefined) {
      // A move that was cut off: what is sent next for the item takes the old message away, if it still stands.
      outcomes.push({ kind: 'unsent', object: unknownObject });
      continue;
    }
    // oxlint-disable-next-line no-await-in-loop -- what one look-up has read serves the others
    const settled = intent === undefined ? 'clear' : await settleIntent(operation, intent, turn);
    if (settled !== 'clear') outcomes.push(settled);
    // A post's intent is committed after the old message went, so with one there is no old message.
    else outcomes.push(intent === undefined ? { kind: 'unsent' } : { kind: 'unsent', object: null });
  }
  const memory = turn.notes.unsaved;
  return { outcomes, ...(memory !== undefined && { memory }) };
}
