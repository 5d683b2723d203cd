import { groupBy } from '../../base/grouping.js';
import { type ExtraHeld, type Fields, fieldsOf, type HeldResult, type Outcome, type ReadBack } from '../sink.js';
import type { Held, Sending } from './sending.js';
import { redactedMessage } from './blocks.js';
import type { Verdict } from './classify.js';
import type { SlackConfig } from './config.js';
import { existingMessage, type ExistingMessage, readObject, type SlackOperation } from './operation.js';
import { removeMessage } from './remove-message.js';

const PAGE_SIZE = 200;

/** A message as Slack returns it. */
export interface HeldMessage {
  readonly message: Fields;
  /** True if the settings keep the first message of an item (`onChange: ignore`), so its content is not compared. */
  readonly keepsFirst: boolean;
}

/** An entry whose message is somewhere in Slack. */
interface Placed {
  readonly index: number;
  readonly at: ExistingMessage;
}

/**
 * Reads the messages of items, by channel or thread and ts. A page of 200 messages serves all items in it, and gaps between
 * the items' messages are skipped. Only reads: it does not join a channel.
 */
export async function readMessages(
  wanted: readonly ReadBack<SlackOperation>[],
  { messages: entries }: Pick<SlackConfig, 'messages'>,
  { sending, scans }: { readonly sending: Sending; readonly scans: CopyScans },
): Promise<HeldResult[]> {
  const results: HeldResult[] = wanted.map(({ object }) => unplacedResult(object));
  const placed = wanted.flatMap(({ object }, index): Placed[] => {
    const at = existingMessage(readObject(object));
    return at === null ? [] : [{ index, at }];
  });
  for (const { index } of placed) results[index] = stopped;
  const groups = [...groupBy(placed, ({ at }) => `${at.channel} ${at.threadTs ?? ''}`).values()];
  const reads: ReadPlaces[] = [];
  for (const group of groups) {
    const { channel, threadTs } = group[0]!.at;
    const requested = group.map(({ at }) => at.ts);
    reads.push(await readPlaces({ channel, threadTs }, requested, sending));
  }
  // Copies are looked for last, in the time that is left.
  for (const [order, group] of groups.entries()) {
    const read = reads[order]!;
    const { channel, threadTs } = group[0]!.at;
    const items = group.map(({ index }) => itemOf(wanted[index]!.change));
    const copies = await copiesOf(items, { channel, threadTs }, { read, sending, scans });
    for (const { index, at } of group) {
      const { change, operation } = wanted[index]!;
      const others = (copies.get(itemOf(change)) ?? []).filter((id) => id !== idOf(at));
      const facts = others.length > 0 ? { copies: others } : {};
      const message = read.messages.get(at.ts);
      const entry = operation === null || operation.kind === 'redact' ? undefined : entries[operation.shown.entry];
      if (message !== undefined && message['subtype'] !== 'tombstone') {
        const held: HeldMessage = { message, keepsFirst: entry?.onChange === 'ignore' };
        results[index] = { kind: 'held', held, ...facts, ...editOf(message) };
      } else if (message !== undefined || read.absent.has(at.ts)) {
        results[index] = { kind: 'missing', object: null, ...facts };
      } else {
        results[index] = failedResult(read.failed);
      }
    }
  }
  return results;
}

const stopped = { kind: 'retry', detail: 'stopped before the message was read' } as const;

/** Returns the result for an item that has no message, or one whose place is not known. */
function unplacedResult(object: Fields | null): HeldResult {
  const state = readObject(object)?.state;
  if (state !== 'blind' && state !== 'unknown') return { kind: 'missing' };
  const detail = 'pigeonpost does not know where the message is, for example because an incoming webhook posted it';
  return { kind: 'unreadable', cause: 'place-unknown', detail };
}

interface ReadPlaces {
  /** All messages of the pages that were read, by ts. */
  readonly messages: ReadonlyMap<string, Fields>;
  /** The requested ts of which Slack has no message. */
  readonly absent: ReadonlySet<string>;
  /** Why the others were not read. */
  readonly failed: Exclude<Verdict, { kind: 'ok' }> | Held | undefined;
}

interface Location {
  readonly channel: string;
  readonly threadTs: string | null;
}

