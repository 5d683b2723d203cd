import { EventParser } from './parse-events.js';

const text =
  'retry: 2000\n\n' +
  'event: changes\nid: 1-a\ndata: {"n":1}\n\n' +
  ': nothing new\n\n' +
  'event: changes\nid: 1-b\ndata: {"n":\ndata: 2}\n\n';

const events = [
  { event: 'changes', id: '1-a', data: '{"n":1}' },
  { event: 'changes', id: '1-b', data: '{"n":\n2}' },
];

describe('server-sent events', () => {
  it('are parsed from a single chunk, without comments and retry fields', () => {
    expect(new EventParser().push(text)).toEqual(events);
  });

  it.each([1, 2, 7, 31])('are the same if they arrive in chunks of %d characters', (size) => {
    const parser = new EventParser();
    const found = [];
    for (let at = 0; at < text.length; at += size) found.push(...parser.push(text.slice(at, at + size)));
    expect(found).toEqual(events);
  });

  it('are not returned before they are complete', () => {
    expect(new EventParser().push('event: changes\ndata: {"n":1}\n')).toEqual([]);
  });
});
