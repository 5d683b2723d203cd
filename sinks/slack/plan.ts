import { withoutInvisible } from '../../base/email-address.js';
import { fieldsOf, forgetsPerson, type Planned, type Subject } from '../sink.js';
import { MappingError } from '../mapping/mapping-error.js';
import { type Expression, mappingView, type MappingView, numberValue, textValue } from '../mapping/expression.js';
import type { SlackReason } from './reasons.js';
import type { SlackConfig, SlackLink, SlackMention, SlackMessage } from './config.js';
import {
  contentHash,
  type ItemContent,
  itemMessage,
  type Link,
  linkAddress,
  literalOrigins,
  redactedMessage,
  shortHash,
  threadMessage,
} from './blocks.js';
import {
  existingMessage,
  type MessageContent,
  readObject,
  sharedFields,
  type Shown,
  type ShowOperation,
  type SlackObject,
  type SlackOperation,
  type Target,
  type ThreadPlan,
} from './operation.js';

/**
 * Plans the call to Slack for one change. Pure. If the item's condition holds, its message is posted, edited, or moved
 * to the channel or thread where it now belongs. If the condition no longer holds, the message is withdrawn.
 *
 * If a message was rendered with the attendee's record, and the record is no longer visible, the message has to change,
 * whatever `onChange` and `onWithdrawn` say. If the mapping fails without the record, the message is withdrawn.
 * @throws {MappingError} when the mapping fails, unless the message is withdrawn
 */
export async function planSubject(
  config: SlackConfig,
  sink: string,
  subject: Subject,
): Promise<Planned<SlackOperation>> {
  const object = readObject(subject.object);
  const mustHide = (existingMessage(object)?.named ?? false) && !isNamed(subject);
  const known: Known = { config, subject, object, mustHide };
  if (subject.removal !== null) return withdraw(known, subject.removal, forgetsPerson(subject.removal) || mustHide);
  try {
    const rendered = await renderItem(config, sink, mappingView(subject), isNamed(subject));
    return 'nothing' in rendered ? withdraw(known, rendered.nothing) : show(known, rendered);
  } catch (error) {
    if (mustHide && error instanceof MappingError) return withdraw(known, 'no-text');
    throw error;
  }
}

/** An item and its message before the change. */
interface Known {
  readonly config: SlackConfig;
  readonly subject: Subject;
  readonly object: SlackObject | null;
  /** Whether the message may name an attendee who must no longer be named. */
  readonly mustHide: boolean;
}

function show(
  { config, subject, object, mustHide: wasNamed }: Known,
  { to, content, shown }: Rendered,
): Planned<SlackOperation> {
  const sameText = object?.state === 'shown' && object.hash === shown.hash;
  const mustHide = wasNamed && !sameText;
  const operation = (kind: ShowOperation['kind'], votesOnly = false): Planned<SlackOperation> => ({
    kind: 'send',
    operation: { ...sharedFields(subject, object), kind, to, content, shown, votesOnly, mustHide },
  });
  if (object === null) return operation('post');
  if (object.state === 'blind' || config.webhookUrl !== undefined) return nothing('not-editable');
  if (object.state === 'unknown') return operation('post');
  const { onChange } = config.messages[shown.entry]!;
  const isAgain = subject.change.replay !== undefined || subject.again === true;
  const samePlace = object.channel === to.channel && object.threadKey === (to.thread?.key ?? null);
  // An audit and a repair need the operation even if the message stays as it is.
  if (object.state === 'fixed' && !mustHide && subject.again !== true) return nothing('not-editable');
  if (onChange === 'ignore' && object.state === 'shown' && !mustHide && subject.again !== true)
    return nothing('ignored');
  if (!samePlace) return operation('move');
  const isBroadcast = object.broadcast || !shown.broadcast;
  if (sameText && object.votes === shown.votes && isBroadcast && !isAgain) {
    return nothing('unchanged');
  }
  return operation('edit', sameText && isBroadcast && !isAgain);
}

