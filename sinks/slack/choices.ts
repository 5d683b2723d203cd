import type { Choices, OfferedChoice } from '../connect.js';
import { fieldsOf } from '../sink.js';
import { callWithToken, type SlackApi, type TokenSource } from './client.js';

/** Slack returns at most 200 channels in a page, and a workspace may have thousands. */
const maxPages = 5;
const pageSize = 200;

/**
 * Returns the channels that the app sees, those that it has joined first. Never throws. Source: docs.slack.dev,
 * "conversations.list".
 */
export async function listChannels(api: SlackApi, tokens: TokenSource, signal: AbortSignal): Promise<Choices> {
  const items: (OfferedChoice & { readonly isMember: boolean })[] = [];
  let types = 'public_channel,private_channel';
  let cursor = '';
  for (let pages = 0; pages < maxPages; pages += 1) {
    const args = { types, exclude_archived: true, limit: pageSize, ...(cursor === '' ? {} : { cursor }) };
    const { verdict, reply } = await callWithToken(api, tokens, { method: 'conversations.list', args }, signal);
    if (verdict.kind !== 'ok') {
      // The scope for private channels is separate, and most apps do not have it.
      if (types.includes(',') && pages === 0 && 'code' in verdict && verdict.code === 'missing_scope') {
        types = 'public_channel';
        continue;
      }
      return { kind: 'refused', detail: verdict.detail };
    }
    const { channels, response_metadata: metadata } = fieldsOf(reply?.kind === 'answer' ? reply.body : undefined);
    items.push(...(Array.isArray(channels) ? channels : []).map(toChoice));
    const { next_cursor: next } = fieldsOf(metadata);
    cursor = typeof next === 'string' ? next : '';
    if (cursor === '') break;
  }
  items.sort((one, other) => Number(other.isMember) - Number(one.isMember) || one.label.localeCompare(other.label));
  return { kind: 'offered', items: items.map(({ isMember: _, ...choice }) => choice), more: cursor !== '' };
}

function toChoice(channel: unknown): OfferedChoice & { readonly isMember: boolean } {
  const { id, name, is_member: member, is_private: secret } = fieldsOf(channel);
  const isMember = member === true;
  const note = isMember ? (secret === true ? 'private' : undefined) : 'invite the app first';
  return { value: String(id), label: `#${String(name)}`, isMember, ...(note === undefined ? {} : { note }) };
}