/** Reads messages of one channel or thread, each page from the next requested message on. */
async function readPlaces(
  { channel, threadTs }: Location,
  requested: readonly string[],
  sending: Sending,
): Promise<ReadPlaces> {
  const messages = new Map<string, Fields>();
  const absent = new Set<string>();
  let left = [...new Set(requested)].toSorted(byInstant);
  const isThread = threadTs !== null;
  const method = isThread ? 'conversations.replies' : 'conversations.history';
  while (left.length > 0) {
    const verdict = await sending.call(method, {
      channel,
      ...(isThread && { ts: threadTs }),
      oldest: left[0]!,
      latest: left.at(-1)!,
      inclusive: true,
      limit: PAGE_SIZE,
      include_all_metadata: true,
    });
    if (isThread && verdict.kind === 'no-message') for (const ts of left) absent.add(ts);
    if (isThread && verdict.kind === 'no-message') break;
    if (verdict.kind !== 'ok') return { messages, absent, failed: verdict };
    const page = messagesIn(verdict.body);
    for (const message of page) if (typeof message['ts'] === 'string') messages.set(message['ts'], message);
    // A page of replies starts with the thread's first message, whatever its time.
    const own = page.flatMap(({ ts }) => (typeof ts === 'string' && ts !== threadTs ? [ts] : [])).toSorted(byInstant);
    const isLast = verdict.body['has_more'] !== true;
    const edge = isThread ? own.at(-1) : own[0];
    if (!isLast && edge === undefined) {
      return { messages, absent, failed: { kind: 'later', detail: `${verdict.detail}, with an empty page` } };
    }
    const isRead = (ts: string): boolean =>
      isLast || (isThread ? byInstant(ts, edge!) <= 0 : byInstant(ts, edge!) >= 0);
    for (const ts of left.filter(isRead)) if (!messages.has(ts)) absent.add(ts);
    left = left.filter((ts) => !isRead(ts));
  }
  return { messages, absent, failed: undefined };
}

/** Compares two ts: seconds and microseconds, which a number does not represent exactly. */
function byInstant(one: string, other: string): number {
  const [seconds = '', micros = ''] = one.split('.');
  const [otherSeconds = '', otherMicros = ''] = other.split('.');
  return Number(seconds) - Number(otherSeconds) || Number(micros) - Number(otherMicros);
}

function failedResult(failed: ReadPlaces['failed']): HeldResult {
  if (failed === undefined) return stopped;
  switch (failed.kind) {
    case 'held':
      return { kind: 'retry', detail: 'no permit was free in time to read the message' };
    case 'limited':
      return { kind: 'retry', afterMs: failed.afterMs, detail: failed.detail };
    case 'later':
    case 'maybe':
      return { kind: 'retry', detail: failed.detail };
    case 'credential':
      if (failed.code !== 'missing_scope') return { kind: 'pause', cause: 'credential', detail: failed.detail };
      return { kind: 'unreadable', cause: 'no-history-scope', detail: failed.detail };
    default:
      return { kind: 'unreadable', cause: `slack:${failed.code}`, detail: failed.detail };
  }
}

/** Returns who edited a message and when. Only the app that posted a message can edit it. */
function editOf({ edited }: Fields): { readonly changedBy?: string; readonly changedAt?: string } {
  const { user, ts } = fieldsOf(edited);
  const atMs = typeof ts === 'string' ? Number(ts) * 1000 : Number.NaN;
  return {
    ...(typeof user === 'string' && /^[A-Z0-9]{1,20}$/.test(user) && { changedBy: user }),
    ...(Number.isFinite(atMs) && { changedAt: new Date(atMs).toISOString() }),
  };
}

/**
 * Returns the ids of messages with the metadata of an item, by item. A message whose text was replaced does not count.
 * Those that only an earlier call has read are read again.
 */
async function copiesOf(
  items: readonly string[],
  location: Location,
  { read, sending, scans }: { readonly read: ReadPlaces; readonly sending: Sending; readonly scans: CopyScans },
): Promise<Map<string, string[]>> {
  const oldest = [...read.messages.keys(), ...read.absent]
    .filter((ts) => ts !== location.threadTs)
    .toSorted(byInstant)[0];
  if (oldest === undefined) return new Map();
  const messages = new Map(read.messages);
  const scan = await scans.scan(location, oldest, sending);
  for (const [ts, message] of scan.messages) messages.set(ts, message);
  const known = items.flatMap((item) => [...(scan.tsByItem.get(item) ?? [])]).filter((ts) => !messages.has(ts));
  const again = known.length === 0 ? [] : (await readPlaces(location, known, sending)).messages;
  for (const [ts, message] of again) messages.set(ts, message);
  const found = new Map<string, string[]>();
  for (const [ts, message] of [...messages].toSorted(([one], [other]) => byInstant(one, other))) {
    const item = itemInMetadata(message);
    if (item === undefined || isRedacted(message)) continue;
    found.set(item, [...(found.get(item) ?? []), idOf({ ...location, ts })]);
  }
  return found;
}

