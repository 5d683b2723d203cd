import { namedChannel, requiredText, requireScope, type SlackCall } from './slack-call.js';
import { SlackRefusal } from './slack-refusal.js';

/** `chat.delete` (https://docs.slack.dev/reference/methods/chat.delete): own messages only. */
export function deleteMessage(call: SlackCall): object {
  requireScope(call, 'chat:write');
  const channel = namedChannel(call);
  const ts = requiredText(call, 'ts');
  const message = channel.find(ts);
  if (message === undefined || message.tombstone === true) throw new SlackRefusal('message_not_found');
  if (message.bot !== call.workspace.botId) throw new SlackRefusal('cant_delete_message');
  channel.remove(ts);
  return { channel: channel.id, ts };
}
