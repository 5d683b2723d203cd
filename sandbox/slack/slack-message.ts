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
