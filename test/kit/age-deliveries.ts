import type { Queryable } from '../../ledger/drivers/database.js';

/**
 * Makes everything that was delivered some minutes old, because an audit does not compare what differs within five minutes
 * of its delivery. The instants of changes stay, because a log contains them.
 */
export async function ageDeliveries(db: Pick<Queryable, 'query'>): Promise<void> {
  await db.query(`update deliveries set updated_at = updated_at - interval '6 minutes' where state = 'delivered'`);
  await db.query(`update items set seen_at = seen_at - interval '6 minutes'`);
}
