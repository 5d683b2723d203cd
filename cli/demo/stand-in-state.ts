import { counted, grouped } from '../../base/words.js';

export interface SandboxState {
  /** Live events so far. */
  readonly emitted: number;
  readonly subscriptions: number;
  readonly pigeonholes: readonly {
    readonly id: number;
    readonly status: string;
    /** Items by list. */
    readonly counts: Readonly<Record<string, number>>;
  }[];
}

export async function sandboxState(sandboxUrl: string): Promise<SandboxState> {
  return await answerOf(`${sandboxUrl}/_control/state`);
}

/**
 * Returns the number of items of each list in all pigeonholes. Registrants are left out, because the service has no API
 * to read them.
 */
export function sourceCounts(state: SandboxState): Map<string, number> {
  const counts = new Map([
    ['pigeonholes', state.pigeonholes.length],
    ['subscriptions', state.subscriptions],
  ]);
  for (const pigeonhole of state.pigeonholes) {
    for (const [list, items] of Object.entries(pigeonhole.counts)) {
      if (list !== 'registrants') counts.set(list, (counts.get(list) ?? 0) + items);
    }
  }
  return counts;
}

/** Returns every item of a list from the sandbox's control API. */
export async function readTruth<Item>(sandboxUrl: string, list: string, pigeonholeId: number): Promise<Item[]> {
  const answer = await ask(`${sandboxUrl}/_control/truth/${list}?pigeonhole=${pigeonholeId}`);
  const lines = (await answer.text()).split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Item);
}

/** Counts the items of a list in the sandbox. @param pigeonholeId null for the workspace's own lists */
export async function countTruth(sandboxUrl: string, list: string, pigeonholeId: number | null): Promise<number> {
  const of = pigeonholeId === null ? '' : `?pigeonhole=${pigeonholeId}`;
  const answer = await ask(`${sandboxUrl}/_control/truth/${list}${of}`);
  let lines = 0;
  for await (const chunk of answer.body ?? []) {
    for (const byte of chunk) if (byte === 0x0a) lines += 1;
  }
  return lines;
}

/** Makes a request to a stand-in. @param who the name of the stand-in, for messages */
async function ask(url: string | URL, who = String(url)): Promise<Response> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(30_000) });
  if (!answer.ok) throw new Error(`${who} answered HTTP ${answer.status}`);
  return answer;
}

async function answerOf<State>(url: string | URL, who?: string): Promise<State> {
  return (await (await ask(url, who)).json()) as State;
}

/** Content of the stand-in for HubSpot that the demo uses. */
export interface HubSpotState {
  /** Values by property name. */
  readonly contacts: readonly Readonly<Record<string, string>>[];
  readonly marketingEvents: readonly { readonly externalEventId: string }[];
  /** Attendance of events. */
  readonly participations: readonly { readonly event: string; readonly email?: string; readonly state: string }[];
}

export async function hubSpotState(hubSpotUrl: string): Promise<HubSpotState> {
  return await answerOf(`${hubSpotUrl}/_double/state`, 'the stand-in for HubSpot');
}

export function hubSpotSummary({ contacts, marketingEvents, participations }: HubSpotState): string {
  return `${counted(contacts.length, 'contact')}, ${counted(participations.length, 'attendance')} at ${counted(marketingEvents.length, 'event')}`;
}

/** Content of the stand-in for Slack that the demo uses. */
export interface SlackState {
  readonly channels: readonly { readonly id: string; readonly messages: readonly SlackThread[] }[];
}

export interface ShownMessage {
  readonly text: string;
  readonly blocks?: readonly ShownBlock[];
}

/** The parts of a block that its plain text needs. */
interface ShownBlock {
  readonly text?: { readonly text: string };
}

interface SlackThread extends ShownMessage {
  readonly replies: readonly ShownMessage[];
}

/** Text of a redacted message. */
export const withdrawnText = 'This message has been withdrawn.';

export async function slackState(slackUrl: string): Promise<SlackState> {
  return await answerOf(`${slackUrl}/_double/state`, 'the stand-in for Slack');
}

/** Returns the visible text of a message: its first block, with Slack's three entities decoded. Pure. */
export function readText({ text, blocks }: ShownMessage): string {
  const shown = blocks?.[0]?.text?.text ?? text;
  return shown.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

export function slackSummary({ channels }: SlackState): string {
  const threads = channels.flatMap(({ messages }) => messages);
  const replies = threads.flatMap((thread) => thread.replies.map(readText));
  const withdrawn = replies.filter((text) => text === withdrawnText).length;
  return `${counted(replies.length - withdrawn, 'question')} in ${counted(threads.length, 'thread')}, ${grouped(withdrawn)} withdrawn`;
}

/** Counts of the webhook receiver. */
interface ReceiverSummary {
  readonly deliveries: number;
  /** Number of refused requests by status. */
  readonly refused: Readonly<Record<string, number>>;
  readonly lists: Readonly<Record<string, ReceivedList>>;
}

interface ReceivedList {
  readonly items: number;
  readonly repeats: number;
  readonly differingRepeats: number;
  readonly outOfOrder: number;
  readonly missingRevisions: number;
}

export async function receiverSummary(receiverUrl: string): Promise<ReceiverSummary> {
  return await answerOf(new URL('/_control/summary', receiverUrl), 'the webhook receiver');
}

/** Returns violations of the delivery guarantees, one sentence each. Pure. */
export function receivingProblems(summary: ReceiverSummary): string[] {
  const lists = Object.entries(summary.lists).flatMap(([list, counts]) => [
    ...sentence(counts.differingRepeats, 'repeat', `of changes of ${list} differed from the first delivery`),
    ...sentence(counts.outOfOrder, 'change', `of ${list} arrived after a later revision of the same item`),
    ...sentence(counts.missingRevisions, 'revision', `of ${list} never arrived`),
  ]);
  const refused = Object.entries(summary.refused).flatMap(([status, n]) =>
    sentence(n, 'request', `received the refusal HTTP ${status}`),
  );
  return [...lists, ...refused];
}

function sentence(n: number, noun: string, rest: string): string[] {
  return n === 0 ? [] : [`${counted(n, noun)} ${rest}`];
}
