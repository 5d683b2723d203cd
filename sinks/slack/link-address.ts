import type { Expression } from '../mapping/expression.js';
import { FailedMapping } from '../mapping/failed-mapping.js';
import { nodesOf } from '../mapping/syntax-tree.js';

/** Longest address of a link. Slack accepts 3,000 characters; ten links with their labels have to fit into one message. */
export const MAX_ADDRESS = 800;

/**
 * The origins that a link's expression spells out, such as `https://app.example.com`. A link may lead nowhere else:
 * whatever an audience writes can become a part of the path, but never the host.
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
 * Reads what a link's expression gave: undefined for nothing.
 * @throws {FailedMapping} `not-a-link` for anything but an address at one of the origins; it never repeats the value
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
  const wanted = `it takes an address of at most ${MAX_ADDRESS} characters at ${[...origins].join(' or ')}`;
  throw new FailedMapping(key, 'not-a-link', `gave something else than an address there: ${wanted}`);
}
