import { glimpseCursor } from './glimpse-cursor.js';

const glimpse = (body: unknown, indent?: number): string | undefined =>
  glimpseCursor(Buffer.from(JSON.stringify(body, null, indent)));

const items = Array.from({ length: 300 }, (_, id) => ({ id, text: 'ein schöner Tag' }));

test.each<[string, string | undefined, unknown]>([
  ['a page with others behind it', 'YWJj+/==', { data: items, meta: { hasMore: true, nextCursor: 'YWJj+/==' } }],
  ['the other alphabet', 'YW-_', { data: items, meta: { nextCursor: 'YW-_', hasMore: true, perPage: 300 } }],
  [
    'links behind it',
    'YWJj',
    { data: items, meta: { hasMore: true, nextCursor: 'YWJj' }, links: { next: 'https://a/?cursor=x' } },
  ],
  ['the last page', undefined, { data: items, meta: { hasMore: false, nextCursor: null } }],
  [
    'a cursor beside the word that there is no more',
    undefined,
    { data: items, meta: { hasMore: false, nextCursor: 'YWJj' } },
  ],
  ['meta before the items', undefined, { meta: { hasMore: true, nextCursor: 'YWJj' }, data: items }],
  ['a cursor that would need unescaping', undefined, { data: [], meta: { hasMore: true, nextCursor: 'a"b\\' } }],
  [
    'a text that quotes a cursor',
    'YWJj',
    { data: [{ text: '"nextCursor":"no"' }], meta: { hasMore: true, nextCursor: 'YWJj' } },
  ],
  ['no body', undefined, ''],
])('the end of a body tells the next cursor: %s', (_name, cursor, body) => {
  expect(glimpse(body)).toBe(cursor);
  expect(glimpse(body, 2)).toBe(cursor);
});
