import { kinds, useBothDatabases } from '../ledger/drivers/both-databases.test-kit.js';
import { type Ledger, openLedger } from '../ledger/ledger.js';
import { testKey } from '../ledger/ledger-key.test-kit.js';
import { pigeonholeNumberOf } from '../ledger/pigeonholes.js';
import { ensureStreams } from '../ledger/streams.js';
import { FirstPage } from './open-backends.js';

const databases = useBothDatabases();

describe.each(kinds)('the first page, on %s', (kind) => {
  let ledger: Ledger;
  let reports: number;
  const polledAt = (instant: string) => ledger.db.query(`update streams set polled_at = ${instant}`);
  beforeEach(async () => {
    ledger = await openLedger(databases.of(kind), testKey);
    await ensureStreams(ledger, await pigeonholeNumberOf(ledger, 'acme', 101), [{ list: 'attendees', sessionId: 0 }]);
    await polledAt("now() - interval '1 minute'");
    reports = 0;
  });
  const open = () => new FirstPage(ledger, () => (reports += 1));

  it('is reported once if another process that shares the ledger reads it', async () => {
    const firstPage = open();
    await firstPage.look();
    expect(reports).toBe(0);
    await polledAt("clock_timestamp() + interval '1 second'");
    await firstPage.look();
    await firstPage.look();
    firstPage.note();
    expect(reports).toBe(1);
  });

  it('is reported once if this process reads it', async () => {
    const firstPage = open();
    firstPage.note();
    firstPage.note();
    await polledAt("clock_timestamp() + interval '1 second'");
    await firstPage.look();
    expect(reports).toBe(1);
  });
});
