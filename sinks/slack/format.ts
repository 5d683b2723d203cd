import { createHash } from 'node:crypto';
import { slackText } from './cut-text.js';
import type { MessageContent, PlainText } from './operation.js';

/** Characters in the text of a section, and of a header. Source: docs.slack.dev, Block Kit reference. */
const SECTION_LIMIT = 3000;
const HEADER_LIMIT = 150;

/** A message that shows an item's text, and a count below it. */
export function itemMessage(text: string, votes: number | null): MessageContent {
  const body = slackText(text, SECTION_LIMIT);
  const count = votes === null ? [] : [{ type: 'context' as const, elements: [plain(countText(votes))] }];
  return { text: body, blocks: [{ type: 'section', text: plain(body) }, ...count] };
}

/** The message to which the items of a thread are replies. */
export function threadMessage(title: string): MessageContent {
  const text = slackText(title, HEADER_LIMIT);
  return { text, blocks: [{ type: 'header', text: plain(text) }] };
}

/** What stands in the place of a message whose item is gone. */
export function redactedMessage(): MessageContent {
  const text = 'This message has been withdrawn.';
  return { text, blocks: [{ type: 'section', text: plain(text) }] };
}

/**
 * The same for the same text and no other, and too short to hold one. What is compared is what is displayed, so that a
 * change beyond the limit is none.
 */
export function contentHash(text: string): string {
  return shortHash(slackText(text, SECTION_LIMIT));
}

export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

function plain(text: string): PlainText {
  return { type: 'plain_text', text, emoji: false };
}

function countText(votes: number): string {
  return votes === 1 ? '1 vote' : `${votes} votes`;
}
