import type { NamedPreview } from '../operations/preview-sink.js';
import { apiSources, asLocalUser, emptyConfig, emptyLedger } from './api-sources.test-kit.js';
import { createApp } from './create-app.js';

const item = { workspace: 'acme', pigeonholeId: 101, list: 'attendees', key: '1', revision: 1 };
const body = { records: [{ 'ann@example.com': { Ann: 'Miller', company: 'Acme' } }], email: 'ann@example.com' };

const calls = [{ method: 'POST', address: 'https://crm.example.com/contacts/ann@example.com?name=Miller', body }];

/** A mapping that uses what people entered as the names of members. */
const preview: NamedPreview = {
  items: [{ ...item, now: { kind: 'send', calls }, before: { kind: 'send', calls } }],
  more: false,
  counts: [],
  problems: [],
  notes: [],
  names: new Set(['company', 'email', 'contacts']),
};

async function ask(query: string): Promise<string> {
  const config = { ...emptyConfig({ host: '127.0.0.1', port: 0 }), sinks: { crm: { type: 'webhook' } } };
  const ledger = emptyLedger();
  const app = createApp(apiSources({ ledger, config: config as never, preview: async () => preview }));
  const asked = {
    sink: 'crm',
    list: null,
    pigeonhole: null,
    key: null,
    limit: 1,
    configuration: {},
    changedFrom: null,
  };
  const answer = await app.request(`/api/preview${query}`, {
    method: 'POST',
    headers: asLocalUser,
    body: JSON.stringify(asked),
  });
  return await answer.text();
}

describe('a preview', () => {
  it('shows without people only names that the mapping spells out', async () => {
    const text = await ask('');
    expect(text).not.toMatch(/ann|Miller|"Acme"/);
    const shown = { records: [{ '(name)': { '(name)': '(text)', company: '(text)' } }], email: '(text)' };
    const shownCalls = [
      { method: 'POST', address: 'https://crm.example.com/contacts/(value)?name=(value)', body: shown },
    ];
    expect(JSON.parse(text)).toMatchObject({ items: [{ now: { calls: shownCalls }, before: { calls: shownCalls } }] });
  });

  it('shows everything to a person who may see people, and never the list of names', async () => {
    const text = await ask('?personal=1');
    expect(JSON.parse(text)).toMatchObject({ items: [{ now: { calls } }] });
    expect(text).not.toContain('"names"');
  });
});
