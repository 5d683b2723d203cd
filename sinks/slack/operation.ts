import { z } from 'zod';
import type { Operation, Fields, Sink, Subject } from '../sink.js';
import { wellFormed } from './blocks.js';

/** The content of a message, as `chat.postMessage` and `chat.update` accept it. */
export interface MessageContent {
  /** For notifications and screen readers; Slack displays the blocks. */
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

/** The only kind of text in which Slack interprets no mentions, links or formatting. */
export interface PlainText {
  readonly type: 'plain_text';
  readonly text: string;
  readonly emoji: false;
}

/** The channel and thread in which an item's message belongs. */
export interface Target {
  readonly channel: string;
  readonly thread: ThreadPlan | null;
}

export interface ThreadPlan {
  /** Hash of the `threadBy` value. */
  readonly key: string;
  readonly content: MessageContent;
}

/** Describes a message's content without its text. Comparing two of these shows whether the message has to change. */
export interface Shown {
  /** Hash of everything shown except the votes. */
  readonly hash: string;
  readonly votes: number | null;
  /** Whether a reply is shown in the channel as well as in its thread. */
  readonly broadcast: boolean;
  /**
   * Whether the mapping had the attendee's record when it rendered the message, so that the message may name the
   * person.
   */
  readonly named: boolean;
  /** Index into the configured messages. */
  readonly entry: number;
}

/** Contains only ids, because everyone in the channel can read the metadata. */
interface ItemMetadata {
  readonly event_type: 'pigeonpost_item';
  readonly event_payload: {
    readonly change: string;
    readonly pigeonhole: number;
    readonly list: string;
    readonly key: string;
  };
}

interface Common extends Operation {
  /** Identifies the item within its lane. */
  readonly itemKey: string;
  readonly metadata: ItemMetadata;
  /** The item's message; null if there is none or pigeonpost does not know where it is. */
  readonly existing: ExistingMessage | null;
}

/** Shows an item: posts its message, edits it, or moves it to another channel or thread. */
export interface ShowOperation extends Common {
  readonly kind: 'post' | 'edit' | 'move';
  readonly to: Target;
  readonly content: MessageContent;
  readonly shown: Shown;
  /** Whether only the number of votes differs. Such an edit may wait, and later changes may overtake it. */
  readonly votesOnly: boolean;
  /**
   * Whether the message may name an attendee who must no longer be named. It then has to change, whatever the
   * configuration says.
   */
  readonly mustHide: boolean;
}

export interface RedactOperation extends Common {
  readonly kind: 'redact';
  readonly content: MessageContent;
}

export type SlackOperation = ShowOperation | RedactOperation;

export interface MessagePlace {
  readonly channel: string;
  readonly ts: string;
}

const existingMessageSchema = z.object({
  channel: z.string(),
  ts: z.string(),
  /** The ts of the thread's first message; null if this message is not a reply. */
  threadTs: z.string().nullable().catch(null),
  /** Hash of the message's `threadBy` value. */
  threadKey: z.string().nullable().catch(null),
  /** Null after the text was replaced: the ledger then does not keep even a hash of it. */
  hash: z.string().nullable().catch(null),
  votes: z.number().nullable().catch(null),
  /** Whether the reply was shown in the channel as well. Slack cannot undo that. */
  broadcast: z.boolean().catch(false),
  named: z.boolean().catch(false),
  entry: z.number().catch(0),
});

export type ExistingMessage = Readonly<z.infer<typeof existingMessageSchema>>;

/**
 * The state of an item's message, as the ledger stores it: ids, counts and hashes, but no text.
 *
 * - `shown`: the message shows the item
 * - `redacted`: its text was replaced
 * - `fixed`: it shows the item, and Slack no longer allows edits
 * - `unknown`: it may have been posted; the lane's memory has its place
 * - `blind`: posted through an incoming webhook, which returns no place
 */
const objectSchema = z.discriminatedUnion('state', [
  existingMessageSchema.extend({ state: z.enum(['shown', 'redacted', 'fixed']) }),
  z.object({ state: z.literal('unknown') }),
  z.object({ state: z.literal('blind') }),
]);

export type SlackObject = Readonly<z.infer<typeof objectSchema>>;

/** Returns the state of a message that shows this content. */
export function shownObject(
  place: MessagePlace & { readonly threadTs: string | null; readonly threadKey: string | null },
  { hash, votes, broadcast, named, entry }: Shown,
): SlackObject {
  const { channel, ts, threadTs, threadKey } = place;
  return { state: 'shown', channel, ts, threadTs, threadKey, hash, votes, broadcast, named, entry };
}

/** Returns the state of a message whose text was replaced. */
export function redactedObject(existing: ExistingMessage): SlackObject {
  return { ...existing, state: 'redacted', hash: null, votes: null, named: false };
}

/** Returns the item's message; null if there is none or its place is unknown. */
export function existingMessage(object: SlackObject | null): ExistingMessage | null {
  if (object === null || !('ts' in object)) return null;
  const { state: _, ...existing } = object;
  return existing;
}

/**
 * Reads the state that the ledger stores; null if there is none, or this version of pigeonpost does not understand it.
 */
export function readObject(fields: Fields | null): SlackObject | null {
  return objectSchema.safeParse(fields).data ?? null;
}

/** The calls of a sink, by bot token or by incoming webhook, which reads nothing back. */
export type SlackMode = Required<Pick<Sink<SlackOperation>, 'check' | 'send' | 'recover' | 'sendTest'>> &
  Pick<Sink<SlackOperation>, 'readBack' | 'compareHeld' | 'removeHeld'>;

/** Returns the fields that every operation of an item has. */
export function sharedFields({ change }: Subject, object: SlackObject | null) {
  const metadata: ItemMetadata = {
    event_type: 'pigeonpost_item',
    event_payload: {
      change: change.id,
      pigeonhole: change.pigeonholeId,
      list: change.list,
      key: wellFormed(change.key),
    },
  };
  return {
    changeId: change.id,
    itemKey: `${change.list}/${change.key}`,
    metadata,
    existing: existingMessage(object),
  };
}
