import type { Ledger } from '../ledger/ledger.js';
import type { StreamState } from '../reading/stream-facts.js';
import { apiSources, asLocalUser, emptyConfig } from './api-sources.test-kit.js';
import { createApp } from './create-app.js';

const now = Date.parse('2026-11-21T10:00:00Z');
const hourAgo = new Date(now - 3_600_000);
const overdue = { list: 'questions', wanted: true, everyMs: 5000, reason: 'live', polledAt: hourAgo, dueAt: hourAgo };

/** Returns the lateness of a list that is read every 5 s, but was last read an hour ago. */
async function lateness(syncs: object, pauses: readonly object[] = []): Promise<number | undefined> {
  const stream = { sessionId: null, goneAt: null, ...overdue } as StreamState;
  const query = async (sql: string): Promise<readonly object[]> => {
    if (sql.includes('from streams')) return [stream];
    return sql.includes('from pauses') ? pauses : [{ pigeonholeNumber: 1 }];
  };
  const ledger = { db: { query }, clock: { nowMs: () => now } } as unknown as Ledger;
  const config = { ...emptyConfig({ host: '127.0.0.1', port: 0 }), syncs } as ReturnType<typeof emptyConfig>;
  const app = createApp(apiSources({ ledger, config }));
  const answer = await app.request('/api/pigeonholes/acme/101/streams', { headers: asLocalUser });
  const { items } = (await answer.json()) as { items: { lateSeconds: number }[] };
  return items[0]?.lateSeconds;
}

describe('a list that was last read an hour ago', () => {
  it.each([
    ['is late', { all: { workspace: 'acme' } }, [], 3595],
    ['is not late while reading is paused', { all: { workspace: 'acme' } }, [{ scope: 'workspace' }], 0],
    ['is not late if no sync uses its workspace', { others: { workspace: 'other' } }, [], 0],
  ])('%s', async (_, syncs, pauses, seconds) => {
    expect(await lateness(syncs, pauses)).toBe(seconds);
  });
});
