import type { Operation } from '../sink.js';
import type { StandingMessage } from './slack-object.js';

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

export interface LinkButton {
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
  readonly standing: StandingMessage | null;
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
