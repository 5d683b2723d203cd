/** A message as the double keeps it: exactly what was sent, without the clean-up that Slack does. */
export interface SlackMessage {
  /** The instant of posting in seconds with six digits; identifies the message within its channel. */
  readonly ts: string;
  /** The parent of the thread, for a reply. */
  readonly threadTs?: string;
  /** Null for an incoming webhook and for a person: the app may edit neither. */
  readonly bot: string | null;
  readonly postedAtMs: number;
  text: string;
  blocks?: readonly unknown[];
  metadata?: MessageMetadata;
  editedAtMs?: number;
  /** A reply that the channel shows as well. */
  broadcast?: boolean;
  /** Number of changes by chat.update. */
  edits: number;
  /** The parent was deleted and its replies remain: Slack shows "This message was deleted." */
  tombstone?: boolean;
}

export interface MessageMetadata {
  readonly event_type: string;
  readonly event_payload: Readonly<Record<string, unknown>>;
}

/** A channel that a double is started with. */
export interface ChannelOptions {
  readonly id: string;
  readonly name: string;
  /** An app that is not in a private channel cannot tell that it exists. */
  readonly isPrivate?: boolean;
  /** Whether the app is in it; by default as the profile has it. */
  readonly isMember?: boolean;
}

/** One channel with what was posted, oldest first. */
export class SlackChannel {
  readonly id: string;
  readonly name: string;
  readonly isPrivate: boolean;
  isMember: boolean;
  isArchived = false;
  private readonly messages = new Map<string, SlackMessage>();
  private readonly threads = new Map<string, SlackMessage[]>();

  /** @throws {RangeError} for an id that Slack does not have: `C` or `G`, and 9 to 11 characters in all */
  constructor(options: ChannelOptions) {
    if (!/^[CG][A-Z0-9]{8,10}$/.test(options.id)) throw new RangeError(`${options.id} is no id of a channel`);
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

  /** Top-level messages, oldest first: replies are not part of a channel's history. */
  get parents(): readonly SlackMessage[] {
    return [...this.messages.values()].filter(({ threadTs }) => threadTs === undefined);
  }

  /** The messages that the channel shows: top-level messages, and replies that were broadcast to it. */
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

  /** Removes a message; a parent with replies leaves a tombstone, since its thread continues. */
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
