import type { Fields, Lane } from '../sink.js';
import type { Shown, MessagePlace } from './operation.js';

/** That a message is about to be posted: what it takes to find it, should nobody hear how it went. */
export interface PostIntent {
  /** Stands in the message's metadata. */
  readonly id: string;
  /** Unix time in ms, by our clock. */
  readonly atMs: number;
  /** The same by Slack's clock, if that is earlier: nothing of it can stand in Slack from before. */
  readonly sinceMs: number;
  readonly channel: string;
  readonly threadTs: string | null;
  readonly threadKey: string | null;
  readonly shown: Shown;
  /** The change that a person has to decide about, since it could not be looked up. */
  readonly parked?: string;
  /** The message that is taken away first. While this is here, nothing was posted in its place. */
  readonly replaces?: MessagePlace;
}

/** The message of a thread: where it is, or that it is about to be posted. */
type ThreadNote =
  | { readonly ts: string }
  | (Pick<PostIntent, 'id' | 'atMs' | 'sinceMs' | 'parked'> & { readonly ts?: undefined });

/**
 * What the sink remembers on a lane: an intent for each post without a known outcome, and the message of each thread.
 * `save` commits at once, one after the other, since each commit takes the place of the whole. That an intent is
 * settled is only ever committed with the outcome: known before, a crash in between would leave neither, and the
 * message would be posted again.
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

  /** The messages of threads, as far as it is known where they are. */
  get threads(): readonly { readonly channel: string; readonly key: string; readonly ts: string }[] {
    return Object.entries(this.#all).flatMap(([name, note]) => {
      const [kind, channel, key] = name.split(' ');
      const ts = (note as ThreadNote | undefined)?.ts;
      return kind === 'thread' && ts !== undefined ? [{ channel: channel!, key: key!, ts }] : [];
    });
  }

  notePost(itemKey: string, intent: PostIntent): void {
    this.#note(postKey(itemKey), intent);
  }

  /** What became of the post is known, and stands in the outcome. */
  postIsSettled(itemKey: string): void {
    this.#settle(postKey(itemKey));
  }

  noteThread(channel: string, key: string, note: ThreadNote): void {
    this.#note(threadKey(channel, key), note);
  }

  /** There is none, or none any more. */
  forgetThread(channel: string, key: string): void {
    this.#settle(threadKey(channel, key));
  }

  /** The earliest instant by which a look-up in a channel serves all that wait for one; those of a person aside. */
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

  /** What belongs with the outcomes; undefined: nothing. */
  get unsaved(): Fields | undefined {
    const unsaved = { ...this.#unsaved, ...this.#settled };
    return Object.keys(unsaved).length > 0 ? unsaved : undefined;
  }

  #note(key: string, value: unknown): void {
    this.#all[key] = value;
    this.#unsaved[key] = value;
    delete this.#settled[key];
  }

  /** An absent value takes the key away: JSON has no place for it. */
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
