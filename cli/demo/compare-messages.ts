import { hasConsented, type TrueAttendee } from './compare-contacts.js';
import { readText, type SlackState, withdrawnText } from './slack-state.js';
import type { Standing } from './standing.js';

/** A question of the sandbox's truth, as far as a message shows it. */
export interface TrueQuestion {
  readonly content: string;
  readonly status: string;
  readonly attendee: { readonly id: number; readonly anonymous: boolean };
  readonly session: { readonly name: string };
}

/**
 * Each approved question must stand in the thread of its session once, with its present text and with its asker's name
 * where they may be shown; no other may show any text. Knows nothing of how the sink does it: messages are told apart
 * by what people read. Pure.
 */
export function compareMessages(
  questions: readonly TrueQuestion[],
  attendees: readonly (TrueAttendee & { readonly id: number })[],
  slack: SlackState,
): Standing {
  const threads = slack.channels.flatMap(({ messages }) => messages);
  const shown = threads.flatMap((thread) => {
    const title = readText(thread);
    return thread.replies.map((reply) => ({ title, text: readText(reply) }));
  });
  const redacted = shown.filter(({ text }) => text === withdrawnText).length;
  const left = new Map<string, number>();
  for (const { title, text } of shown) {
    if (text !== withdrawnText) count(left, JSON.stringify([title, readable(text)]), 1);
  }
  const names = new Map(attendees.filter(hasConsented).map(({ id, Name }) => [id, Name]));
  let standing = 0;
  for (const { content, status, attendee, session } of questions) {
    if (status !== 'allowed') continue;
    const name = attendee.anonymous ? undefined : names.get(attendee.id);
    const message = JSON.stringify([session.name, readable(`${name ?? 'Someone'}: ${content}`)]);
    if ((left.get(message) ?? 0) === 0) continue; // the row of the table tells that it misses
    count(left, message, -1);
    standing += 1;
  }
  const others = [...left.values()].reduce((sum, n) => sum + n, 0);
  return {
    delivered: standing + redacted, // the last that was to be sent of a withdrawn one is that it is
    problems: others === 0 ? [] : [`${others} messages show what no approved question says, or show it twice`],
  };
}

/** Nobody reads a control character or half of a surrogate pair, and nobody can say whether a message shows one. */
function readable(text: string): string {
  return Buffer.from(text)
    .toString()
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '');
}

function count(counts: Map<string, number>, key: string, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}
