import type { Fields, Lane } from '../sink.js';
import type { Shown, MessagePlace } from './operation.js';

/** A note that pigeonpost is about to post a message. It says how to find the message if Slack's answer is lost. */
export interface PostIntent {
  /** The id in the message's metadata. */
  readonly id: string;
  /** Unix time in ms, by our clock. */
  readonly atMs: number;
  /** `atMs` by our clock or Slack's, whichever is earlier. The message cannot be older. */
  readonly sinceMs: number;
  readonly channel: string;
  readonly threadTs: string | null;
  readonly threadKey: string | null;
  readonly shown: Shown;
  /**
   * The id of the change that became a dead letter because the message could not be looked up. If the operator redrives
   * it, the message is posted.
   */
  readonly parked?: string;
  /**
   * Set while a message is moved: the old message, which is removed before the new one is posted. As long as this is
   * set, the new message was not posted.
   */
  readonly replaces?: MessagePlace;
}

/** The message of a thread: its ts, or the intent to post it. */
type ThreadNote = { readonly ts: string } | (ThreadIntent & { readonly ts?: undefined });

export type ThreadIntent = Pick<PostIntent, 'id' | 'atMs' | 'sinceMs' | 'parked'>;

/**
 * The lane's memory: an intent for each post whose outcome is not known, and the message of each thread. `save` commits
 * new notes, and its commits run one after another. The removal of an intent is committed only together with the
 * outcome. If it were committed earlier, a crash before the outcome is committed would lose both the intent and the
 * outcome, and the message would be posted again.
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

  /** The items that have an intent, with their intents. */
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

  /** Marks the intent for removal. The engine removes it when it commits the outcome. */
  postIsSettled(itemKey: string): void {
    this.#settle(postKey(itemKey));
  }

  noteThread(channel: string, key: string, note: ThreadNote): void {
    this.#note(threadKey(channel, key), note);
  }

  /** Removes the note about a thread's message, because the message was not posted or no longer exists. */
  forgetThread(channel: string, key: string): void {
    this.#settle(threadKey(channel, key));
  }

  /**
   * Returns the time from which a look-up in a channel must read, so that it covers all intents except those that wait
   * for an operator.
   */
  earliestMs(channel: string): number {
    const notes = Object.values(this.#all) as (Partial<PostIntent> | undefined)[];
    const instants = notes
      .filter((note) => note?.parked === undefined && (note?.channel ?? channel) === channel)
      .flatMap((note) => (note?.sinceMs === undefined ? [] : [note.sinceMs]));
    return Math.min(...instants);
  }

  /** Commits the new notes. @throws if another process took over the lane: nothing may be sent then */
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

  /** The changes to the memory that the engine must commit with the outcomes; undefined if there are none. */
  get unsaved(): Fields | undefined {
    const unsaved = { ...this.#unsaved, ...this.#settled };
    return Object.keys(unsaved).length > 0 ? unsaved : undefined;
  }

  #note(key: string, value: unknown): void {
    this.#all[key] = value;
    this.#unsaved[key] = value;
    delete this.#settled[key];
  }

  /** Marks a key for removal: JSON has no undefined, so the key is missing once the memory is stored. */
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
