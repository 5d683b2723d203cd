import { readText, withdrawnText } from '../../cli/demo/stand-in-state.js';
import { obtained } from '../kit/promises.js';
import type { Item } from '../kit/compare-with-truth.js';
import type { Finding } from './judge.js';
import type { Source, TrueItem } from './source.js';

/** A message in a channel, reduced to the fields that the judge compares. */
export interface StandingMessage {
  readonly text: string;
  readonly blocks?: readonly unknown[];
  readonly metadata?: { readonly event_type: string; readonly event_payload: Readonly<Record<string, unknown>> };
}

/**
 * Judges a channel that receives some questions: it must show each one once in its latest state, and no text of a
 * question that must be hidden. Pure.
 * @param isWanted whether the channel receives a question in its current state
 */
export function judgeMessages(
  messages: readonly StandingMessage[],
  source: Source,
  { deletions, isWanted }: { readonly deletions: boolean; readonly isWanted: (question: Item) => boolean },
): Finding[] {
  const list = 'qna-questions';
  const standing = new Map<string, string[]>();
  for (const message of messages) {
    const { pigeonhole, key } = message.metadata?.event_payload ?? {};
    if (message.metadata?.event_type !== 'pigeonpost_item') continue;
    const name = `${String(pigeonhole)} ${String(key)}`;
    standing.set(name, [...(standing.get(name) ?? []), readText(message as Parameters<typeof readText>[0])]);
  }
  const questions = new Map(
    source.items.filter((item) => item.list === list).map((item) => [`${item.pigeonholeId} ${item.key}`, item]),
  );
  const findings: Finding[] = [];
  for (const [where, { item }] of questions) {
    const texts = standing.get(where) ?? [];
    const wanted = isWanted(item);
    if (wanted && texts.length === 0) findings.push({ fault: 'lost', list, where: `${where}: no message` });
    if (wanted && texts.some((text) => readable(text) !== readable(item['content']))) {
      findings.push({ fault: 'lost', list, where: `${where}: not in its latest state` });
    }
    if (!wanted && texts.some((text) => text !== withdrawnText)) findings.push({ fault: 'kept', list, where });
  }
  for (const [where, texts] of standing) {
    if (texts.length > 1) findings.push({ fault: 'duplicated', list, where: `${where}: ${texts.length} messages` });
    const isGone = deletions && !questions.has(where);
    if (isGone && texts.some((text) => text !== withdrawnText)) findings.push({ fault: 'kept', list, where });
  }
  return [...findings, ...twiceAThread(messages)];
}

/** Removes control characters and lone surrogates, which are unreadable and which Slack need not store. */
function readable(text: unknown): string {
  return Buffer.from(String(text))
    .toString()
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '');
}

/** Finds threads with more than one parent. */
function twiceAThread(messages: readonly StandingMessage[]): Finding[] {
  const parents = new Map<string, number>();
  for (const { metadata } of messages) {
    if (metadata?.event_type !== 'pigeonpost_thread') continue;
    const thread = String(metadata.event_payload['thread']);
    parents.set(thread, (parents.get(thread) ?? 0) + 1);
  }
  return [...parents].flatMap(([thread, n]): Finding[] =>
    n === 1 ? [] : [{ fault: 'duplicated', list: 'sessions', where: `thread ${thread}: ${n} parents` }],
  );
}

/**
 * Judges a CRM that receives people who consented: it must hold each of them once, by e-mail, under the name that the
 * source shows. People who have withdrawn since may stay. Pure.
 */
export function judgeContacts(contacts: readonly Readonly<Record<string, unknown>>[], source: Source): Finding[] {
  const list = 'attendees';
  const standing = new Map<string, unknown[]>();
  for (const { email, firstname } of contacts) {
    standing.set(String(email), [...(standing.get(String(email)) ?? []), firstname]);
  }
  const people = new Map<string, TrueItem[]>();
  for (const item of source.items) {
    const email = emailOf(item);
    if (item.list !== list || !obtained(item.item['consent']) || email === '') continue;
    people.set(email, [...(people.get(email) ?? []), item]);
  }
  const findings: Finding[] = [];
  for (const attendees of people.values()) {
    const { pigeonholeId, key } = attendees[0]!;
    const where = `${pigeonholeId} ${key}`;
    const found = standing.get(emailOf(attendees[0]!)) ?? [];
    if (found.length === 0) findings.push({ fault: 'lost', list, where: `${where}: no contact` });
    else if (!attendees.some((each) => each.item['Name'] === found[0])) {
      findings.push({ fault: 'lost', list, where: `${where}: under an older name` });
    }
  }
  // Includes people who were deleted or withdrew consent. Reports a count, because an e-mail must not be reported.
  const twice = [...standing.values()].filter((each) => each.length > 1).length;
  for (let n = 0; n < twice; n += 1)
    findings.push({ fault: 'duplicated', list, where: 'two contacts with one e-mail' });
  return findings;
}

function emailOf({ item: { Email: email } }: TrueItem): string {
  return typeof email === 'string' ? email.toLowerCase() : '';
}
