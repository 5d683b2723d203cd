import type { Outcome, SendResult } from '../sink.js';
import { carryOut } from './carry-out.js';
import { clearAbandoned } from './clear-abandoned.js';
import type { SlackOperation } from './operation.js';
import type { Turn } from './turn.js';

/**
 * Sends a batch: the posts of a channel one after the other, since that is how often a channel takes one; beside them
 * edits and redactions; and, apart from both, counts, which wait for neither and make nobody wait.
 */
export async function sendByToken(operations: readonly SlackOperation[], turn: Turn): Promise<SendResult> {
  const outcomes: Outcome[] = operations.map(() => ({ kind: 'unsent' }));
  let stopped = false;
  const lines = inLines(operations);
  await Promise.all(
    [...lines.values()].map(async (positions) => {
      for (const position of positions) {
        if (stopped || !turn.mayBegin) return;
        try {
          // oxlint-disable-next-line no-await-in-loop -- one after the other is meant
          const outcome = await carryOut(operations[position]!, turn);
          outcomes[position] = outcome;
          stopped ||= outcome.kind === 'pause'; // the rest would fail as well
        } catch (error) {
          stopped = true; // the lane was taken over: nothing may be sent on it
          throw error;
        }
      }
    }),
  );
  if (!stopped) await clearAbandoned(new Set(operations.map(({ itemKey }) => itemKey)), turn);
  const memory = turn.notes.unsaved;
  return { outcomes, ...(memory !== undefined && { memory }) };
}

/** The operations by what they wait for. Of one item only the first is taken: it changes what the next would build on. */
function inLines(operations: readonly SlackOperation[]): Map<string, number[]> {
  const lines = new Map<string, number[]>();
  const items = new Set<string>();
  operations.forEach((operation, position) => {
    if (items.has(operation.itemKey)) return;
    items.add(operation.itemKey);
    const name = lineOf(operation);
    const line = lines.get(name);
    if (line === undefined) lines.set(name, [position]);
    else line.push(position);
  });
  return lines;
}

function lineOf(operation: SlackOperation): string {
  if (operation.kind === 'post' || operation.kind === 'move') return `posts ${operation.to.channel}`;
  return operation.kind === 'edit' && operation.votesOnly ? 'counts' : 'edits';
}