interface Scan {
  /** The scan covers the place from this ts on. */
  readonly from: string;
  /** Up to this ts; undefined while the first scan is in progress. */
  until: string | undefined;
  /** The page with which an interrupted scan continues. */
  cursor: string | undefined;
  newest: string;
  readonly tsByItem: Map<string, Set<string>>;
}

/** Number of pages of a scan in one call. The next call continues the scan. */
const SCAN_PAGES = 4;
/** Number of channels and threads of which a process remembers where the items' messages are. */
const MAX_SCANS = 200;

/**
 * Remembers in which messages of a channel or thread each item is, so that a copy is found wherever it was posted. Each
 * place is read once, and then only what is new in it. In a channel with thousands of messages, a scan takes several calls,
 * so an audit may find a copy only in its next pass.
 */
export class CopyScans {
  readonly #scans = new Map<string, Scan>();

  /** Continues the scan of a place. @returns also the messages that this call has read */
  async scan(
    { channel, threadTs }: Location,
    oldest: string,
    sending: Sending,
  ): Promise<Pick<Scan, 'tsByItem'> & { readonly messages: ReadonlyMap<string, Fields> }> {
    const key = `${channel} ${threadTs ?? ''}`;
    const known = this.#scans.get(key);
    const isCovered = known !== undefined && byInstant(known.from, oldest) <= 0;
    const scan: Scan = isCovered
      ? known
      : { from: oldest, until: undefined, cursor: undefined, newest: oldest, tsByItem: new Map() };
    this.#scans.delete(key); // the last one in the map is the one that was used last
    this.#scans.set(key, scan);
    for (const first of this.#scans.keys()) if (this.#scans.size > MAX_SCANS) this.#scans.delete(first);
    const messages = new Map<string, Fields>();
    for (let page = 0; page < SCAN_PAGES && sending.canStart; page += 1) {
      const verdict = await sending.call(threadTs === null ? 'conversations.history' : 'conversations.replies', {
        channel,
        ...(threadTs !== null && { ts: threadTs }),
        oldest: scan.until ?? scan.from,
        inclusive: true,
        limit: PAGE_SIZE,
        include_all_metadata: true,
        ...(scan.cursor !== undefined && { cursor: scan.cursor }),
      });
      if (verdict.kind !== 'ok') {
        scan.cursor = undefined; // an expired cursor is refused for ever, so the scan starts its range again
        break;
      }
      for (const message of messagesIn(verdict.body)) {
        const { ts } = message;
        if (typeof ts !== 'string') continue;
        messages.set(ts, message);
        if (byInstant(ts, scan.newest) > 0) scan.newest = ts;
        const item = itemInMetadata(message);
        if (item !== undefined) scan.tsByItem.set(item, (scan.tsByItem.get(item) ?? new Set()).add(ts));
      }
      const next = fieldsOf(verdict.body['response_metadata'])['next_cursor'];
      scan.cursor = typeof next === 'string' && next !== '' ? next : undefined;
      if (scan.cursor !== undefined) continue;
      scan.until = scan.newest;
      break;
    }
    return { tsByItem: scan.tsByItem, messages };
  }
}

function messagesIn(body: Fields): Fields[] {
  return Array.isArray(body['messages']) ? body['messages'].map(fieldsOf) : [];
}

function itemOf({ pigeonholeId, list, key }: Pick<ReadBack['change'], 'pigeonholeId' | 'list' | 'key'>): string {
  return JSON.stringify([pigeonholeId, list, key]);
}

/** Returns the item that the metadata of a message names; undefined if it names none. */
function itemInMetadata(message: Fields): string | undefined {
  const { event_type: type, event_payload: payload } = fieldsOf(message['metadata']);
  if (type !== 'pigeonpost_item') return undefined;
  const { pigeonhole, list, key } = fieldsOf(payload);
  return JSON.stringify([pigeonhole, list, key]);
}

function isRedacted(message: Fields): boolean {
  return message['subtype'] === 'tombstone' || message['text'] === redactedMessage().text;
}

/** Returns the id of a message for `copies`: channel, thread and ts. */
function idOf({ channel, threadTs, ts }: Location & { readonly ts: string }): string {
  return [channel, ...(threadTs === null ? [] : [threadTs]), ts].join('/');
}

/** Deletes further messages of items, after a look whether they still have the metadata of the item. May run again. */
export async function removeCopies(extras: readonly ExtraHeld<SlackOperation>[], sending: Sending): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const { change, copies } of extras) {
    let outcome: Outcome = { kind: 'delivered' };
    for (const copy of copies) {
      const removed = sending.canStart
        ? await removeCopy(copy, itemOf(change), sending)
        : ({ kind: 'unsent' } as const);
      if (removed !== null) outcome = removed;
    }
    outcomes.push(outcome);
  }
  return outcomes;
}

