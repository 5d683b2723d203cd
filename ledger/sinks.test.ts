import { kinds, useBothDatabases } from './drivers/both-databases.test-kit.js';
import { openLedger } from './ledger.js';
import { testKey } from './ledger-key.test-kit.js';
import { lowerWakeFlag, type RegisteredSink, registerSinks, wakeSinks } from './sinks.js';

const databases = useBothDatabases();
const sink = (name: string): RegisteredSink => ({
  name,
  type: 'file',
  historyMs: null,
  observing: false,
  destination: name,
});

describe.each(kinds)('the wake flag of a sink, on %s', (kind) => {
  it('is raised once, and is reported only by the page that raised it', async () => {
    const ledger = await openLedger(databases.of(kind), testKey);
    const ids = [...(await registerSinks(ledger, [sink('one'), sink('two')])).values()];
    await ledger.db.query('update sinks set wake = false');
    const raise = (which: readonly number[]) => ledger.db.transaction((tx) => wakeSinks(tx, which));
    expect(await raise([ids[0]!])).toEqual(['one']);
    expect(await raise(ids)).toEqual(['two']);
    expect(await raise(ids)).toEqual([]);
    expect(await raise([])).toEqual([]);
    await lowerWakeFlag(ledger, ids[0]!);
    expect(await raise(ids)).toEqual(['one']);
  });

  it('is not lowered until a page that found it raised has committed', async () => {
    const ledger = await openLedger(databases.of(kind), testKey);
    const [id] = [...(await registerSinks(ledger, [sink('one')])).values()];
    await ledger.db.query('update sinks set wake = true');
    const events: string[] = [];
    let onFound!: () => void;
    const found = new Promise<void>((resolve) => {
      onFound = resolve;
    });
    const stored = ledger.db.transaction(async (tx) => {
      await wakeSinks(tx, [id!]);
      onFound();
      await tx.query('select pg_sleep(0.1)'); // long enough for a cycle that does not wait
      events.push('page is stored');
    });
    await found;
    const lowered = lowerWakeFlag(ledger, id!).then(() => events.push('flag is lowered'));
    await Promise.all([stored, lowered]);
    expect(events).toEqual(['page is stored', 'flag is lowered']);
  });
});
