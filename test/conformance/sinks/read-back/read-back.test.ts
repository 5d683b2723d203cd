import { hasPostgres } from '../../../postgres.js';
import { describeReadBack } from './describe-read-back.js';
import { destinations } from './destinations.js';

for (const [name, start] of destinations.filter(([name]) => name !== 'postgres' || hasPostgres())) {
  describeReadBack(name, start, { items: 40, withinMs: 60_000 });
}
