import { allSinks } from './all-sinks.js';

describe('the table of sinks', () => {
  it('names each sink by its type and nothing that an object would inherit', () => {
    expect([...allSinks.keys()]).toEqual(['canvas', 'file', 'hubspot', 'postgres', 'webhook']);
    for (const [name, { type }] of allSinks) expect(type).toBe(name);
    expect(allSinks.get('constructor')).toBeUndefined();
  });

  it('sends nobody who refused to any sink, and those who were not asked to files and tables alone', () => {
    const accepted = Object.fromEntries([...allSinks].map(([name, { acceptsByDefault }]) => [name, acceptsByDefault]));
    expect(accepted).toEqual({
      canvas: ['obtained'],
      file: ['obtained', 'not-asked', 'not-known'],
      hubspot: ['obtained'],
      postgres: ['obtained', 'not-asked', 'not-known'],
      webhook: ['obtained'],
    });
  });
});
