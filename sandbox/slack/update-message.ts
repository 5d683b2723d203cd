import { readContent } from './message-content.js';
import { messageJson } from './message-json.js';
import { truthy } from './read-arguments.js';
import { namedChannel, requiredText, requireScope, type SlackCall } from './slack-call.js';
import { SlackRefusal } from './slack-refusal.js';

/** chat.update refuses what chat.postMessage would cut. */
const MAX_TEXT = 4000;

/**
 * `chat.update` (https://docs.slack.dev/reference/methods/chat.update): own messages only. Text without blocks removes
 * the blocks; blocks without text keep the text; metadata that is not named stays, an empty object removes it.
 */
export function updateMessage(call: SlackCall): object {
  requireScope(call, 'chat:write');
  const channel = namedChannel(call);
  const ts = requiredText(call, 'ts');
  if (channel.isArchived) throw new SlackRefusal('is_inactive');
  const message = channel.find(ts);
  if (message === undefined || message.tombstone === true) throw new SlackRefusal('message_not_found');
  if (message.bot !== call.workspace.botId) throw new SlackRefusal('cant_update_message');
  const { now, editWindowMs } = call.workspace;
  if (editWindowMs !== undefined && now() - message.postedAtMs > editWindowMs) {
    throw new SlackRefusal('edit_window_closed');
  }
  const broadcasts = truthy(call.args['reply_broadcast']);
  if (broadcasts && (message.threadTs === undefined || message.broadcast === true)) {
    throw new SlackRefusal('cant_broadcast_message');
  }
  const content = readContent(call.args);
  if (content.text !== undefined && content.text.length > MAX_TEXT) throw new SlackRefusal('msg_too_long');

  if (content.text !== undefined) message.text = content.text;
  if (content.blocks !== undefined && content.blocks.length > 0) message.blocks = content.blocks;
  else if (content.blocks !== undefined || content.text !== undefined) delete message.blocks;
  if (content.metadata === null) delete message.metadata;
  else if (content.metadata !== undefined) message.metadata = content.metadata;
  if (broadcasts) message.broadcast = true;
  message.edits += 1;
  message.editedAtMs = now();
  return { channel: channel.id, ts, text: message.text, message: messageJson(call.workspace, message, 'all') };
}