/** @returns null if the message is removed, or is not one of this item */
async function removeCopy(copy: string, item: string, sending: Sending): Promise<Outcome | null> {
  const [channel = '', ...rest] = copy.split('/');
  const [threadTs, ts] = rest.length === 2 ? [rest[0]!, rest[1]!] : [null, rest[0] ?? ''];
  const { messages, failed } = await readPlaces({ channel, threadTs }, [ts], sending);
  if (failed !== undefined) return sending.outcomeOf(failed, channel);
  const message = messages.get(ts);
  if (message === undefined || itemInMetadata(message) !== item || isRedacted(message)) return null;
  return await removeMessage({ channel, ts }, sending);
}

/**
 * Returns the parts in which a message differs from the operation: `text`, `names`, `votes`, `links`, `mentions`,
 * `buttons`, or `place` if it belongs in another channel or thread. Pure.
 *
 * Slack adds ids to blocks, joins and styles rich text, and may write emoji as names, so only what a reader sees is
 * compared, and without emoji. The number of votes is compared if the ledger says that the message shows it: it is the
 * only part that Slack may refuse to update.
 */
export function compareMessage(operation: SlackOperation, { message, keepsFirst }: HeldMessage): string[] {
  const wanted = partsOf(operation.content.blocks);
  const found = partsOf(message['blocks']);
  const isSame = (name: 'text' | 'links' | 'mentions' | 'buttons'): boolean =>
    JSON.stringify(wanted[name]) === JSON.stringify(found[name]);
  if (operation.kind === 'redact') return isSame('text') && found.below.length === 0 ? [] : ['text'];
  const place = operation.kind === 'move' ? ['place'] : [];
  if (keepsFirst) return place;
  const { votes } = operation.shown;
  const names = votes === null ? wanted.below : wanted.below.slice(0, -1);
  const foundNames = votes === null ? found.below : found.below.slice(0, -1);
  const showsVotes = votes !== null && operation.existing?.votes === votes;
  return [
    ...place,
    ...(['text', 'links', 'mentions', 'buttons'] as const).filter((name) => !isSame(name)),
    ...(JSON.stringify(names) === JSON.stringify(foundNames) ? [] : ['names']),
    ...(showsVotes && wanted.below.at(-1) !== found.below.at(-1) ? ['votes'] : []),
  ];
}

interface Parts {
  readonly text: readonly string[];
  /** Session, author and votes. */
  readonly below: readonly string[];
  readonly links: readonly string[];
  readonly mentions: readonly string[];
  readonly buttons: readonly string[];
}

function partsOf(blocks: unknown): Parts {
  const list = Array.isArray(blocks) ? blocks.map(fieldsOf) : [];
  const ofType = (...types: readonly string[]): Fields[] => list.filter(({ type }) => types.includes(String(type)));
  const elements = (of: readonly Fields[]): Fields[] =>
    of.flatMap(({ elements: own }) => (Array.isArray(own) ? own.map(fieldsOf) : []));
  const inRichText = elements(elements(ofType('rich_text')));
  return {
    text: ofType('section', 'header').map(({ text }) => seen(fieldsOf(text)['text'])),
    below: elements(ofType('context')).map(({ text }) => seen(text)),
    links: inRichText.filter(({ type }) => type === 'link').map(({ url, text }) => `${String(url)} ${seen(text)}`),
    mentions: inRichText.filter(({ type }) => type === 'usergroup').map((each) => String(each['usergroup_id'])),
    buttons: elements(ofType('actions')).map(({ url, text }) => `${String(url)} ${seen(fieldsOf(text)['text'])}`),
  };
}

const entities: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' };

/** Emoji as characters and as names, with what modifies them. */
const emoji =
  /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|\u200d|\u20e3|\ufe0e|\ufe0f|:[\w+'-]+:/gu;

/** Returns a text as a reader sees it: without escapes and emoji, and with single spaces. */
function seen(text: unknown): string {
  const plain = typeof text === 'string' ? text.replaceAll(/&(?:amp|lt|gt);/g, (entity) => entities[entity]!) : '';
  return plain.replaceAll(emoji, '').replaceAll(/\s+/g, ' ').trim();
}
