import { describeReadBack } from '../conformance/sinks/read-back/describe-read-back.js';
import { destinations } from '../conformance/sinks/read-back/destinations.js';
import { hasPostgres } from '../postgres.js';

/** Number of items for each sink. Without it, nothing runs here: test/conformance has the same test with few items. */
const items = Number(process.env['PARITY_ITEMS'] ?? 0);

const started = destinations.filter(([name]) => items > 0 && (name !== 'postgres' || hasPostgres()));
for (const [name, start] of started) describeReadBack(name, start, { items, withinMs: 900_000 });

if (started.length === 0) it.skip('reads PARITY_ITEMS items back', () => undefined);
