import { readContent } from './message-content.js';
import { messageJson } from './message-json.js';
import { textArgument, truthy } from './read-arguments.js';
import { RateRefusal } from './rate-refusal.js';
import type { SlackChannel } from './slack-channel.js';
import { namedChannel, requireScope, type SlackCall } from './slack-call.js';
import { SlackRefusal } from './slack-refusal.js';

/** Longer text is cut, not refused (https://docs.slack.dev/changelog/2018-truncating-really-long-messages). */
const MAX_TEXT = 40_000;

/** `chat.postMessage` (https://docs.slack.dev/reference/methods/chat.postMessage). Never idempotent: a repeat posts again. */
export function postMessage(call: SlackCall): object {
  requireScope(call, 'chat:write');
  const channel = namedChannel(call, true);
  if (channel.isArchived) throw new SlackRefusal('is_archived');
  if (!channel.isMember && !call.scopes.includes('chat:write.public')) throw new SlackRefusal('not_in_channel');
  const content = readContent(call.args);
  if (content.text === undefined && content.blocks === undefined) throw new SlackRefusal('no_text');
  const threadTs = threadOf(call, channel);

  const waitSeconds = call.limits.takePost(channel.id, call.workspace.now());
  if (waitSeconds !== undefined) throw new RateRefusal(waitSeconds);
  const text = content.text ?? '';
  const message = call.workspace.post(channel, {
    bot: call.workspace.botId,
    text: text.slice(0, MAX_TEXT),
    ...(content.blocks !== undefined && { blocks: content.blocks }),
    ...(content.metadata && { metadata: content.metadata }),
    ...(threadTs !== undefined && { threadTs }),
    ...(threadTs !== undefined && truthy(call.args['reply_broadcast']) && { broadcast: true }),
  });
  return {
    channel: channel.id,
    ts: message.ts,
    message: messageJson(call.workspace, message, 'all'),
    ...(text.length > MAX_TEXT && {
      warning: 'message_truncated',
      response_metadata: { warnings: ['message_truncated'] },
    }),
  };
}

/**
 * The thread to reply in. The documentation names no error for a parent that is not there; what Slack does is post the
 * reply to the channel itself, and only the missing `thread_ts` of its answer tells (slack-go/slack#1571). A reply's ts
 * is taken for its parent's.
 */
function threadOf(call: SlackCall, channel: SlackChannel): string | undefined {
  const asked = textArgument(call.args, 'thread_ts');
  if (asked === undefined) return undefined;
  const parent = channel.find(asked);
  if (parent !== undefined) return parent.threadTs ?? parent.ts;
  if (call.orphanReplies === 'refused') throw new SlackRefusal('thread_not_found');
  return undefined;
}
