import type { SlackMessage } from './slack-message.js';
import type { SlackWorkspace } from './slack-workspace.js';

/** The part of a message's metadata that a caller may see. */
export type MetadataView = 'all' | 'type-only';

/**
 * A message as Slack answers it. Without `include_all_metadata` the payload of the metadata is stripped and only its
 * type is left (slackapi/python-slack-sdk#1501).
 */
export function messageJson(workspace: SlackWorkspace, message: SlackMessage, view: MetadataView): object {
  const { text, blocks, metadata, editedAtMs, threadTs, tombstone, broadcast } = message;
  const author =
    tombstone === true
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

/** Slack gives every block an id; one that came without gets a name that is the same at each reading. */
function withIds(blocks: readonly unknown[]): unknown[] {
  return blocks.map((block, index) => ({ block_id: `b${index}`, ...(block as object) }));
}
