import type { Ledger } from '../ledger/ledger.js';
import { apiSources, asLocalUser } from './api-sources.test-kit.js';
import { createApp } from './create-app.js';

async function ask(query: string): Promise<{ status: number; body: unknown; asked: unknown[] }> {
  let asked: unknown[] = [];
  const row = { workspace: 'acme', pigeonholeId: 101, field: null, member: null, type: null, value: null };
  const db = {
    query: async (_: string, parameters: unknown[]) => {
      asked = parameters;
      return [{ ...row, items: 3, filled: 0 }];
    },
  };
  const app = createApp(apiSources({ ledger: { db } as unknown as Ledger }));
  const answer = await app.request(`/api/fields${query}`, { headers: asLocalUser });
  return { status: answer.status, body: answer.ok ? await answer.json() : await answer.text(), asked };
}

describe('the fields that the API returns', () => {
  it('are those of a list', async () => {
    expect((await ask('?list=attendees')).body).toEqual({
      list: 'attendees',
      pigeonholes: [{ workspace: 'acme', pigeonholeId: 101, items: 3, fields: [] }],
    });
  });

  it.each([
    ['?list=votes', ['votes', null, null]],
    ['?list=votes&pigeonhole=101', ['votes', null, 101]],
    ['?list=votes&pigeonhole=acme%2F101', ['votes', 'acme', 101]],
    ['?list=engagement&pigeonhole=acme-2/0', ['engagement', 'acme-2', 0]],
  ])('are read from the ledger with the parameters of the request: %s', async (query, parameters) => {
    expect((await ask(query)).asked.slice(0, 3)).toEqual(parameters);
  });

  it.each(['', '?list=people', '?list=votes&pigeonhole=acme', '?list=votes&pigeonhole=1;2', '?list=votes&limit=1'])(
    'are refused with 400 for an invalid query: %j',
    async (query) => {
      expect(await ask(query)).toMatchObject({ status: 400, asked: [] });
    },
  );
});
