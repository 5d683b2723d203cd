import {
  textArgument,
  truthy,
  namedChannel,
  requiredText,
  requireScope,
  type SlackCall,
  invalidArguments,
  SlackRefusal,
} from './slack-call.js';
import type { SlackChannel, SlackMessage, SlackWorkspace } from './slack-workspace.js';

/** Handles `conversations.history`: top-level messages, newest first (docs.slack.dev/reference/methods). */
export function readHistory(call: SlackCall): object {
  const channel = readableChannel(call);
  const messages = within(call, channel.shown).toReversed();
  return page(call, messages, { defaultLimit: 100, maxLimit: 999 }, (message) => parentJson(call, channel, message));
}

/**
 * Handles `conversations.replies`: the parent of a thread and its replies, oldest first
 * (https://docs.slack.dev/reference/methods/conversations.replies). Every page starts with the parent.
 */
export function readReplies(call: SlackCall): object {
  const channel = readableChannel(call);
  const asked = channel.find(requiredText(call, 'ts'));
  const parent = asked?.threadTs === undefined ? asked : channel.find(asked.threadTs);
  if (parent === undefined) throw new SlackRefusal('thread_not_found');
  const replies = within(call, channel.repliesTo(parent.ts));
  const limits = { defaultLimit: 1000, maxLimit: 1000 };
  const { messages, ...rest } = page(call, replies, limits, (reply) =>
    messageJson(call.workspace, reply, metadataView(call)),
  );
  return { messages: [parentJson(call, channel, parent), ...messages], ...rest };
}

function readableChannel(call: SlackCall): SlackChannel {
  const channel = namedChannel(call);
  requireScope(call, channel.isPrivate ? 'groups:history' : 'channels:history');
  if (!channel.isMember) throw new SlackRefusal('not_in_channel'); // a bot can read a channel only if it is a member, even if the channel is public
  return channel;
}

function parentJson(call: SlackCall, channel: SlackChannel, message: SlackMessage): object {
  const replies = channel.repliesTo(message.ts);
  return {
    ...messageJson(call.workspace, message, metadataView(call)),
    ...(replies.length > 0 && {
      thread_ts: message.ts,
      reply_count: replies.length,
      latest_reply: replies.at(-1)!.ts,
      reply_users_count: 1,
    }),
  };
}

function metadataView(call: SlackCall): MetadataView {
  const asked = truthy(call.args['include_all_metadata']);
  return asked && call.scopes.includes('metadata.message:read') ? 'all' : 'type-only';
}

/** Returns the messages between `oldest` and `latest`, which are included only with `inclusive`. */
function within(call: SlackCall, messages: readonly SlackMessage[]): readonly SlackMessage[] {
  const oldest = timestamp(call, 'oldest', '0');
  const latest = timestamp(call, 'latest', '9999999999.999999');
  const inclusive = truthy(call.args['inclusive']);
  return messages.filter(({ ts }) => {
    const at = micros(ts);
    return inclusive ? at >= oldest && at <= latest : at > oldest && at < latest;
  });
}

function timestamp(call: SlackCall, name: 'oldest' | 'latest', otherwise: string): bigint {
  const value = textArgument(call.args, name) ?? otherwise;
  if (!/^\d{1,10}(\.\d{1,6})?$/.test(value)) throw new SlackRefusal(`invalid_ts_${name}`);
  return micros(value);
}

/** Converts a ts to microseconds. It has too many digits for a safe comparison of floating-point numbers. */
function micros(ts: string): bigint {
  const [seconds = '0', fraction = ''] = ts.split('.');
  return BigInt(seconds) * 1_000_000n + BigInt(fraction.padEnd(6, '0'));
}

interface PageLimits {
  readonly defaultLimit: number;
  readonly maxLimit: number;
}

/** Returns the page at a cursor. A cursor names the first message of its page, so that new messages do not shift it. */
function page(
  call: SlackCall,
  messages: readonly SlackMessage[],
  { defaultLimit, maxLimit }: PageLimits,
  json: (message: SlackMessage) => object,
): { messages: object[]; has_more: boolean; response_metadata?: { next_cursor: string } } {
  const limit = Number(textArgument(call.args, 'limit') ?? defaultLimit);
  if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit) throw invalidArguments('invalid value: limit');
  const from = startOf(messages, textArgument(call.args, 'cursor'));
  const next = messages[from + limit];
  return {
    messages: messages.slice(from, from + limit).map(json),
    has_more: next !== undefined,
    ...(next !== undefined && {
      response_metadata: { next_cursor: Buffer.from(`next_ts:${next.ts}`).toString('base64') },
    }),
  };
}

function startOf(messages: readonly SlackMessage[], cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const ts = /^next_ts:([\d.]+)$/.exec(Buffer.from(cursor, 'base64').toString())?.[1];
  const from = messages.findIndex((message) => message.ts === ts);
  if (from === -1) throw new SlackRefusal('invalid_cursor');
  return from;
}

/** The part of a message's metadata that the caller receives. */
type MetadataView = 'all' | 'type-only';

/**
 * Returns a message as in Slack's answers. Without `include_all_metadata`, the metadata has only its type and no
 * payload (slackapi/python-slack-sdk#1501).
 */
export function messageJson(workspace: SlackWorkspace, message: SlackMessage, view: MetadataView): object {
  const { text, blocks, metadata, editedAtMs, threadTs, tombstone, broadcast, notice } = message;
  const author =
    notice !== undefined
      ? { user: 'U0PERSON01', subtype: `channel_${notice}` }
      : tombstone === true
        ? { user: 'USLACKBOT', subtype: 'tombstone', hidden: true }
        : message.bot === null
          ? { subtype: 'bot_message' }
          : { user: workspace.botUserId, bot_id: message.bot, team: workspace.teamId };
  return {
    type: 'message',
    ...author,
    ...(broadcast === true && { subtype: 'thread_broadcast' }),
    text,
    ts: message.ts,
    ...(threadTs !== undefined && { thread_ts: threadTs, parent_user_id: workspace.botUserId }),
    ...(blocks !== undefined && { blocks: withIds(blocks) }),
    ...(metadata !== undefined && {
      metadata: view === 'all' ? metadata : { event_type: metadata.event_type, event_payload: {} },
    }),
    ...(editedAtMs !== undefined && {
      edited: { user: message.bot, ts: `${Math.floor(editedAtMs / 1000)}.000000` },
    }),
  };
}

/** Adds missing ids to blocks, as Slack does. The ids are the same in each answer. */
function withIds(blocks: readonly unknown[]): unknown[] {
  return blocks.map((block, index) => ({ block_id: `b${index}`, ...(block as object) }));
}
