import { isObject } from '../json.js';
import { messageJson } from './read-messages.js';
import {
  textArgument,
  truthy,
  namedChannel,
  requireScope,
  type SlackCall,
  RateRefusal,
  SlackRefusal,
  requiredText,
  structured,
  type Arguments,
} from './slack-call.js';
import type { SlackChannel, SlackMessage, MessageMetadata } from './slack-workspace.js';
import { checkBlocks } from './check-blocks.js';
import { isDeepStrictEqual } from 'node:util';

/** Longer text is cut, not refused (https://docs.slack.dev/changelog/2018-truncating-really-long-messages). */
const MAX_TEXT = 40_000;

/** Handles `chat.postMessage`, which is not idempotent (https://docs.slack.dev/reference/methods/chat.postMessage). */
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
 * Returns the thread of a reply. If the parent is missing, Slack posts the reply to the channel; only the missing
 * `thread_ts` in the answer shows it (slack-go/slack#1571), and the documentation names no error. The ts of a reply
 * counts as the ts of its parent.
 */
function threadOf(call: SlackCall, channel: SlackChannel): string | undefined {
  const asked = textArgument(call.args, 'thread_ts');
  if (asked === undefined) return undefined;
  const parent = channel.find(asked);
  return parent?.threadTs ?? parent?.ts;
}

/** Handles `chat.delete`, only for the app's own messages (https://docs.slack.dev/reference/methods/chat.delete). */
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

/** Maximum length for chat.update, which refuses longer texts instead of cutting them. */
const MAX_EDITED_TEXT = 4000;

/**
 * Handles `chat.update` (https://docs.slack.dev/reference/methods/chat.update), only for the app's own messages. Text
 * without blocks removes the blocks, and blocks without text keep the text. Metadata stays unless it is sent; an empty
 * object removes it. One call cannot both change the content and broadcast a reply, and a message with `rich_text`
 * cannot lose it (`workspace.richTextStays`).
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
  if (content.text !== undefined && content.text.length > MAX_EDITED_TEXT) throw new SlackRefusal('msg_too_long');
  if (broadcasts && changesContent(message, content)) throw new SlackRefusal('no_dual_broadcast_content_update');
  if (call.workspace.richTextStays && hasRichText(message.blocks) && replacesBlocks(content)) {
    if (!hasRichText(content.blocks)) throw new SlackRefusal('block_mismatch');
  }

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

/** Whether an edit would change the text or the blocks of a message. Metadata is no content. */
function changesContent(message: SlackMessage, content: MessageContent): boolean {
  const changesText = content.text !== undefined && content.text !== message.text;
  return changesText || (replacesBlocks(content) && !isDeepStrictEqual(content.blocks ?? [], message.blocks ?? []));
}

function replacesBlocks({ text, blocks }: MessageContent): boolean {
  return blocks !== undefined || text !== undefined;
}

function hasRichText(blocks: readonly unknown[] = []): boolean {
  return blocks.some((block) => (block as { readonly type?: unknown }).type === 'rich_text');
}

/** The content of a message in a call. Fields that the call omits are undefined. */
interface MessageContent {
  readonly text?: string;
  readonly blocks?: readonly unknown[];
  /** Null, sent as an empty object, removes the metadata. */
  readonly metadata?: MessageMetadata | null;
}

/**
 * Reads the content of chat.postMessage and chat.update.
 * @throws {SlackRefusal} `no_text`, and the errors of checkBlocks and checkMetadata
 */
export function readContent(args: Arguments): MessageContent {
  const text = textArgument(args, 'text');
  const blocks = structured(args['blocks'], () => new SlackRefusal('invalid_blocks_format'));
  const attachments = structured(args['attachments'], () => new SlackRefusal('invalid_attachments'));
  const metadata = structured(args['metadata'], () => new SlackRefusal('invalid_metadata_format'));
  if (text === undefined && blocks === undefined && attachments === undefined && metadata === undefined) {
    throw new SlackRefusal('no_text');
  }
  return {
    ...(text !== undefined && { text }),
    ...(blocks !== undefined && { blocks: checkBlocks(blocks) }),
    ...(metadata !== undefined && { metadata: isEmptyObject(metadata) ? null : checkMetadata(metadata) }),
  };
}

function isEmptyObject(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}

/** Slack documents the error `metadata_too_large` but not the limit, so the stand-in uses a small one. */
const MAX_METADATA_BYTES = 8 * 1024;

/**
 * Checks message metadata (https://docs.slack.dev/messaging/message-metadata, types as in the SDK's MessageMetadata):
 * an alphanumeric `event_type` and a flat `event_payload` of strings, numbers, booleans, objects of these and lists of
 * such objects.
 * @throws {SlackRefusal} `invalid_metadata_format`, `invalid_metadata_schema` or `metadata_too_large`
 */
function checkMetadata(value: unknown): MessageMetadata {
  if (!isObject(value)) throw new SlackRefusal('invalid_metadata_format');
  const { event_type: type, event_payload: payload, ...others } = value;
  if (typeof type !== 'string' || !/^[\w.-]+$/.test(type)) throw new SlackRefusal('invalid_metadata_format');
  if (!isObject(payload) || !Object.values(payload).every(isPayloadValue) || Object.keys(others).length > 0) {
    throw new SlackRefusal('invalid_metadata_schema');
  }
  if (Buffer.byteLength(JSON.stringify(value)) > MAX_METADATA_BYTES) throw new SlackRefusal('metadata_too_large');
  return { event_type: type, event_payload: payload };
}

function isPayloadValue(value: unknown): boolean {
  if (isScalar(value)) return true;
  if (Array.isArray(value)) return value.every((entry) => isObject(entry) && Object.values(entry).every(isScalar));
  return isObject(value) && Object.values(value).every(isScalar);
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
