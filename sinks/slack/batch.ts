import type { Lane, Outcome } from '../sink.js';
import type { Clock } from '../network/rolling-limiter.js';
import type { SlackApi } from './client.js';
import type { Granted, SlackMethod, SlackRates } from './rates.js';
import type { Verdict } from './classify.js';
import { LaneNotes, type PostIntent } from './lane-notes.js';
import { callWithToken, type TokenSource } from './tokens.js';

const metadataScope = 'metadata.message:read';

const cannotReadMetadata: Verdict & { kind: 'credential' } = {
  kind: 'credential',
  code: 'missing_scope',
  detail: `the app lacks the scope ${metadataScope}`,
};

/** State that all lanes of a sink share. */
export interface SlackAccount {
  readonly api: SlackApi;
  readonly tokens: TokenSource;
  readonly rates: SlackRates;
  readonly clock: Clock;
  /** Milliseconds by which our clock is ahead of Slack's, from the last answer; 0 before the first. */
  aheadMs: number;
  /** The token's scopes from the last answer that listed them. */
  scopes: readonly string[] | undefined;
  /** Time of this sink's last edit of each message, by the account's clock. */
  readonly editedAt: Map<string, number>;
  /** Attempts to join a channel, with their success. */
  readonly joining: Map<string, Promise<boolean>>;
  /** A sink with one channel stops if the channel refuses everything; with several, only that channel's changes are parked. */
  readonly hasOneChannel: boolean;
}

/** A call that was not made, because no permit was free in time; with the outcome of its operation. */
export type Held = { readonly kind: 'held'; readonly outcome: Outcome };

/** A message may become readable only some time after it was posted. */
export const LOOK_UP_AFTER_MS = 60_000;

interface Reading {
  readonly readAtMs: number;
  readonly sinceMs: number;
  readonly posted: Promise<PostedMessages | Held>;
}

/** The calls of one `send` or `recover`: their time limit, permits, the lane's memory, and the look-ups so far. */
export class Batch {
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

  /** Time until which calls may start. */
  get leftMs(): number {
    return Math.max(0, this.#endsAtMs - this.account.clock.now());
  }

  get canStart(): boolean {
    return !this.signal.aborted && this.leftMs > 0;
  }

  /** The current time, for the intent of a post. */
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

  /** Calls a method once it has a permit. */
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

  /** Calls a method without waiting: the caller holds a permit. */
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
   * Returns what pigeonpost has posted in a channel or thread since an intent. One look-up serves several intents, unless
   * it started too late for one, or ran before that one's message had to be readable.
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
      return { kind: 'later', detail: 'no permit was free in time for the look-up' };
    };
    const posted = await readPosted({ channel, threadTs }, sinceMs, read);
    if (held !== undefined) return held;
    // Without this scope Slack may leave metadata out, and a message that is there would be taken for absent.
    const readsMetadata = this.account.scopes?.includes(metadataScope) ?? true;
    return posted.kind === 'failed' || readsMetadata ? posted : { kind: 'failed', verdict: cannotReadMetadata };
  }

  /** Joins a public channel once in the sink's life: if someone removes the app later, that is deliberate. @returns whether it joined */
  async join(channel: string): Promise<boolean> {
    const { joining } = this.account;
    const known = joining.get(channel);
    if (known !== undefined) return await known;
    const tried = this.call('conversations.join', { channel }).then(({ kind }) => kind === 'ok');
    joining.set(channel, tried);
    return await tried;
  }

  /** Runs the work of one key sequentially. */
  async exclusively<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#lines.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    this.#lines.set(key, mine);
    return await mine;
  }
}

/** Returns the permit, or the outcome of an operation without one. */
export function permitOf(granted: Granted): { done(): void } | Held {
  if (granted === undefined) return { kind: 'held', outcome: { kind: 'unsent' } };
  if ('waitMs' in granted) return { kind: 'held', outcome: { kind: 'unsent', afterMs: granted.waitMs } };
  return granted.permit;
}

/** A look-up starts this long before the intent, since messages have the time of Slack's clock. */
const CLOCK_MARGIN_MS = 15 * 60_000;
const PAGE_SIZE = 200;
/** Maximum pages of a look-up; with more messages, an operator has to decide. */
const MAX_PAGES = 500;

type PostedMessages =
  /** The ts of every message that pigeonpost has posted there since, by the id in its metadata. */
  | { readonly kind: 'read'; readonly tsById: ReadonlyMap<string, string> }
  /** The thread does not exist; its reply may have been posted to the channel itself. */
  | { readonly kind: 'no-thread' }
  | { readonly kind: 'failed'; readonly verdict: Exclude<Verdict, { kind: 'ok' }> };

type ReadMessages = (
  method: 'conversations.history' | 'conversations.replies',
  args: Readonly<Record<string, unknown>>,
) => Promise<Verdict>;

/**
 * Reads what was posted in a channel, or in a thread, since an instant. Reads to the end, so that a message that was
 * not found is certainly not there.
 */
async function readPosted(
  place: { readonly channel: string; readonly threadTs: string | null },
  sinceMs: number,
  read: ReadMessages,
): Promise<PostedMessages> {
  const method = place.threadTs === null ? 'conversations.history' : 'conversations.replies';
  const tsById = new Map<string, string>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const verdict = await read(method, {
      channel: place.channel,
      ...(place.threadTs !== null && { ts: place.threadTs }),
      oldest: ((sinceMs - CLOCK_MARGIN_MS) / 1000).toFixed(6),
      limit: PAGE_SIZE,
      include_all_metadata: true,
      ...(cursor !== undefined && { cursor }),
    });
    if (verdict.kind === 'no-message' && place.threadTs !== null) return { kind: 'no-thread' };
    if (verdict.kind !== 'ok') return { kind: 'failed', verdict };
    collect(verdict.body['messages'], tsById);
    cursor = nextCursor(verdict.body);
    if (cursor === undefined) return { kind: 'read', tsById };
  }
  return {
    kind: 'failed',
    verdict: { kind: 'refused', code: 'too_many_messages', detail: `${method} has more than ${MAX_PAGES} pages` },
  };
}

function collect(messages: unknown, tsById: Map<string, string>): void {
  for (const message of Array.isArray(messages) ? (messages as unknown[]) : []) {
    const { ts, metadata } = (message ?? {}) as { ts?: unknown; metadata?: unknown };
    const { event_type: type, event_payload: payload } = (metadata ?? {}) as {
      event_type?: unknown;
      event_payload?: unknown;
    };
    if (typeof ts !== 'string' || typeof payload !== 'object' || payload === null) continue;
    const { change, thread } = payload as { change?: unknown; thread?: unknown };
    const id = type === 'pigeonpost_item' ? change : type === 'pigeonpost_thread' ? thread : undefined;
    if (typeof id === 'string') tsById.set(id, ts);
  }
}

/** Slack marks the last page with an empty cursor. */
function nextCursor(body: Readonly<Record<string, unknown>>): string | undefined {
  const { next_cursor: cursor } = (body['response_metadata'] ?? {}) as { next_cursor?: unknown };
  return typeof cursor === 'string' && cursor !== '' ? cursor : undefined;
}
