import type { RateLimits } from './slack-call.js';
import { type RotatingApp, TokenRotation } from './token-rotation.js';

/** A stored message, exactly as it was sent. Slack would clean it up. */
export interface SlackMessage {
  /** The instant of posting, in seconds with six decimals. Identifies the message within its channel. */
  readonly ts: string;
  /** For a reply, the ts of the parent. */
  readonly threadTs?: string;
  /** Null for a message of an incoming webhook or a person, which the app cannot edit. */
  readonly bot: string | null;
  readonly postedAtMs: number;
  text: string;
  blocks?: readonly unknown[];
  metadata?: MessageMetadata;
  editedAtMs?: number;
  /** Whether the channel shows this reply as well. */
  broadcast?: boolean;
  /** Number of edits by chat.update. */
  edits: number;
  /** Whether the parent was deleted and its replies remain. Slack shows "This message was deleted." */
  tombstone?: boolean;
  /** Written by Slack when a person archived the channel or took that back. */
  readonly notice?: 'archive' | 'unarchive';
}

export interface MessageMetadata {
  readonly event_type: string;
  readonly event_payload: Readonly<Record<string, unknown>>;
}

/** A channel that exists from the start. */
export interface ChannelOptions {
  readonly id: string;
  readonly name: string;
  /** Whether only members can see the channel. */
  readonly isPrivate?: boolean;
  /** Whether the app is in the channel; the default depends on the profile. */
  readonly isMember?: boolean;
}

/** A channel with its messages, oldest first. */
export class SlackChannel {
  readonly id: string;
  readonly name: string;
  readonly isPrivate: boolean;
  isMember: boolean;
  isArchived = false;
  private readonly messages = new Map<string, SlackMessage>();
  private readonly threads = new Map<string, SlackMessage[]>();

  /** @throws {RangeError} for an invalid id. Slack's ids start with `C` or `G` and have 9 to 11 characters. */
  constructor(options: ChannelOptions) {
    if (!/^[CG][A-Z0-9]{8,10}$/.test(options.id)) throw new RangeError(`${options.id} is not the id of a channel`);
    this.id = options.id;
    this.name = options.name;
    this.isPrivate = options.isPrivate ?? false;
    this.isMember = options.isMember ?? true;
  }

  add(message: SlackMessage): void {
    this.messages.set(message.ts, message);
    if (message.threadTs === undefined) return;
    const thread = this.threads.get(message.threadTs);
    if (thread === undefined) this.threads.set(message.threadTs, [message]);
    else thread.push(message);
  }

  find(ts: string): SlackMessage | undefined {
    return this.messages.get(ts);
  }

  /** Top-level messages, oldest first. A channel's history contains no replies. */
  get parents(): readonly SlackMessage[] {
    return [...this.messages.values()].filter(({ threadTs }) => threadTs === undefined);
  }

  /** Messages that the channel shows: top-level messages and broadcast replies. */
  get shown(): readonly SlackMessage[] {
    return [...this.messages.values()].filter(
      ({ threadTs, broadcast }) => threadTs === undefined || broadcast === true,
    );
  }

  repliesTo(ts: string): readonly SlackMessage[] {
    return this.threads.get(ts) ?? [];
  }

  get all(): readonly SlackMessage[] {
    return [...this.messages.values()];
  }

  /** Removes a message. A parent with replies leaves a tombstone, because its thread continues. */
  remove(ts: string): void {
    const message = this.messages.get(ts);
    if (message === undefined) return;
    if (this.repliesTo(ts).length === 0) {
      this.messages.delete(ts);
      const thread = this.threads.get(message.threadTs ?? '');
      thread?.splice(thread.indexOf(message), 1);
      return;
    }
    message.tombstone = true;
    message.text = 'This message was deleted.';
    delete message.blocks;
    delete message.metadata;
  }
}

/** An app's bot token and the scopes granted on installation. */
export interface SlackToken {
  readonly token: string;
  readonly scopes: readonly string[];
}

/** The scopes of the manifest in docs/sinks/slack.md. */
export const MANIFEST_SCOPES: readonly string[] = [
  'chat:write',
  'channels:history',
  'groups:history',
  'metadata.message:read',
  'channels:join',
];

