import { allSinks } from './all-sinks.js';

describe('the table of sinks', () => {
  it('names each sink by its type and nothing that an object would inherit', () => {
    expect([...allSinks.keys()]).toEqual(['file', 'hubspot', 'salesforce', 'slack', 'webhook', 'xapi']);
    for (const [name, { type }] of allSinks) expect(type).toBe(name);
    expect(allSinks.get('constructor')).toBeUndefined();
  });

  it('sends nobody who refused to any sink, and those who were not asked to files alone', () => {
    const accepted = Object.fromEntries([...allSinks].map(([name, { acceptsByDefault }]) => [name, acceptsByDefault]));
    expect(accepted).toEqual({
      file: ['obtained', 'not-asked', 'not-known'],
      hubspot: ['obtained'],
      salesforce: ['obtained'],
      slack: ['obtained'],
      webhook: ['obtained'],
      xapi: ['obtained'],
    });
  });
});
