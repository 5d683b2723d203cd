import type { Lane, Outcome } from '../sink.js';
import type { Clock } from '../network/clock.js';
import type { SlackApi } from './call-slack.js';
import type { Verdict } from './classify-reply.js';
import { LaneNotes, type PostIntent } from './lane-notes.js';
import { type PostedMessages, readPosted } from './look-up.js';
import type { Granted, SlackMethod, SlackRates } from './rates.js';
import { callWithToken, type TokenSource } from './tokens.js';

const metadataScope = 'metadata.message:read';

const cannotReadMetadata: Verdict & { kind: 'credential' } = {
  kind: 'credential',
  code: 'missing_scope',
  detail: `the app lacks the scope ${metadataScope}`,
};

/** What all lanes of a sink share. */
export interface SlackAccount {
  readonly api: SlackApi;
  readonly tokens: TokenSource;
  readonly rates: SlackRates;
  readonly clock: Clock;
  /** How far our clock is ahead of Slack's, in ms, as the last answer showed; 0 until then. */
  aheadMs: number;
  /** The token's, as the last answer named them; undefined until one does. */
  scopes: readonly string[] | undefined;
  /** When each message was last edited by us, by the account's clock. */
  readonly editedAt: Map<string, number>;
  /** Channels that were to be joined, and whether that went well. */
  readonly joining: Map<string, Promise<boolean>>;
  /** A sink with one channel stops when that takes nothing; with several, only what goes there is parked. */
  readonly hasOneChannel: boolean;
}

/** A call that was not made: not its turn, or not yet. */
export type Held = { readonly kind: 'held'; readonly outcome: Outcome };

/** A message may show only some time after it was posted. */
export const LOOK_UP_AFTER_MS = 60_000;

interface Reading {
  readonly readAtMs: number;
  readonly sinceMs: number;
  readonly posted: Promise<PostedMessages | Held>;
}

/** One `send` or `recover`: its time, its memory, and what it has read so far. */
export class Turn {
  readonly account: SlackAccount;
  readonly notes: LaneNotes;
  readonly signal: AbortSignal;
  readonly #endsAtMs: number;
  readonly #lines = new Map<string, Promise<unknown>>();
  readonly #posted = new Map<string, Reading>();

  constructor(account: SlackAccount, lane: Lane, signal: AbortSignal, lengthMs: number) {
    this.account = account;
    this.notes = new LaneNotes(lane);
    this.signal = signal;
    this.#endsAtMs = account.clock.now() + lengthMs;
  }

  /** No call is begun after this. */
  get leftMs(): number {
    return Math.max(0, this.#endsAtMs - this.account.clock.now());
  }

  get mayBegin(): boolean {
    return !this.signal.aborted && this.leftMs > 0;
  }

  /** When a post is about to be made. */
  now(): Pick<PostIntent, 'atMs' | 'sinceMs'> {
    const atMs = this.account.api.wallNow();
    return { atMs, sinceMs: Math.min(atMs, atMs - this.account.aheadMs) };
  }

  async wait(forMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.account.clock.after(forMs, done);
      const { signal } = this;
      function done(): void {
        cancel();
        signal.removeEventListener('abort', done);
        resolve();
      }
      signal.addEventListener('abort', done);
      if (signal.aborted) done();
    });
  }

  /** Calls a method when its turn comes. */
  async call(method: SlackMethod, args: Readonly<Record<string, unknown>>): Promise<Verdict | Held> {
    return await this.callWith(await this.account.rates.method(method, this.signal, this.leftMs), method, args);
  }

  async callWith(
    granted: Granted,
    method: SlackMethod,
    args: Readonly<Record<string, unknown>>,
  ): Promise<Verdict | Held> {
    const permit = permitOf(granted);
    if ('kind' in permit) return permit;
    const verdict = await this.ask(method, args).finally(() => permit.done());
    if (verdict.kind === 'limited') this.account.rates.closeMethod(method, verdict.afterMs);
    return verdict;
  }

  /** Calls without waiting for a turn: whoever calls has one. */
  async ask(method: string, args: Readonly<Record<string, unknown>>): Promise<Verdict> {
    const { api, tokens } = this.account;
    const { verdict, reply } = await callWithToken(api, tokens, { method, args }, this.signal);
    if (reply?.kind === 'answer') {
      this.account.aheadMs = api.wallNow() - reply.answeredAtMs;
      this.account.scopes = reply.scopes ?? this.account.scopes;
    }
    return verdict;
  }

  /**
   * What pigeonpost has posted in a place since an intent. Read once for all who ask, unless what was read began too
   * late for one, or was read before its message had to show.
   */
  async posted(
    channel: string,
    threadTs: string | null,
    { atMs, sinceMs }: Pick<PostIntent, 'atMs' | 'sinceMs'>,
  ): Promise<PostedMessages | Held> {
    const place = JSON.stringify([channel, threadTs]);
    const known = this.#posted.get(place);
    if (known !== undefined && known.readAtMs >= atMs + LOOK_UP_AFTER_MS && known.sinceMs <= sinceMs) {
      return await known.posted;
    }
    const from = Math.min(sinceMs, this.notes.earliestMs(channel));
    const posted = this.#read(channel, threadTs, from);
    this.#posted.set(place, { readAtMs: this.now().atMs, sinceMs: from, posted });
    return await posted;
  }

  async #read(channel: string, threadTs: string | null, sinceMs: number): Promise<PostedMessages | Held> {
    let held: Held | undefined;
    const read = async (method: SlackMethod, args: Readonly<Record<string, unknown>>): Promise<Verdict> => {
      let verdict = await this.call(method, args);
      if (verdict.kind === 'not-in-channel' && (await this.join(channel))) verdict = await this.call(method, args);
      if (verdict.kind !== 'held') return verdict;
      held = verdict;
      return { kind: 'later', detail: 'no turn came for the look-up' };
    };
    const posted = await readPosted({ channel, threadTs }, sinceMs, read);
    if (held !== undefined) return held;
    // Without this scope metadata may be left out, and what is there would be taken for absent.
    const readsMetadata = this.account.scopes?.includes(metadataScope) ?? true;
    return posted.kind === 'failed' || readsMetadata ? posted : { kind: 'failed', verdict: cannotReadMetadata };
  }

  /** Joins a public channel, once in the sink's life: who takes the app out of it later means it. @returns whether it did */
  async join(channel: string): Promise<boolean> {
    const { joining } = this.account;
    const known = joining.get(channel);
    if (known !== undefined) return await known;
    const tried = this.call('conversations.join', { channel }).then(({ kind }) => kind === 'ok');
    joining.set(channel, tried);
    return await tried;
  }

  /** Runs work of one key one after the other. */
  async exclusively<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#lines.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    this.#lines.set(key, mine);
    return await mine;
  }
}

/** The permit, or what becomes of an operation that has none. */
export function permitOf(granted: Granted): { done(): void } | Held {
  if (granted === undefined) return { kind: 'held', outcome: { kind: 'unsent' } };
  if ('waitMs' in granted) return { kind: 'held', outcome: { kind: 'unsent', afterMs: granted.waitMs } };
  return granted.permit;
}
