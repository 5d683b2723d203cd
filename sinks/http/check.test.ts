import type { SinkEnvironment } from '../sink.js';
import { open, records } from './receiver-stage.test-kit.js';

/** Returns the lines of a check that are warnings about the requests, without the first line about the receiver. */
async function warnings(
  requests: object,
  keys: object = {},
  environment: Partial<SinkEnvironment> = {},
): Promise<string[]> {
  const lines = await open({ ...keys, ...records(requests) }, environment).check(new AbortController().signal);
  const [receiver, ...others] = lines;
  expect(receiver!.ok).toBe(true);
  expect(others.filter(({ ok }) => !ok)).toEqual([]);
  return others.map(({ text }) => text);
}

const post = { url: '"/items"', body: '{ "text": item.text }' };
const remove = { url: '"/items/" & change.key' };

it('says that a check without a "check" request does not test the credentials', async () => {
  const [line] = await open(records({ create: post })).check(new AbortController().signal);
  const text = expect.stringMatching(
    / is reached; the check does not test the credentials: add a "check" request/,
  ) as string;
  expect(line).toEqual({ ok: true, text });
});

describe('a check without a request that removes records', () => {
  const staying = /^questions: there is no "delete" request, so what was sent stays at 127\.0\.0\.1:\d+ when /;

  it('warns that sent records stay at the receiver', async () => {
    expect(await warnings({ create: { ...post, method: 'PUT' } })).toEqual([expect.stringMatching(staying)]);
  });

  it('warns about an entry whose "on" omits deletions', async () => {
    const found = await warnings({ create: { ...post, method: 'PUT' }, delete: remove, on: ['create'] });
    expect(found).toEqual([expect.stringMatching(staying)]);
  });

  it('warns of deleted items only if a "forget" request covers forgotten people', async () => {
    const found = await warnings({ create: { ...post, method: 'PUT' }, forget: remove });
    expect(found).toEqual([expect.stringMatching(/ when an item is deleted$/)]);
  });

  it('warns of forgotten people as well if "onForget: delete" never sends "forget"', async () => {
    const found = await warnings({ create: { ...post, method: 'PUT' }, forget: remove }, {}, { onForget: 'delete' });
    expect(found).toEqual([expect.stringMatching(/ when an item is deleted or a person is forgotten$/)]);
  });

  it('does not warn with a "delete" request', async () => {
    expect(await warnings({ create: { ...post, method: 'PUT' }, delete: remove })).toEqual([]);
  });
});

describe('a check of an entry that finds records and deletes its own', () => {
  const requests = {
    find: { url: '"/items?key=" & change.key', idFrom: 'response.id' },
    create: { ...post, method: 'PUT' },
    delete: remove,
  };

  it.each([undefined, 'clear-our-fields'] as const)(
    'warns that found records of a forgotten person stay, with onForget %s',
    async (onForget) => {
      expect(await warnings(requests, {}, { onForget })).toEqual([
        expect.stringMatching(
          /^questions: "delete" deletes only records that pigeonpost created: add a "forget" request/,
        ),
      ]);
    },
  );

  it.each(['delete', 'manual'] as const)('does not warn with onForget %s', async (onForget) => {
    expect(await warnings(requests, {}, { onForget })).toEqual([]);
  });

  it('does not warn with a "forget" request', async () => {
    expect(await warnings({ ...requests, forget: remove })).toEqual([]);
  });
});

describe('a check of a POST', () => {
  const again =
    /^questions: if the answer to a POST is lost, it is sent again: make sure that 127\.0\.0\.1:\d+ recognizes/;

  it('warns that the request may be sent again', async () => {
    expect(await warnings({ create: post, delete: remove })).toEqual([expect.stringMatching(again)]);
  });

  it.each([
    ['item.isNew ? "POST" : "PUT"'],
    ['item.isNew ? "PUT" : "POST"'],
    ['($isOld := item.isOld; $isOld ? "PUT" : "POST")'],
    ['item.method'],
    ['"PO" & "ST"'],
  ])('warns if the method is an expression that can return it: %s', async (method) => {
    expect(await warnings({ create: { ...post, method }, delete: remove })).toEqual([expect.stringMatching(again)]);
  });

  it.each([['item.isNew ? "PUT" : "PATCH"'], ['("PUT")'], ['item.isNew ? (item.isLive ? "PUT" : "PATCH") : "PUT"']])(
    'does not warn if the method is an expression that never returns it: %s',
    async (method) => {
      expect(await warnings({ create: { ...post, method }, delete: remove })).toEqual([]);
    },
  );

  it.each<[string, object, object]>([
    ['another method', { create: { ...post, method: 'PUT' } }, {}],
    ['"find"', { create: post, find: { url: '"/items"', idFrom: 'body.id' } }, {}],
    ['"idempotencyHeader"', { create: post }, { idempotencyHeader: 'idempotency-key' }],
    ['the id of the change in the body', { create: { ...post, body: '{ "id": change.id }' } }, {}],
  ])('does not warn with %s', async (_, requests, keys) => {
    expect(await warnings({ delete: remove, forget: remove, ...requests }, keys)).toEqual([]);
  });

  it('warns if the body has the key of the item but not the id of the change', async () => {
    const create = { ...post, body: '{ "key": change.key, "id": item.id }' };
    expect(await warnings({ create, delete: remove })).toEqual([expect.stringMatching(again)]);
  });
});
