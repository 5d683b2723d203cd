import type { Change } from './change.js';

/**
 * The change envelope as JSON on one line, without a newline at its end. Webhook bodies and file lines are these
 * bytes, so a repeat of a change is byte for byte the same: the fields stand in the order that
 * docs/change-envelope.md gives, whatever order the object was built in, and nothing else is added. Text that is not
 * valid Unicode (a lone surrogate) is escaped, so that the result always survives UTF-8.
 */
export function changeJson(change: Change): string {
  return JSON.stringify({
    id: change.id,
    type: change.type,
    timestamp: change.timestamp,
    workspace: change.workspace,
    pigeonholeId: change.pigeonholeId,
    sessionId: change.sessionId,
    list: change.list,
    key: change.key,
    revision: change.revision,
    sequence: change.sequence,
    data: change.data,
    replay: change.replay, // absent when undefined
  });
}
