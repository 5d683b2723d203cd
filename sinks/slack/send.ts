import { groupBy } from '../../base/grouping.js';
import { carrying } from '../network/exchange-log.js';
import type { Outcome, SendResult } from '../sink.js';
import { clearAbandoned } from './clear-abandoned.js';
import { settleIntent } from './recover.js';
import type { SlackOperation } from './operation.js';
import type { Sending } from './sending.js';
import { post } from './messages.js';
import { edit, move } from './change-message.js';
import { redact } from './remove-message.js';

/**
 * Sends a batch in queues that run concurrently: one for posts and moves to each channel, one for edits and redactions,
 * and one for edits that change only the votes, so that nothing waits for these.
 */
export async function sendByToken(operations: readonly SlackOperation[], sending: Sending): Promise<SendResult> {
  const outcomes: Outcome[] = operations.map(() => ({ kind: 'unsent' }));
  let stopped = false;
  const lines = inLines(operations);
  await Promise.all(
    [...lines.values()].map(async (positions) => {
      for (const position of positions) {
        if (stopped || !sending.canStart) return;
        try {
          const operation = operations[position]!;
          const outcome = await carrying([operation.changeId], () => carryOut(operation, sending));
          outcomes[position] = outcome;
          stopped ||= outcome.kind === 'pause'; // the other operations would fail too
        } catch (error) {
          stopped = true; // another worker took over the lane, so this one must not send anything more
          throw error;
        }
      }
    }),
  );
  if (!stopped) await clearAbandoned(new Set(operations.map(({ itemKey }) => itemKey)), sending);
  return { outcomes, memory: sending.notes.unsaved };
}

/**
 * Groups the positions of operations into queues. Only the first operation of each item is sent, because the next one
 * depends on the state that the first one produces.
 */
function inLines(operations: readonly SlackOperation[]): Map<string, number[]> {
  const byItem = groupBy(operations.keys(), (position) => operations[position]!.itemKey);
  const firstOfEach = [...byItem.values()].map(([first]) => first!);
  return groupBy(firstOfEach, (position) => lineOf(operations[position]!));
}

function lineOf(operation: SlackOperation): string {
  if (operation.kind === 'post' || operation.kind === 'move') return `posts ${operation.to.channel}`;
  return operation.kind === 'edit' && operation.votesOnly ? 'counts' : 'edits';
}

/**
 * Makes the calls of one operation. If Slack's answer to an earlier post of the item was lost, it first finds out what
 * happened to that post.
 */
async function carryOut(operation: SlackOperation, sending: Sending): Promise<Outcome> {
  const intent = sending.notes.post(operation.itemKey);
  if (intent !== undefined) {
    const settled = await settleIntent(operation, intent, sending);
    if (settled !== 'clear') return settled;
  }
  switch (operation.kind) {
    case 'post':
      return await post(operation, sending);
    case 'edit':
      return await edit(operation, operation.existing!, sending);
    case 'move':
      return await move(operation, operation.existing!, sending);
    case 'redact':
      // If the ledger knows no message, only a post of unknown outcome could have created one. `settleIntent` found
      // none.
      return operation.existing === null
        ? { kind: 'delivered', detail: 'there is no message', object: null }
        : await redact(operation, operation.existing, sending);
  }
}
