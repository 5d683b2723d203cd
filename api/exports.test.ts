import { kinds, useBothDatabases } from '../ledger/drivers/both-databases.test-kit.js';
import { auditEntries } from '../ledger/audit.js';
import { testKey } from '../ledger/ledger-key.test-kit.js';
import { type Ledger, openLedger } from '../ledger/ledger.js';
import { pigeonholeNumberOf } from '../ledger/pigeonholes.js';
import { readWorkbook } from '../base/sheets/read-workbook.test-kit.js';
import { apiSources, asLocalUser } from './api-sources.test-kit.js';
import type { ApiApp } from './api-app.js';
import { createApp } from './create-app.js';

const databases = useBothDatabases();

describe.each(kinds)('an export by the API, on %s', (kind) => {
  let ledger: Ledger;
  let app: ApiApp;
  beforeAll(async () => {
    ledger = await openLedger(databases.of(kind), testKey);
    const pigeonholeNumber = await pigeonholeNumberOf(ledger, 'acme', 101);
    await pigeonholeNumberOf(ledger, 'acme', 0);
    await ledger.db.query(
      `insert into items (pigeonhole_number, list, key, stream_id, revision, content_hash, payload, rules, seen_at, last_sequence, consent)
       select $1, 'attendees', n::text, 1, 1, '\\x00', json_build_object('id', n, 'Name', 'Person ' || n), '', now(), 1, 'obtained'
       from generate_series(1, 1200) n`,
      [pigeonholeNumber],
    );
  });
  beforeEach(async () => {
    await ledger.db.script('truncate audit');
    app = createApp(apiSources({ ledger }));
  });

  const ask = async (path: string, method = 'GET') => await app.request(path, { method, headers: asLocalUser });
  const audited = async () =>
    (await auditEntries(ledger, { who: null, action: null, target: null }, { before: null, limit: 10 })).map(
      ({ action, target, detail, outcome }) => ({ action, target, detail, outcome }),
    );

  it('is a file that names the pigeonhole and the table, and is recorded', async () => {
    const answer = await ask('/api/exports/acme/101?sheets=attendees&format=csv&personal=1');
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="acme-101-attendees.csv"',
      'cache-control': 'no-store',
    });
    const lines = (await answer.text()).trim().split('\r\n');
    expect(lines).toHaveLength(1201);
    expect(lines[1]).toMatch(/^1,,"Person 1",/);
    expect(await audited()).toEqual([
      {
        action: 'export',
        target: 'pigeonhole:acme/101',
        detail: { sheets: 'attendees', format: 'csv', personal: true },
        outcome: 'done',
      },
    ]);
  });

  it('of all tables has a sheet for each', async () => {
    const answer = await ask('/api/exports/acme/101?format=xlsx');
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="acme-101.xlsx"');
    const sheets = await readWorkbook(answer.body as unknown as AsyncIterable<Uint8Array>);
    expect(sheets.map(({ name }) => name)).toEqual([
      'sessions',
      'attendees',
      'questions',
      'votes',
      'answer_ratings',
      'answers',
      'poll-mcq-votes',
      'poll-quiz-votes',
      'qna-questions',
      'registrants',
      'engagement',
      'dead-letters',
      'import-rows',
    ]);
    const workspace = await readWorkbook(
      (await ask('/api/exports/acme/0?format=xlsx')).body as unknown as AsyncIterable<Uint8Array>,
    );
    expect(workspace.map(({ name }) => name)).toEqual(['pigeonholes', 'subscriptions']);
  });

  it.each([
    ['/api/exports/acme/101?format=csv', 400, 'a CSV file holds one table'],
    ['/api/exports/acme/101?format=csv&sheets=attendees,votes', 400, 'a CSV file holds one table'],
    ['/api/exports/acme/101?format=csv&sheets=people', 400, 'the tables are sessions, attendees'],
    ['/api/exports/acme/101?format=csv&sheets=pigeonholes', 400, 'export acme/0'],
    ['/api/exports/acme/0?format=csv&sheets=votes', 400, 'is a table of pigeonholes'],
    ['/api/exports/acme/101?sheets=votes', 400, 'an export has'],
    ['/api/exports/acme/999?format=xlsx', 404, 'no pigeonhole acme/999 is known'],
  ])('is refused with a sentence: %s', async (path, status, sentence) => {
    const answer = await ask(path);
    expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(sentence) as string]);
    expect(await audited()).toEqual([]);
  });

  it('reads nothing for HEAD, and nothing more for a client that leaves', async () => {
    let statements = 0;
    const counting = {
      ...ledger,
      db: {
        query: async (...asked: Parameters<Ledger['db']['query']>) => {
          if (asked[0].includes('from items i')) statements += 1;
          return await ledger.db.query(...asked);
        },
      },
    } as Ledger;
    app = createApp(apiSources({ ledger: counting }));
    const path = '/api/exports/acme/101?sheets=attendees&format=csv';
    const head = await ask(path, 'HEAD');
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    const before = statements;
    const reader = (await ask(path)).body!.getReader();
    await reader.read();
    await reader.cancel();
    const read = statements - before;
    expect(read).toBeLessThanOrEqual(3); // the time zone, and at most two batches that were read ahead
    await new Promise((resolve) => void setImmediate(resolve));
    expect(statements - before).toBe(read);
  });
});
