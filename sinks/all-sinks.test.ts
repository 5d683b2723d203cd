import { allSinks } from './all-sinks.js';

describe('the table of sinks', () => {
  it('names each sink by its type, and has no inherited names', () => {
    for (const [name, { type }] of allSinks) expect(type).toBe(name);
    expect(allSinks.get('constructor')).toBeUndefined();
  });

  it('sends people who refused consent to no sink, and people without an answer only to file and postgres', () => {
    const own = new Set(['file', 'postgres']);
    for (const [name, { acceptsByDefault }] of allSinks) {
      expect([name, acceptsByDefault]).toEqual([
        name,
        own.has(name) ? ['obtained', 'not-asked', 'not-known'] : ['obtained'],
      ]);
    }
  });
});
