import type { DoubleRequest } from '../serve/double-request.js';
import type { Arguments } from './slack-call.js';

/** Markup that Slack makes live: mentions, channel names and links. */
const LIVE_MARKUP = /<[!@#][^>]*>|<[a-z][a-z+.-]*:[^>]*>/i;
const CREDENTIALS = ['token', 'client_secret', 'refresh_token'];

/**
 * Lists contents that Slack accepts but that an app that displays texts of an audience must not send: a credential
 * where proxies log it, markup that notifies or links, mentions and addresses that are not configured, and options that
 * make texts live.
 */
export function misusesOf(
  { query, headers }: DoubleRequest,
  method: string,
  args: Arguments,
  allowed: AllowedTargets,
): string[] {
  const found: string[] = [];
  const add = (isMisuse: boolean, what: string): void => void (isMisuse && found.push(`${method}: ${what}`));
  add(
    CREDENTIALS.some((name) => query.has(name)),
    'a credential in the address',
  );
  if (method !== 'oauth.v2.access') {
    add(
      CREDENTIALS.some((name) => name in args),
      'a credential outside the Authorization header',
    );
  }
  add(method === 'oauth.v2.access' && 'authorization' in headers, 'two credentials at once');
  if (method !== 'chat.postMessage' && method !== 'chat.update') return found;
  const text = typeof args['text'] === 'string' ? args['text'] : '';
  add(LIVE_MARKUP.test(text), 'live markup in text');
  add(text === '', 'blocks without a text for notifications');
  add(args['attachments'] !== undefined, 'attachments');
  add(args['parse'] !== 'none', 'parse is not "none"');
  add(args['link_names'] !== false, 'link_names is not off');
  if (method === 'chat.postMessage') {
    for (const name of ['mrkdwn', 'unfurl_links', 'unfurl_media']) add(args[name] !== false, `${name} is not off`);
    add(args['reply_broadcast'] !== undefined && args['thread_ts'] === undefined, 'reply_broadcast without a thread');
  }
  for (const part of partsOf(args['blocks']))
    found.push(...misusesInPart(part, allowed).map((it) => `${method}: ${it}`));
  for (const id of textsOf(args['metadata'])) add(id.length > 200 || /\s/.test(id), 'metadata that is not an id');
  return found;
}

/** The user groups that an app may mention, and the origins that it may link to. */
export interface AllowedTargets {
  readonly userGroups: readonly string[];
  readonly origins: readonly string[];
}

function misusesInPart(part: Readonly<Record<string, unknown>>, { userGroups, origins }: AllowedTargets): string[] {
  switch (part['type']) {
    case 'mrkdwn':
    case 'markdown':
      return ['a text with markup'];
    case 'user':
    case 'channel':
    case 'broadcast':
      return [`a mention of ${part['type']}`];
    case 'usergroup':
      return userGroups.includes(String(part['usergroup_id'])) ? [] : ['a mention of a user group that is not allowed'];
    case 'link':
    case 'button': {
      const url = String(part['url']);
      return URL.canParse(url) && origins.includes(new URL(url).origin) ? [] : ['an address that is not allowed'];
    }
    default:
      return [];
  }
}

function partsOf(value: unknown): Readonly<Record<string, unknown>>[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Array.isArray(value) ? [] : [value as Readonly<Record<string, unknown>>];
  return [...own, ...Object.values(value).flatMap(partsOf)];
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
