import type { RateLimits } from './rate-limits.js';
import type { SlackMessage } from './slack-message.js';
import type { SlackWorkspace } from './slack-workspace.js';

/** The content of a workspace, as plain data. */
export interface SlackState {
  readonly team: string;
  readonly channels: readonly {
    readonly id: string;
    readonly name: string;
    readonly isPrivate: boolean;
    readonly isArchived: boolean;
    readonly isMember: boolean;
    /** Top-level messages, oldest first, each with its replies. */
    readonly messages: readonly (SlackMessage & { readonly replies: readonly SlackMessage[] })[];
  }[];
  /** One entry for each limit that was used: `post <channel>`, `post (workspace)`, and methods by name. */
  readonly limits: Readonly<Record<string, LimitUse>>;
  readonly violations: number;
}

export interface LimitUse {
  readonly calls: number;
  readonly refused: number;
  /** Calls that came before the Retry-After of a refusal was over. */
  readonly ignoredRetryAfter: number;
  readonly maxPerSecond: number;
  readonly maxPerMinute: number;
}

export function slackState(workspace: SlackWorkspace, limits: RateLimits): SlackState {
  const uses = [...limits.byName].map(([name, limit]): [string, LimitUse] => [
    name,
    {
      calls: limit.passed.length,
      refused: limit.violations.length,
      ignoredRetryAfter: limit.violations.filter(({ ignoredRetryAfter }) => ignoredRetryAfter).length,
      maxPerSecond: limit.maxWithin(1000),
      maxPerMinute: limit.maxWithin(60_000),
    },
  ]);
  return {
    team: workspace.teamName,
    channels: [...workspace.channels.values()].map((channel) => ({
      id: channel.id,
      name: channel.name,
      isPrivate: channel.isPrivate,
      isArchived: channel.isArchived,
      isMember: channel.isMember,
      messages: channel.parents.map((message) => ({ ...message, replies: channel.repliesTo(message.ts) })),
    })),
    limits: Object.fromEntries(uses),
    violations: uses.reduce((sum, [, { refused }]) => sum + refused, 0),
  };
}
