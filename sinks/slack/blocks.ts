import { createHash } from 'node:crypto';
import type { Block, MessageContent, PlainText, RichTextSection } from './operation.js';
import type { Expression } from '../mapping/expression.js';
import { FailedMapping } from '../mapping/mapping-error.js';
import { nodesOf } from '../mapping/check-syntax.js';

/** Maximum characters in a section and a header. Source: docs.slack.dev, Block Kit reference. */
const SECTION_LIMIT = 3000;
const HEADER_LIMIT = 150;
/** Maximum characters of a name below the text. Slack accepts 3,000, but no name is that long. */
const NAME_LIMIT = 150;
/** Maximum characters of all blocks. Slack refuses more than about 13,200 (slackapi/bolt-js#2509) and does not document what it counts. */
const TOTAL_LIMIT = 13_000;

/** The parts of an item that its message shows. */
export interface ItemContent {
  readonly text: string;
  /** Null if the message shows no session. */
  readonly session: string | null;
  readonly author: string | null;
  readonly votes: number | null;
  /** Ids of user groups. */
  readonly mentions: readonly string[];
  readonly links: readonly Link[];
  readonly buttons: readonly Link[];
}

export interface Link {
  readonly label: string;
  readonly url: string;
}

/**
 * Returns the message of an item: mentions, text, then session, author and votes in one line, links, buttons. The
 * text, which notifications and screen readers use instead of the blocks, repeats text, session, author and votes.
 */
export function itemMessage(item: ItemContent): MessageContent {
  const body = bodyOf(item);
  const below = [...namesOf(item), ...(item.votes === null ? [] : [countText(item.votes)])];
  const mentions = item.mentions.map((id) => ({ type: 'usergroup', usergroup_id: id }) as const);
  const links = item.links.map(({ label, url }) => ({ type: 'link', url, text: label }) as const);
  const blocks: Block[] = [
    ...richText(mentions),
    { type: 'section', text: plain(body) },
    ...(below.length === 0 ? [] : [{ type: 'context' as const, elements: below.map(plain) }]),
    ...richText(links),
    ...(item.buttons.length === 0 ? [] : [{ type: 'actions' as const, elements: item.buttons.map(button) }]),
  ];
  return { text: [body, ...(below.length === 0 ? [] : [below.join(' · ')])].join('\n'), blocks };
}

/** Returns the first message of a thread. The items of the thread are replies to it. */
export function threadMessage(title: string): MessageContent {
  const text = slackText(title, HEADER_LIMIT);
  return { text, blocks: [{ type: 'header', text: plain(text) }] };
}

/** Returns the test message of a sink. */
export function testMessage(sink: string): MessageContent {
  const text = `This is a test of pigeonpost's sink "${sink}". You can delete this message.`;
  return { text, blocks: [{ type: 'section', text: plain(text) }] };
}

/** Returns the content that replaces a withdrawn message. */
export function redactedMessage(): MessageContent {
  const text = 'This message has been withdrawn.';
  return { text, blocks: [{ type: 'section', text: plain(text) }] };
}

/**
 * Returns a hash of everything that the message displays, except the votes. The hash ignores text beyond the limit,
 * because Slack does not display it.
 */
export function contentHash(item: ItemContent): string {
  const { mentions, links, buttons } = item;
  return shortHash(JSON.stringify([bodyOf(item), namesOf(item), item.session === null, mentions, links, buttons]));
}

export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

function bodyOf({ text, links, buttons }: ItemContent): string {
  const linksLength = [...links, ...buttons].reduce((sum, { label, url }) => sum + label.length + url.length, 0);
  return slackText(text, Math.min(SECTION_LIMIT, TOTAL_LIMIT - linksLength - 3 * NAME_LIMIT));
}

function namesOf({ session, author }: ItemContent): string[] {
  return [session, author].flatMap((name) => (name === null ? [] : [slackText(name.trim(), NAME_LIMIT)]));
}

/** Returns one line with separators between the parts; no block if there are no parts. */
function richText(parts: RichTextSection['elements']): Block[] {
  if (parts.length === 0) return [];
  const gap = { type: 'text', text: parts[0]!.type === 'usergroup' ? ' ' : ' · ' } as const;
  const elements = parts.flatMap((part, at) => (at === 0 ? [part] : [gap, part]));
  return [{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] }];
}

function button({ label, url }: Link, at: number) {
  return { type: 'button', action_id: `link-${at}`, text: plain(slackText(label, 75)), url } as const;
}

function plain(text: string): PlainText {
  return { type: 'plain_text', text, emoji: false };
}

function countText(votes: number): string {
  return votes === 1 ? '1 vote' : `${votes} votes`;
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
const ellipsis = '…';

/**
 * Escapes a text for Slack and shortens it to a limit. `&`, `<` and `>` become entities, which disables mentions and
 * links; control characters except line break and tab are removed; lone surrogates are replaced. The text is cut
 * between graphemes and ends with an ellipsis. The limit applies to the escaped text in UTF-16 units, so the text stays
 * within it whether Slack counts characters before or after escaping. Source: docs.slack.dev, "Formatting message
 * text", escaping.
 */
export function slackText(text: string, limit: number): string {
  const clean = withoutControls(wellFormed(text));
  const whole = escaped(clean);
  if (whole.length <= limit) return whole;
  let kept = '';
  for (const { segment } of segmenter.segment(clean)) {
    const next = escaped(segment);
    if (kept.length + next.length > limit - ellipsis.length) break;
    kept += next;
  }
  return `${kept}${ellipsis}`;
}

/** Replaces lone surrogates, which UTF-8 cannot represent. */
export function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function withoutControls(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '');
}

/**
 * Maximum characters of a link's address. Slack accepts 3,000, but ten links with their labels have to fit into one
 * message.
 */
const MAX_ADDRESS = 800;

/**
 * Returns the origins that a link's expression contains as text, such as `https://app.example.com`. A link may lead
 * only to these origins (decision 0077). An attendee's text can therefore become part of the path, but never of the
 * host.
 */
export function literalOrigins(expression: Expression): ReadonlySet<string> {
  const origins = new Set<string>();
  for (const { type, value } of nodesOf(expression.tree)) {
    if (type !== 'string' || typeof value !== 'string' || !/^https?:\/\/[^/]/i.test(value)) continue;
    if (URL.canParse(value)) origins.add(new URL(value).origin);
  }
  return origins;
}

/**
 * Checks the value of a link's expression and returns it as an address; undefined if it is empty.
 * @throws {FailedMapping} `not-a-link` unless it is an address at one of the origins; the message never repeats the
 *   value
 */
export function linkAddress(value: unknown, key: string, origins: ReadonlySet<string>): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  const isAllowed =
    url !== undefined &&
    (url.protocol === 'https:' || url.protocol === 'http:') &&
    origins.has(url.origin) &&
    url.username === '' &&
    url.password === '' &&
    url.href.length <= MAX_ADDRESS;
  if (isAllowed) return url.href;
  const wanted = `it must be an address of at most ${MAX_ADDRESS} characters at ${[...origins].join(' or ')}`;
  throw new FailedMapping(key, 'not-a-link', `returned a value that is not an allowed address: ${wanted}`);
}

/** Arguments with which Slack shows a text as it is: without links, mentions of names, or previews. */
export const plainly = {
  parse: 'none',
  link_names: false,
  mrkdwn: false,
  unfurl_links: false,
  unfurl_media: false,
} as const;

/** The part of `plainly` that `chat.update` accepts. */
export const updatePlainly = { parse: plainly.parse, link_names: plainly.link_names } as const;
