import type { Fields, Lane } from '../sink.js';
import type { Shown } from './operation.js';

/** That a message is about to be posted: what it takes to find it, should nobody hear how it went. */
export interface PostIntent {
  /** Stands in the message's metadata. */
  readonly id: string;
  /** Unix time in ms, by Slack's clock as far as it is known. */
  readonly atMs: number;
  readonly channel: string;
  readonly threadTs: string | null;
  readonly threadKey: string | null;
  readonly shown: Shown;
  /** The change that a person has to decide about, since it could not be looked up. */
  readonly parked?: string;
}

/** The message of a thread: where it is, or that it is about to be posted. */
export type ThreadNote =
  | { readonly ts: string }
  | { readonly id: string; readonly atMs: number; readonly parked?: string };

/**
 * What the sink remembers on a lane: an intent for each post without a known outcome, and the message of each thread.
 * `save` commits at once, one after the other, since each commit takes the place of the whole; the rest is committed
 * with the outcomes.
 */
export class LaneNotes {
  readonly #lane: Lane;
  readonly #all: Record<string, unknown>;
  #unsaved: Record<string, unknown> = {};
  #saving: Promise<void> = Promise.resolve();

  constructor(lane: Lane) {
    this.#lane = lane;
    this.#all = { ...lane.memory };
  }

  post(itemKey: string): PostIntent | undefined {
    return this.#all[postKey(itemKey)] as PostIntent | undefined;
  }

  thread(channel: string, key: string): ThreadNote | undefined {
    return this.#all[threadKey(channel, key)] as ThreadNote | undefined;
  }

  notePost(itemKey: string, intent: PostIntent | undefined): void {
    this.#note(postKey(itemKey), intent);
  }

  noteThread(channel: string, key: string, note: ThreadNote | undefined): void {
    this.#note(threadKey(channel, key), note);
  }

  /** The earliest instant from which a look-up in this place has to read. */
  earliestMs(channel: string, threadTs: string | null): number {
    const notes = Object.values(this.#all) as (Partial<PostIntent> | undefined)[];
    const instants = notes
      .filter((note) => note?.channel === undefined || (note.channel === channel && note.threadTs === threadTs))
      .flatMap((note) => (note?.atMs === undefined ? [] : [note.atMs]));
    return Math.min(...instants);
  }

  /** Commits what was noted. @throws when the lane was taken over: nothing may be sent then */
  async save(): Promise<void> {
    const before = this.#saving;
    const turn = (async () => {
      await before.catch(() => undefined);
      const unsaved = this.#unsaved;
      this.#unsaved = {};
      if (Object.keys(unsaved).length > 0) await this.#lane.remember(unsaved);
    })();
    this.#saving = turn;
    await turn;
  }

  /** What was noted and not committed: belongs with the outcomes. Undefined: nothing. */
  get unsaved(): Fields | undefined {
    return Object.keys(this.#unsaved).length > 0 ? this.#unsaved : undefined;
  }

  /** An absent value takes the key away: JSON has no place for it. */
  #note(key: string, value: unknown): void {
    this.#all[key] = value;
    this.#unsaved[key] = value;
  }
}

function postKey(itemKey: string): string {
  return `post ${itemKey}`;
}

function threadKey(channel: string, key: string): string {
  return `thread ${channel} ${key}`;
}
