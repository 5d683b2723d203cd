import type { Fields } from '../sink.js';
import type { Shown } from './operation.js';

/**
 * What the sink has made of an item, as it is kept with it: ids, counts and hashes, no text.
 *
 * `shown` it stands there · `redacted` its text was replaced · `fixed` it stands there and Slack lets nobody edit it ·
 * `unknown` it may have been posted, the lane's memory knows where · `blind` posted through an incoming webhook, which
 * says nothing of where
 */
export type SlackObject =
  | (StandingMessage & { readonly state: 'shown' | 'redacted' | 'fixed' })
  | { readonly state: 'unknown' }
  | { readonly state: 'blind' };

export interface MessagePlace {
  readonly channel: string;
  readonly ts: string;
}

// A type and not an interface: what the engine keeps is any fields.
export type StandingMessage = {
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
export function redactedObject(standing: StandingMessage): SlackObject {
  return { ...standing, state: 'redacted', hash: null, votes: null, named: false };
}

/** The message that stands there by what is kept of an item; null: none, or nobody knows. */
export function standingOf(object: SlackObject | null): StandingMessage | null {
  if (object === null || !('ts' in object)) return null;
  const { state: _, ...standing } = object;
  return standing;
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
