import type { Expression } from '../mapping/expression.js';
import type { MappingView } from '../mapping/mapping-view.js';
import { numberValue, textValue } from '../mapping/property-value.js';
import type { Fields } from '../sink.js';
import type { SlackConfig, SlackLink, SlackMention, SlackMessage } from './config.js';
import {
  contentHash,
  type ItemContent,
  itemMessage,
  type Link,
  shortHash,
  threadMessage,
  linkAddress,
  literalOrigins,
} from './blocks.js';
import type { MessageContent, Shown, Target, ThreadPlan } from './operation.js';

export interface Rendered {
  readonly to: Target;
  readonly content: MessageContent;
  readonly shown: Shown;
}

/**
 * Renders an item's message and its place from the configuration, or returns why nothing is shown.
 * @throws {MappingError} when an expression fails or returns a value that cannot be shown
 */
export async function renderItem(
  config: SlackConfig,
  sink: string,
  view: MappingView,
  named: boolean,
): Promise<Rendered | { readonly nothing: string }> {
  const entry = await entryOf(config, sink, view);
  if (entry === undefined) return { nothing: 'condition' };
  const message = config.messages[entry]!;
  const path = `${sink}.messages[${entry}]`;
  const text = await textOf(message.text, view, `${path}.text`);
  if (text === undefined || text.trim() === '') return { nothing: 'no-text' };
  const item: ItemContent = {
    text,
    session: await nameOf(message.session, view, `${path}.session`),
    author: showsAuthor(view) ? await nameOf(message.author, view, `${path}.author`) : null,
    votes: await countOf(message.votes, view, `${path}.votes`),
    mentions: await mentionsOf(message.mentions, view, `${path}.mentions`),
    links: await linksOf(message.links, view, `${path}.links`),
    buttons: await linksOf(message.buttons, view, `${path}.buttons`),
  };
  const thread = await threadOf(message, view, path);
  const { broadcast: condition } = message;
  const broadcast = thread !== null && condition !== undefined && (await condition.holds(view, `${path}.broadcast`));
  return {
    to: { channel: await channelOf(config, sink, view), thread },
    content: itemMessage(item),
    shown: { hash: contentHash(item), votes: item.votes, broadcast, named, entry },
  };
}

/**
 * Whether the author may be shown: only if the engine passed the attendee on, and the item itself or its session says
 * that it is not anonymous. In doubt, the author is not shown.
 */
function showsAuthor({ attendee, session, item, change }: MappingView): boolean {
  if (attendee === null) return false;
  const { attendee: flagged } = (item ?? {}) as { attendee?: { anonymous?: unknown } | null };
  if (typeof flagged?.anonymous === 'boolean') return !flagged.anonymous;
  if (change.sessionId === null) return true; // no session could make it anonymous
  return session !== null && session['id'] === change.sessionId && session['anonymousResponses'] === false;
}

/** Evaluates a name and puts it on one line; null if it is empty. */
async function nameOf(expression: Expression | undefined, view: MappingView, key: string): Promise<string | null> {
  const name = expression === undefined ? undefined : await textOf(expression, view, key);
  const line = name?.replaceAll(/\s+/g, ' ').trim() ?? '';
  return line === '' ? null : line;
}

async function mentionsOf(mentions: readonly SlackMention[], view: MappingView, path: string): Promise<string[]> {
  const groups: string[] = [];
  for (const [at, { group, when }] of mentions.entries()) {
    if (await holds(when, view, `${path}[${at}].when`)) groups.push(group);
  }
  return groups;
}

async function linksOf(links: readonly SlackLink[], view: MappingView, path: string): Promise<Link[]> {
  const shown: Link[] = [];
  for (const [at, { label, url, when }] of links.entries()) {
    const origins = literalOrigins(url);
    if (!(await holds(when, view, `${path}[${at}].when`))) continue;
    const address = await url.evaluate(view, `${path}[${at}].url`, (value, key) => linkAddress(value, key, origins));
    if (address !== undefined) shown.push({ label, url: address });
  }
  return shown;
}

async function entryOf({ messages }: SlackConfig, sink: string, view: MappingView): Promise<number | undefined> {
  for (const [entry, { from, when }] of messages.entries()) {
    if (from !== view.change.list) continue;
    // The first that holds decides.
    if (await holds(when, view, `${sink}.messages[${entry}].when`)) return entry;
  }
  return undefined;
}

async function channelOf({ routes, channel }: SlackConfig, sink: string, view: MappingView): Promise<string> {
  for (const [index, route] of routes.entries()) {
    // The first that holds decides.
    if (await holds(route.when, view, `${sink}.routes[${index}].when`)) return route.channel;
  }
  return channel ?? ''; // an incoming webhook has its own channel
}

async function threadOf(
  { threadBy, threadTitle }: SlackMessage,
  view: MappingView,
  path: string,
): Promise<ThreadPlan | null> {
  if (threadBy === undefined) return null;
  const value = await threadBy.evaluate(view, `${path}.threadBy`);
  if (value === undefined || value === null) return null;
  const title = threadTitle === undefined ? undefined : await textOf(threadTitle, view, `${path}.threadTitle`);
  return {
    key: shortHash(JSON.stringify(value)),
    content: threadMessage(title === undefined || title.trim() === '' ? titleOf(value, view) : title),
  };
}

/** Returns the name of the session or pigeonhole with this id, or else the value itself. */
function titleOf(value: unknown, { session, pigeonhole, item, change }: MappingView): string {
  const named = (record: unknown): string | undefined => {
    if (typeof record !== 'object' || record === null) return undefined;
    const { id, name } = record as Fields;
    return id === value && typeof name === 'string' && name.trim() !== '' ? name : undefined;
  };
  const name = named(session) ?? named(pigeonhole) ?? named(item?.['session']);
  if (name !== undefined) return name;
  if (value === change.sessionId) return `Session ${change.sessionId}`;
  return typeof value === 'string' && value.trim() !== '' ? value : JSON.stringify(value);
}

async function holds(condition: Expression | undefined, view: MappingView, key: string): Promise<boolean> {
  return (await condition?.holds(view, key)) ?? true;
}

async function textOf(expression: Expression, view: MappingView, key: string): Promise<string | undefined> {
  return (await expression.evaluate(view, key, textValue)) ?? undefined;
}

async function countOf(expression: Expression | undefined, view: MappingView, key: string): Promise<number | null> {
  const count = await expression?.evaluate(view, key, numberValue);
  return count === undefined || count === null ? null : Math.trunc(count);
}
