import type { Fields, Lane } from '../sink.js';
import type { Shown, MessagePlace } from './operation.js';

/** Notes that a message is about to be posted, and how to find it if the answer is lost. */
export interface PostIntent {
  /** The id in the message's metadata. */
  readonly id: string;
  /** Unix time in ms, by our clock. */
  readonly atMs: number;
  /** The earlier of our clock and Slack's: the message cannot be older. */
  readonly sinceMs: number;
  readonly channel: string;
  readonly threadTs: string | null;
  readonly threadKey: string | null;
  readonly shown: Shown;
  /** The change that waits for an operator's decision, because the message could not be looked up. */
  readonly parked?: string;
  /** The old message of a move, which is removed first. While this is set, nothing was posted in its place. */
  readonly replaces?: MessagePlace;
}

/** The message of a thread: its ts, or the intent to post it. */
type ThreadNote =
  | { readonly ts: string }
  | (Pick<PostIntent, 'id' | 'atMs' | 'sinceMs' | 'parked'> & { readonly ts?: undefined });

/**
 * The lane's memory: an intent for each post without a known outcome, and the message of each thread. `save` commits
 * what was noted; its commits run one after the other. The removal of an intent is only committed together with the
 * outcome: otherwise a crash in between would lose both, and the message would be posted again.
 */
export class LaneNotes {
  readonly #lane: Lane;
  readonly #all: Record<string, unknown>;
  #unsaved: Record<string, unknown> = {};
  #settled: Record<string, unknown> = {};
  #saving: Promise<void> = Promise.resolve();

  constructor(lane: Lane) {
    this.#lane = lane;
    this.#all = { ...lane.memory };
  }

  post(itemKey: string): PostIntent | undefined {
    return this.#all[postKey(itemKey)] as PostIntent | undefined;
  }

  /** Items with an intent. */
  get intents(): readonly { readonly itemKey: string; readonly intent: PostIntent }[] {
    return Object.entries(this.#all).flatMap(([key, note]) =>
      key.startsWith(postPrefix) && note !== undefined
        ? [{ itemKey: key.slice(postPrefix.length), intent: note as PostIntent }]
        : [],
    );
  }

  thread(channel: string, key: string): ThreadNote | undefined {
    return this.#all[threadKey(channel, key)] as ThreadNote | undefined;
  }

  notePost(itemKey: string, intent: PostIntent): void {
    this.#note(postKey(itemKey), intent);
  }

  /** Removes the intent together with the outcome that is returned. */
  postIsSettled(itemKey: string): void {
    this.#settle(postKey(itemKey));
  }

  noteThread(channel: string, key: string, note: ThreadNote): void {
    this.#note(threadKey(channel, key), note);
  }

  /** The thread's message does not exist, or no longer. */
  forgetThread(channel: string, key: string): void {
    this.#settle(threadKey(channel, key));
  }

  /** The instant from which one look-up in a channel serves all intents, except those that wait for an operator. */
  earliestMs(channel: string): number {
    const notes = Object.values(this.#all) as (Partial<PostIntent> | undefined)[];
    const instants = notes
      .filter((note) => note?.parked === undefined && (note?.channel ?? channel) === channel)
      .flatMap((note) => (note?.sinceMs === undefined ? [] : [note.sinceMs]));
    return Math.min(...instants);
  }

  /** Commits what was noted. @throws when the lane was taken over: nothing may be sent then */
  async save(): Promise<void> {
    const before = this.#saving;
    const commit = (async () => {
      await before.catch(() => undefined);
      const unsaved = this.#unsaved;
      this.#unsaved = {};
      if (Object.keys(unsaved).length > 0) await this.#lane.remember(unsaved);
    })();
    this.#saving = commit;
    await commit;
  }

  /** The memory to commit with the outcomes; undefined if nothing changed. */
  get unsaved(): Fields | undefined {
    const unsaved = { ...this.#unsaved, ...this.#settled };
    return Object.keys(unsaved).length > 0 ? unsaved : undefined;
  }

  #note(key: string, value: unknown): void {
    this.#all[key] = value;
    this.#unsaved[key] = value;
    delete this.#settled[key];
  }

  /** An undefined value removes the key, since JSON has none. */
  #settle(key: string): void {
    this.#all[key] = undefined;
    this.#settled[key] = undefined;
    delete this.#unsaved[key];
  }
}

const postPrefix = 'post ';

function postKey(itemKey: string): string {
  return `${postPrefix}${itemKey}`;
}

function threadKey(channel: string, key: string): string {
  return `thread ${channel} ${key}`;
}
