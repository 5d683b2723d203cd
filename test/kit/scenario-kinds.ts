import { kinds as stores } from '../../ledger/drivers/both-databases.test-kit.js';

/**
 * The stores for scenarios: PostgreSQL if available, and both with BOTH_STORES=1, which doubles the time. The SQL is
 * the same, and the ledger's own tests always run on both.
 */
export const kinds = process.env['BOTH_STORES'] === '1' ? stores : stores.slice(-1);
