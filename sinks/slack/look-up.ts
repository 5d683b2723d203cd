import type { Verdict } from './classify-reply.js';

/** Read before the intent, for clocks that differ: messages carry the time of Slack's clock. */
const CLOCK_MARGIN_MS = 15 * 60_000;
const PAGE_SIZE = 200;
/** Pages of one look-up; more messages than these hold mean that it is given up for a person. */
const MOST_PAGES = 500;

export type PostedMessages =
  /** Everything that pigeonpost has posted there since, by the id in its metadata: the message's ts. */
  | { readonly kind: 'read'; readonly tsById: ReadonlyMap<string, string> }
  /** The thread is not there; what was to be a reply in it may stand in the channel itself. */
  | { readonly kind: 'no-thread' }
  | { readonly kind: 'failed'; readonly verdict: Exclude<Verdict, { kind: 'ok' }> };

export type ReadMessages = (
  method: 'conversations.history' | 'conversations.replies',
  args: Readonly<Record<string, unknown>>,
) => Promise<Verdict>;

/**
 * Reads what was posted in a channel, or as replies to one of its messages, since an instant: to the end, so that what
 * is not there is certainly not there.
 */
export async function readPosted(
  place: { readonly channel: string; readonly threadTs: string | null },
  sinceMs: number,
  read: ReadMessages,
): Promise<PostedMessages> {
  const method = place.threadTs === null ? 'conversations.history' : 'conversations.replies';
  const tsById = new Map<string, string>();
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    // oxlint-disable-next-line no-await-in-loop -- each page names the next
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
    verdict: { kind: 'refused', code: 'too_many_messages', detail: `${method} has more than ${MOST_PAGES} pages` },
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

/** An empty cursor is how Slack says that there is no next page. */
function nextCursor(body: Readonly<Record<string, unknown>>): string | undefined {
  const { next_cursor: cursor } = (body['response_metadata'] ?? {}) as { next_cursor?: unknown };
  return typeof cursor === 'string' && cursor !== '' ? cursor : undefined;
}
