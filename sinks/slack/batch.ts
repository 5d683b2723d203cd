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
  /**
   * The last attempt to clear each abandoned post, by the id of its intent: its time by the account's clock, and whether
   * the channel was archived or deleted.
   */
  readonly clearedAt: Map<string, { readonly atMs: number; readonly isClosed: boolean }>;
  /** Time of the last post or edit that succeeded in each channel, by the account's clock. */
  readonly wroteAt: Map<string, number>;
  /** The attempts to join channels, by channel. */
  readonly joining: Map<string, Promise<Verdict>>;
  /**
   * The sink's channel if it has only one. If that channel refuses everything, the sink stops. If another channel does
   * (one of several, or one that an earlier configuration named), its changes become dead letters, and the sink
   * continues.
   */
  readonly onlyChannel: string | undefined;
}

/** A call that was not made because no permit was free in time. `outcome` is the outcome of its operation. */
export type Held = { readonly kind: 'held'; readonly outcome: Outcome };

/** A message may become readable only some time after it was posted. */
export const LOOK_UP_AFTER_MS = 60_000;

interface Reading {
  readonly readAtMs: number;
  readonly sinceMs: number;
  readonly posted: Promise<PostedMessages | Held>;
}

/**
 * Makes the calls of one `send` or `recover`. It holds their time limit, the lane's memory, and the results of
 * look-ups, and gets a permit for each call.
 */
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

  /** The number of milliseconds during which calls may still start. */
  get leftMs(): number {
    return Math.max(0, this.#endsAtMs - this.account.clock.now());
  }

  get canStart(): boolean {
    return !this.signal.aborted && this.leftMs > 0;
  }

  /** Returns the times that a post's intent records: `atMs` and `sinceMs`. */
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

  /** Calls a method immediately. The caller already holds a permit. */
  async ask(method: string, args: Readonly<Record<string, unknown>>): Promise<Verdict> {
    const { api, tokens } = this.account;
    const { verdict, reply } = await callWithToken(api, tokens, { method, args }, this.signal);
    if (reply?.kind === 'answer') {
      this.account.aheadMs = api.wallNow() - reply.answeredAtMs;
      this.account.scopes = reply.scopes ?? this.account.scopes;
    }
    const { channel } = args;
    // An archived channel refuses both methods, so a success shows that it is open.
    if (verdict.kind === 'ok' && (method === 'chat.postMessage' || method === 'chat.update')) {
      this.account.wroteAt.set(String(channel), this.account.clock.now());
    }
    return verdict;
  }

  /**
   * Returns what pigeonpost has posted in a channel or thread since an intent. The result of an earlier look-up is used
   * again if it reaches back to this intent and ran at least a minute after it, because the message is readable by
   * then.
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
      if (verdict.kind === 'not-in-channel') {
        const joined = await this.join(channel);
        if (joined.kind === 'ok') verdict = await this.call(method, args);
        else if (isPassing(joined)) return joined;
      }
      if (verdict.kind !== 'held') return verdict;
      held = verdict;
      return { kind: 'later', detail: 'no permit was free in time for the look-up' };
    };
    const posted = await readPosted({ channel, threadTs }, sinceMs, read);
    if (held !== undefined) return held;
    // Without this scope, Slack may leave out the metadata, and pigeonpost would not recognize its own message.
    const readsMetadata = this.account.scopes?.includes(metadataScope) ?? true;
    return posted.kind === 'failed' || readsMetadata ? posted : { kind: 'failed', verdict: cannotReadMetadata };
  }

  /**
   * Joins a public channel, once per channel while the process runs: if someone removes the app from the channel later,
   * that is deliberate. An attempt that failed for a passing reason does not count.
   * @returns never `maybe`, because joining again is harmless
   */
  async join(channel: string): Promise<Verdict> {
    const { joining } = this.account;
    const known = joining.get(channel);
    if (known !== undefined) return await known;
    const tried = this.#tryToJoin(channel);
    joining.set(channel, tried);
    const verdict = await tried;
    if (isPassing(verdict)) joining.delete(channel);
    return verdict;
  }

  async #tryToJoin(channel: string): Promise<Verdict> {
    const verdict = await this.call('conversations.join', { channel });
    if (verdict.kind === 'maybe') return { kind: 'later', detail: verdict.detail };
    if (verdict.kind !== 'held') return verdict;
    return { kind: 'later', detail: 'no permit was free in time to join the channel' };
  }

  /** Runs `work` after all earlier work with the same key. */
  async exclusively<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#lines.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    this.#lines.set(key, mine);
    return await mine;
  }
}

/** Whether a call that failed in this way may succeed later without an operator. */
export function isPassing({ kind }: Verdict): boolean {
  return kind === 'limited' || kind === 'later';
}

/** Returns the permit, or, if none was granted, the outcome of the operation. */
export function permitOf(granted: Granted): { done(): void } | Held {
  if (granted === undefined) return { kind: 'held', outcome: { kind: 'unsent' } };
  if ('waitMs' in granted) return { kind: 'held', outcome: { kind: 'unsent', afterMs: granted.waitMs } };
  return granted.permit;
}

/** A look-up starts this long before the intent, because the times of messages are from Slack's clock. */
const CLOCK_MARGIN_MS = 15 * 60_000;
const PAGE_SIZE = 200;
/** Maximum number of pages that a look-up reads. If there are more messages, an operator has to decide. */
const MAX_PAGES = 500;

type PostedMessages =
  /**
   * The ts (Slack's message id) of every message that pigeonpost has posted in the channel or thread since the
   * requested time, by the id in the message's metadata.
   */
  | { readonly kind: 'read'; readonly tsById: ReadonlyMap<string, string> }
  /** The thread does not exist. Slack may have posted the reply to the channel itself. */
  | { readonly kind: 'no-thread' }
  | { readonly kind: 'failed'; readonly verdict: Exclude<Verdict, { kind: 'ok' }> };

type ReadMessages = (
  method: 'conversations.history' | 'conversations.replies',
  args: Readonly<Record<string, unknown>>,
) => Promise<Verdict>;

/**
 * Reads all messages that were posted in a channel or thread since a time. It reads to the last page, so a message that
 * is not among them does not exist.
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
