import type { SlackChannel } from './slack-channel.js';
import { namedChannel, requireScope, type SlackCall } from './slack-call.js';
import { SlackRefusal } from './slack-refusal.js';

/** `conversations.info` (https://docs.slack.dev/reference/methods/conversations.info). */
export function channelInfo(call: SlackCall): object {
  const channel = namedChannel(call);
  requireScope(call, channel.isPrivate ? 'groups:read' : 'channels:read');
  return { channel: channelJson(channel) };
}

/** `conversations.join` (https://docs.slack.dev/reference/methods/conversations.join): public channels only. */
export function joinChannel(call: SlackCall): object {
  requireScope(call, 'channels:join');
  const channel = namedChannel(call);
  if (channel.isPrivate) throw new SlackRefusal('method_not_supported_for_channel_type');
  if (channel.isArchived) throw new SlackRefusal('is_archived');
  const wasMember = channel.isMember;
  channel.isMember = true;
  return {
    channel: channelJson(channel),
    ...(wasMember && {
      warning: 'already_in_channel',
      response_metadata: { warnings: ['already_in_channel'] },
    }),
  };
}

/** `auth.test` (https://docs.slack.dev/reference/methods/auth.test): who the token is; needs no scope. */
export function testAuth({ workspace }: SlackCall): object {
  return {
    url: 'https://double.slack.com/',
    team: workspace.teamName,
    user: 'pigeonpost',
    team_id: workspace.teamId,
    user_id: workspace.botUserId,
    bot_id: workspace.botId,
    is_enterprise_install: false,
  };
}

function channelJson({ id, name, isPrivate, isArchived, isMember }: SlackChannel): object {
  return {
    id,
    name,
    name_normalized: name,
    is_channel: !isPrivate,
    is_group: isPrivate,
    is_im: false,
    is_mpim: false,
    is_private: isPrivate,
    is_archived: isArchived,
    is_member: isMember,
    is_general: false,
    is_shared: false,
    is_ext_shared: false,
    is_org_shared: false,
  };
}
