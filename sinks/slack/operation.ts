import type { Operation, Fields } from '../sink.js';

/** What a message shows, as `chat.postMessage` and `chat.update` take it. */
export interface MessageContent {
  /** For notifications; what is displayed are the blocks. */
  readonly text: string;
  readonly blocks: readonly Block[];
}

export type Block =
  | { readonly type: 'section'; readonly text: PlainText }
  | { readonly type: 'header'; readonly text: PlainText }
  | { readonly type: 'context'; readonly elements: readonly PlainText[] }
  | { readonly type: 'rich_text'; readonly elements: readonly RichTextSection[] }
  | { readonly type: 'actions'; readonly elements: readonly LinkButton[] };

export interface RichTextSection {
  readonly type: 'rich_text_section';
  readonly elements: readonly (
    | { readonly type: 'text'; readonly text: string }
    | { readonly type: 'link'; readonly url: string; readonly text: string }
    | { readonly type: 'usergroup'; readonly usergroup_id: string }
  )[];
}

interface LinkButton {
  readonly type: 'button';
  readonly action_id: string;
  readonly text: PlainText;
  readonly url: string;
}

/** The one kind of text in which nothing that an audience writes has a meaning. */
export interface PlainText {
  readonly type: 'plain_text';
  readonly text: string;
  readonly emoji: false;
}

/** Where a message is to be. */
export interface Target {
  readonly channel: string;
  readonly thread: ThreadPlan | null;
}

export interface ThreadPlan {
  /** A hash of the value by which items are threaded. */
  readonly key: string;
  readonly content: MessageContent;
}

/** What is known of a message's content without its text: enough to tell whether it has to change. */
export interface Shown {
  /** Of all that is shown but the votes. */
  readonly hash: string;
  readonly votes: number | null;
  /** Shown in the channel as well as in its thread. */
  readonly broadcast: boolean;
  /** Made while the person was known to the mapping. */
  readonly named: boolean;
  /** Which of the configured messages it is. */
  readonly entry: number;
}

/** Ids only: anyone in the channel can read it. */
export interface ItemMetadata {
  readonly event_type: 'pigeonpost_item';
  readonly event_payload: {
    readonly change: string;
    readonly pigeonhole: number;
    readonly list: string;
    readonly key: string;
  };
}

interface Common extends Operation {
  /** The item, within its lane. */
  readonly itemKey: string;
  readonly metadata: ItemMetadata;
  /** The message that stands for it; null: none, or nobody knows. */
  readonly existing: ExistingMessage | null;
}

/** Shows an item: posted where there is no message, edited where there is, moved where it is to stand elsewhere. */
export interface ShowOperation extends Common {
  readonly kind: 'post' | 'edit' | 'move';
  readonly to: Target;
  readonly content: MessageContent;
  readonly shown: Shown;
  /** Nothing but the count differs: may wait, and be overtaken. */
  readonly votesOnly: boolean;
  /** What stands there names a person who may not be named: it goes, one way or the other. */
  readonly mustHide: boolean;
}

export interface RedactOperation extends Common {
  readonly kind: 'redact';
  readonly content: MessageContent;
  /** Deleted in place of that, with the threads of the lane: a canary has them for itself. */
  readonly whole?: true;
}

export type SlackOperation = ShowOperation | RedactOperation;

/**
 * What the sink has made of an item, as it is kept with it: ids, counts and hashes, no text.
 *
 * `shown` it stands there · `redacted` its text was replaced · `fixed` it stands there and Slack lets nobody edit it ·
 * `unknown` it may have been posted, the lane's memory knows where · `blind` posted through an incoming webhook, which
 * says nothing of where
 */
export type SlackObject =
  | (ExistingMessage & { readonly state: 'shown' | 'redacted' | 'fixed' })
  | { readonly state: 'unknown' }
  | { readonly state: 'blind' };

export interface MessagePlace {
  readonly channel: string;
  readonly ts: string;
}

// A type and not an interface: what the engine keeps is any fields.
export type ExistingMessage = {
  readonly channel: string;
  readonly ts: string;
  /** The message it is a reply to. */
  readonly threadTs: string | null;
  /** The hash of the value by which it is threaded. */
  readonly threadKey: string | null;
  /** Null once redacted: not even a hash of the text is kept. */
  readonly hash: string | null;
  readonly votes: number | null;
  /** Once shown in the channel as well, a reply stays there. */
  readonly broadcast: boolean;
  readonly named: boolean;
  readonly entry: number;
};

/** The object of a message that shows this. */
export function shownObject(
  place: MessagePlace & { readonly threadTs: string | null; readonly threadKey: string | null },
  { hash, votes, broadcast, named, entry }: Shown,
): SlackObject {
  const { channel, ts, threadTs, threadKey } = place;
  return { state: 'shown', channel, ts, threadTs, threadKey, hash, votes, broadcast, named, entry };
}

/** The object of a message whose text was replaced. */
export function redactedObject(existing: ExistingMessage): SlackObject {
  return { ...existing, state: 'redacted', hash: null, votes: null, named: false };
}

/** The message that stands there by what is kept of an item; null: none, or nobody knows. */
export function existingMessage(object: SlackObject | null): ExistingMessage | null {
  if (object === null || !('ts' in object)) return null;
  const { state: _, ...existing } = object;
  return existing;
}

/** Reads what the engine kept; null: nothing, or nothing that this version understands. */
export function readObject(fields: Fields | null): SlackObject | null {
  if (fields === null) return null;
  const { state, channel, ts, threadTs, threadKey, hash, votes, broadcast, named, entry } = fields;
  if (state === 'unknown' || state === 'blind') return { state };
  if (state !== 'shown' && state !== 'redacted' && state !== 'fixed') return null;
  if (typeof channel !== 'string' || typeof ts !== 'string') return null;
  return {
    state,
    channel,
    ts,
    threadTs: typeof threadTs === 'string' ? threadTs : null,
    threadKey: typeof threadKey === 'string' ? threadKey : null,
    hash: typeof hash === 'string' ? hash : null,
    votes: typeof votes === 'number' ? votes : null,
    broadcast: broadcast === true,
    named: named === true,
    entry: typeof entry === 'number' ? entry : 0,
  };
}