function nothing(reason: SlackReason): Planned<never> {
  return { kind: 'nothing', reason };
}

/** @param force withdraw even if `onWithdrawn` is `keep` */
function withdraw(
  { config, subject, object, mustHide }: Known,
  reason: SlackReason,
  force = mustHide,
): Planned<SlackOperation> {
  if (object === null || (object.state === 'redacted' && subject.again !== true)) return nothing(reason);
  if (object.state === 'blind' || config.webhookUrl !== undefined) return nothing('not-editable');
  const own = config.messages.filter(({ from }) => from === subject.change.list);
  const entry = object.state === 'unknown' ? undefined : config.messages[object.entry];
  const { onWithdrawn } = (entry?.from === subject.change.list ? entry : own[0]) ?? { onWithdrawn: 'redact' };
  if (onWithdrawn === 'keep' && !force) return nothing('kept');
  return { kind: 'send', operation: { ...sharedFields(subject, object), kind: 'redact', content: redactedMessage() } };
}

/**
 * Whether the mapping can name the attendee, because it has the attendee's record or the item identifies the attendee.
 */
function isNamed({ change: { data, list }, attendee }: Subject): boolean {
  if (attendee !== null) return true;
  if (data === null) return false;
  return list === 'attendees' || typeof data['attendeeId'] === 'number' || 'id' in fieldsOf(data['attendee']);
}

interface Rendered {
  readonly to: Target;
  readonly content: MessageContent;
  readonly shown: Shown;
}

/**
 * Renders an item's message and determines its channel and thread, or returns the reason why nothing is shown.
 * @throws {MappingError} when an expression fails or returns a value that cannot be shown
 */
async function renderItem(
  config: SlackConfig,
  sink: string,
  view: MappingView,
  named: boolean,
): Promise<Rendered | { readonly nothing: SlackReason }> {
  const entry = await entryOf(config, sink, view);
  if (entry === undefined) return { nothing: 'condition' };
  const message = config.messages[entry]!;
  const path = `${sink}.messages[${entry}]`;
  const text = await textOf(message.text, view, `${path}.text`);
  // Slack refuses a message without a character that can be seen.
  if (text === undefined || withoutInvisible(text) === '') return { nothing: 'no-text' };
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
 * Whether the message may show the author: only if the engine passed the attendee's record, and the item or its session
 * says that it is not anonymous. In doubt, the author is not shown.
 */
function showsAuthor({ attendee, session, item, change }: MappingView): boolean {
  if (attendee === null) return false;
  const { anonymous } = fieldsOf(item?.['attendee']);
  if (typeof anonymous === 'boolean') return !anonymous;
  if (change.sessionId === null) return true; // no session could make it anonymous
  return session !== null && session['id'] === change.sessionId && session['anonymousResponses'] === false;
}

/** Evaluates a name and puts it on one line; null if it is empty. */
async function nameOf(expression: Expression | undefined, view: MappingView, key: string): Promise<string | null> {
  const name = expression === undefined ? undefined : await textOf(expression, view, key);
  const line = name?.replaceAll(/\s+/g, ' ').trim() ?? '';
  return withoutInvisible(line) === '' ? null : line;
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
    content: threadMessage(title === undefined || withoutInvisible(title) === '' ? titleOf(value, view) : title),
  };
}

/** Returns the name of the session or pigeonhole with this id, or else the value itself. */
function titleOf(value: unknown, { session, pigeonhole, item, change }: MappingView): string {
  const named = (record: unknown): string | undefined => {
    const { id, name } = fieldsOf(record);
    return id === value && typeof name === 'string' && withoutInvisible(name) !== '' ? name : undefined;
  };
  const name = named(session) ?? named(pigeonhole) ?? named(item?.['session']);
  if (name !== undefined) return name;
  if (value === change.sessionId) return `Session ${change.sessionId}`;
  return typeof value === 'string' && withoutInvisible(value) !== '' ? value : JSON.stringify(value);
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