/** More scopes than a bot needs to post, edit, join, and look up its own messages. */
export const ALL_SCOPES: readonly string[] = [
  'chat:write',
  'chat:write.public',
  'channels:history',
  'channels:join',
  'channels:read',
  'groups:history',
  'groups:read',
  'metadata.message:read',
];

/** An incoming webhook, which can only post to one channel. */
export interface SlackWebhook {
  /** For example `/services/T000/B000/XXXX`. */
  readonly path: string;
  readonly channel: string;
  /** `prohibited`: an administrator restricted it. `removed`: the webhook or the app was removed. */
  state: 'active' | 'prohibited' | 'removed';
}

/** State of the workspace: channels, messages and tokens. The methods of the Web API contain the rules. */
export class SlackWorkspace {
  readonly teamId = 'T0DOUBLE01';
  readonly teamName = 'Double';
  readonly botId = 'B0DOUBLE01';
  readonly botUserId = 'U0DOUBLE01';
  readonly channels = new Map<string, SlackChannel>();
  readonly webhooks = new Map<string, SlackWebhook>();
  readonly tokens = new Map<string, { scopes: readonly string[]; failure?: string }>();
  /** Messages older than this cannot be edited. Undefined: the setting "Anyone can edit, any time". */
  editWindowMs: number | undefined;
  /**
   * Whether an edit that leaves a message without its `rich_text` is refused with `block_mismatch`. Slack documents the
   * code, but not whether it applies to messages of apps.
   */
  richTextStays = false;
  /** The token rotation of the app; undefined if it has none. */
  readonly rotation: TokenRotation | undefined;
  /** User groups that the app may mention, and origins that it may link to (`misusesOf`). */
  allowed: AllowedTargets = { userGroups: [], origins: [] };
  readonly misuses: string[] = [];
  private lastMicros = 0;

  constructor(
    readonly now: () => number,
    {
      channels,
      tokens,
      rotation,
    }: { channels: readonly ChannelOptions[]; tokens: readonly SlackToken[]; rotation?: RotatingApp | undefined },
  ) {
    this.rotation = rotation && new TokenRotation(rotation, this);
    for (const channel of channels) this.channels.set(channel.id, new SlackChannel(channel));
    for (const { token, scopes } of tokens) this.tokens.set(token, { scopes });
  }

  /** Returns a channel by id, or by name with or without `#`, as `chat.postMessage` accepts it. */
  channel(idOrName: string): SlackChannel | undefined {
    const name = idOrName.replace(/^#/, '');
    return this.channels.get(idOrName) ?? [...this.channels.values()].find((channel) => channel.name === name);
  }

  post(channel: SlackChannel, message: Omit<SlackMessage, 'ts' | 'postedAtMs' | 'edits'>): SlackMessage {
    const posted: SlackMessage = { ...message, ts: this.nextTs(), postedAtMs: this.now(), edits: 0 };
    channel.add(posted);
    return posted;
  }

  /** Archives or unarchives a channel as a person does, which leaves a notice in it. */
  setArchived(channel: SlackChannel, isArchived: boolean): void {
    channel.isArchived = isArchived;
    this.post(channel, {
      bot: null,
      text: isArchived ? 'archived the channel' : 'unarchived the channel',
      notice: isArchived ? 'archive' : 'unarchive',
    });
  }

  /** Returns the current time in Slack's format, at least 1 µs after the last ts so that each ts is unique. */
  private nextTs(): string {
    this.lastMicros = Math.max(this.now() * 1000, this.lastMicros + 1);
    const seconds = Math.floor(this.lastMicros / 1e6);
    return `${seconds}.${String(this.lastMicros % 1e6).padStart(6, '0')}`;
  }
}

/** The state of a workspace as plain data. */
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
  /** One entry per used limit: `post <channel>`, `post (workspace)`, or the name of a method. */
  readonly limits: Readonly<Record<string, LimitUse>>;
  readonly violations: number;
}

interface LimitUse {
  readonly calls: number;
  readonly refused: number;
  /** Calls that arrived before the Retry-After of a refusal had passed. */
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

/** The user groups that an app may mention, and the origins that it may link to. */
export interface AllowedTargets {
  readonly userGroups: readonly string[];
  readonly origins: readonly string[];
}
