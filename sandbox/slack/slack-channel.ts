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
