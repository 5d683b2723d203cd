import type { Verdict } from './classify-reply.js';
import type { MessageContent } from './operation.js';
import { type Held, permitOf, type Turn } from './turn.js';

export interface NewMessage {
  readonly channel: string;
  readonly threadTs: string | null;
  /** Shown in the channel as well as in its thread. */
  readonly broadcast: boolean;
  readonly content: MessageContent;
  readonly metadata: { readonly event_type: string; readonly event_payload: Readonly<Record<string, unknown>> };
}

/**
 * Posts a message when the channel's turn comes. A bot that is no member joins the channel, once, and posts again: the
 * first call had no effect.
 * @param intend notes what is about to be posted; committed before the call, and after the wait for its turn, so that
 * the instant in it is that of the call
 */
export async function postMessage(message: NewMessage, turn: Turn, intend: () => void): Promise<Verdict | Held> {
  const verdict = await postOnce(message, turn, intend);
  if (verdict.kind !== 'not-in-channel') return verdict;
  return (await turn.join(message.channel)) ? await postOnce(message, turn, intend) : notAMember(message.channel);
}

async function postOnce(message: NewMessage, turn: Turn, intend: () => void): Promise<Verdict | Held> {
  const { channel, threadTs, broadcast, content, metadata } = message;
  const permit = permitOf(await turn.account.rates.post(channel, turn.signal, turn.leftMs));
  if ('kind' in permit) return permit;
  try {
    intend();
    await turn.notes.save();
    if (turn.signal.aborted) return { kind: 'later', detail: 'stopped before it was posted' };
    const verdict = await turn.ask('chat.postMessage', {
      channel,
      ...content,
      ...(threadTs !== null && { thread_ts: threadTs }),
      ...(threadTs !== null && broadcast && { reply_broadcast: true }),
      metadata,
      ...plainly,
    });
    if (verdict.kind === 'limited') turn.account.rates.closePosts(channel, verdict.afterMs);
    return verdict;
  } finally {
    permit.done();
  }
}

/** Nothing in a text means anything: no links, no names, no previews. */
export const plainly = {
  parse: 'none',
  link_names: false,
  mrkdwn: false,
  unfurl_links: false,
  unfurl_media: false,
} as const;

/** Of these, what an update takes. */
export const updatePlainly = { parse: plainly.parse, link_names: plainly.link_names } as const;

function notAMember(channel: string): Verdict {
  return {
    kind: 'not-in-channel',
    code: 'not_in_channel',
    detail: `the app is no member of ${channel} and could not join it: invite it there with /invite`,
  };
}
