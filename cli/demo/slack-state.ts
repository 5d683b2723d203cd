/** What the stand-in for Slack holds, as far as the demo looks at it. */
export interface SlackState {
  readonly channels: readonly { readonly id: string; readonly messages: readonly SlackThread[] }[];
}

export interface ShownMessage {
  readonly text: string;
  readonly blocks?: readonly ShownBlock[];
}

/** Of a block only what a plain text needs. */
interface ShownBlock {
  readonly text?: { readonly text: string };
}

export interface SlackThread extends ShownMessage {
  readonly replies: readonly ShownMessage[];
}

/** What stands where a message was taken back. */
export const withdrawnText = 'This message has been withdrawn.';

export async function slackState(slackUrl: string): Promise<SlackState> {
  const answer = await fetch(`${slackUrl}/_double/state`, { signal: AbortSignal.timeout(30_000) });
  if (!answer.ok) throw new Error(`the stand-in for Slack answered HTTP ${answer.status} when asked what it holds`);
  return (await answer.json()) as SlackState;
}

/** As a person reads it: the text of its first block, without Slack's three entities. Pure. */
export function readText({ text, blocks }: ShownMessage): string {
  const shown = blocks?.[0]?.text?.text ?? text;
  return shown.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/** In a few words, for a person. Pure. */
export function slackSummary({ channels }: SlackState): string {
  const threads = channels.flatMap(({ messages }) => messages);
  const replies = threads.flatMap((thread) => thread.replies.map(readText));
  const withdrawn = replies.filter((text) => text === withdrawnText).length;
  return `${replies.length - withdrawn} questions in ${threads.length} threads, ${withdrawn} redacted`;
}
