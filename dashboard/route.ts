import { type DeliveryChoice, deliveryChoiceOf, deliveriesAddress } from './delivery-choice.js';

/** The item for which a mapping is shown. */
export interface ItemOfMapping {
  readonly workspace: string;
  readonly pigeonholeId: number;
  readonly list: string;
  readonly key: string;
}

/** Page named by the fragment of the address (after `#`), which is never sent to a server. */
export type Route =
  | { readonly page: 'overview' }
  | { readonly page: 'workspace'; readonly name: string }
  | { readonly page: 'pigeonhole'; readonly workspace: string; readonly id: string }
  | { readonly page: 'sink'; readonly name: string; readonly part: string | null }
  | { readonly page: 'deliveries'; readonly choice: DeliveryChoice }
  | { readonly page: 'imports' }
  | { readonly page: 'new-import'; readonly pigeonhole: string | null }
  | { readonly page: 'import'; readonly id: string }
  | {
      readonly page: 'item';
      readonly list: string | null;
      readonly key: string | null;
      readonly pigeonhole: string | null;
    }
  | { readonly page: 'live'; readonly list: string | null; readonly pigeonhole: string | null }
  | { readonly page: 'people' }
  | { readonly page: 'person'; readonly workspace: string; readonly id: string; readonly attendee: string }
  | { readonly page: 'erasure'; readonly id: string }
  | { readonly page: 'ready'; readonly workspace: string; readonly id: string }
  | { readonly page: 'statements'; readonly workspace: string; readonly id: string }
  | { readonly page: 'statement'; readonly number: string }
  | { readonly page: 'deletions' }
  | { readonly page: 'mapping'; readonly sink: string; readonly item: ItemOfMapping | null }
  | { readonly page: 'connect'; readonly type: string | null }
  | { readonly page: 'configuration' }
  | { readonly page: 'incidents' }
  | { readonly page: 'alerts' }
  | { readonly page: 'quota' }
  | { readonly page: 'tokens' }
  | { readonly page: 'audit-log' }
  | { readonly page: 'unknown' };

/**
 * Parses the fragment of an address. An address without a page is `unknown`. Its parts are only used as names. Pure.
 */
export function routeOf(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?', 2);
  const [first, second, third, fourth, ...rest] = path.split('/').filter(Boolean).map(decoded);
  const asked = new URLSearchParams(query);
  if (rest.length > 0) return { page: 'unknown' };
  if (first === undefined) return { page: 'overview' };
  if (fourth !== undefined) {
    const areIds = [third, fourth].every((each) => /^\d{1,15}$/.test(each!));
    return first === 'person' && areIds
      ? { page: 'person', workspace: second!, id: third!, attendee: fourth }
      : { page: 'unknown' };
  }
  if (third !== undefined) {
    const isId = /^\d{1,15}$/.test(third);
    if (first === 'sync' && isId) return { page: 'pigeonhole', workspace: second!, id: third };
    if (first === 'statements' && isId) return { page: 'statements', workspace: second!, id: third };
    if (first === 'ready' && isId) return { page: 'ready', workspace: second!, id: third };
    if (first === 'item') return { page: 'item', list: second!, key: third, pigeonhole: asked.get('pigeonhole') };
    return { page: 'unknown' };
  }
  if (second !== undefined) {
    if (first === 'sink') return { page: 'sink', name: second, part: asked.get('part') };
    if (first === 'deliveries') return { page: 'deliveries', choice: deliveryChoiceOf(second, asked) };

    if (first === 'mapping') return { page: 'mapping', sink: second, item: itemIn(asked) };
    if (first === 'workspace') return { page: 'workspace', name: second };
    if (first === 'imports' && second === 'new') return { page: 'new-import', pigeonhole: asked.get('pigeonhole') };
    if (first === 'imports') return { page: 'import', id: second };
    if (first === 'erasures' && /^[0-9a-f-]{36}$/.test(second)) return { page: 'erasure', id: second };
    if (first === 'statements' && /^\d{1,10}$/.test(second)) return { page: 'statement', number: second };
    return { page: 'unknown' };
  }
  switch (first) {
    case 'live':
      return { page: 'live', list: asked.get('list'), pigeonhole: asked.get('pigeonhole') };
    case 'imports':
    case 'people':
    case 'deletions':
    case 'configuration':
    case 'incidents':
    case 'alerts':
    case 'quota':
    case 'tokens':
    case 'audit-log':
      return { page: first };
    case 'connect':
      return { page: 'connect', type: asked.get('type') };
    case 'item':
      return { page: 'item', list: null, key: null, pigeonhole: null };
    default:
      return { page: 'unknown' };
  }
}

/** Reads `item=list:key&pigeonhole=WORKSPACE/ID`. */
function itemIn(asked: URLSearchParams): ItemOfMapping | null {
  const [, list, key] = /^([a-z_-]+):(.+)$/i.exec(asked.get('item') ?? '') ?? [];
  const [, workspace, id] = /^([^/]+)\/(\d{1,15})$/.exec(asked.get('pigeonhole') ?? '') ?? [];
  if (list === undefined || workspace === undefined) return null;
  return { workspace, pigeonholeId: Number(id), list, key: key! };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const e = encodeURIComponent;

/** Addresses of the pages. */
export const address = {
  overview: '#/',
  imports: '#/imports',
  deletions: '#/deletions',
  configuration: '#/configuration',
  incidents: '#/incidents',
  alerts: '#/alerts',
  quota: '#/quota',
  tokens: '#/tokens',
  auditLog: '#/audit-log',
  connect: (type?: string) => `#/connect${type === undefined ? '' : `?type=${e(type)}`}`,
  mapping: (sink: string, item?: ItemOfMapping) =>
    `#/mapping/${e(sink)}${item === undefined ? '' : `?item=${e(`${item.list}:${item.key}`)}&pigeonhole=${e(`${item.workspace}/${item.pigeonholeId}`)}`}`,
  items: '#/item',
  people: '#/people',
  workspace: (name: string) => `#/workspace/${e(name)}`,
  pigeonhole: (workspace: string, id: number | string) => `#/sync/${e(workspace)}/${id}`,
  ready: (workspace: string, id: number | string) => `#/ready/${e(workspace)}/${id}`,
  statements: (workspace: string, id: number | string) => `#/statements/${e(workspace)}/${id}`,
  statement: (number: number) => `#/statements/${number}`,
  sink: (name: string, part?: string) => `#/sink/${e(name)}${part === undefined ? '' : `?part=${e(part)}`}`,
  live: (filters: { readonly list: string | null; readonly pigeonhole: string | null }) => {
    const given = Object.entries(filters).flatMap(([name, value]) => (value === null ? [] : [`${name}=${e(value)}`]));
    return given.length === 0 ? '#/live' : `#/live?${given.join('&')}`;
  },
  deliveries: deliveriesAddress,
  person: (workspace: string, id: number | string, attendee: number | string) =>
    `#/person/${e(workspace)}/${id}/${attendee}`,
  erasure: (id: string) => `#/erasures/${e(id)}`,
  import: (id: string) => `#/imports/${e(id)}`,
  newImport: (pigeonhole?: string) => `#/imports/new${pigeonhole === undefined ? '' : `?pigeonhole=${e(pigeonhole)}`}`,
  item: (list: string, key: string, pigeonhole: string) => `#/item/${e(list)}/${e(key)}?pigeonhole=${e(pigeonhole)}`,
} as const;
