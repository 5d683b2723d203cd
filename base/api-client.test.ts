import { filledAddress, serverEvents } from './api-client.js';

describe('an address of the API', () => {
  it('contains its parameters in encoded form', () => {
    expect(filledAddress('/api/items/{workspace}/{id}', { params: { workspace: 'a/b?', id: 7 } })).toBe(
      '/api/items/a%2Fb%3F/7',
    );
  });

  it('contains only the query parameters that have a value, even an empty one', () => {
    const query = { limit: 5, after: undefined, counts: '', key: 'a&b' };
    expect(filledAddress('/api/why', { query })).toBe('/api/why?limit=5&counts=&key=a%26b');
    expect(filledAddress('/api/why', { query: { after: undefined } })).toBe('/api/why');
  });
});

const text =
  'retry: 2000\n\n' +
  'event: changes\nid: 1-a\ndata: {"n":"é"}\n\n' +
  ': nothing new\n\n' +
  'event: changes\nid: 1-b\ndata: {"n":\ndata: 2}\n\n';

const events = [
  { event: 'changes', id: '1-a', data: '{"n":"é"}' },
  { event: 'changes', id: '1-b', data: '{"n":\n2}' },
];

/** Returns the events of a stream with these bytes, in chunks of a size. */
async function eventsIn(sent: string, size = Infinity): Promise<unknown[]> {
  const bytes = new TextEncoder().encode(sent);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
      controller.close();
    },
  });
  const found = [];
  for await (const event of serverEvents(body)) found.push(event);
  return found;
}

describe('server-sent events', () => {
  it('are parsed from a single chunk, without comments and retry fields', async () => {
    expect(await eventsIn(text)).toEqual(events);
  });

  it.each([1, 2, 7, 31])('are the same if they arrive in chunks of %d bytes', async (size) => {
    expect(await eventsIn(text, size)).toEqual(events);
  });

  it('are not returned before they are complete', async () => {
    expect(await eventsIn('event: changes\ndata: {"n":1}\n')).toEqual([]);
  });

  it('cancel the stream if the reader stops early', async () => {
    const cancelled = jest.fn();
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(text)),
      cancel: cancelled,
    });
    for await (const _ of serverEvents(body)) break;
    expect(cancelled).toHaveBeenCalledTimes(1);
  });
});
