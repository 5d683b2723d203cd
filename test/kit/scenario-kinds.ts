import { anyStore, kinds as stores } from '../../ledger/drivers/both-databases.test-kit.js';

/**
 * The stores for scenarios, which do not depend on them: the SQL is the same, and the ledger's own tests run on both.
 * With BOTH_STORES=1, both, for a change of a driver.
 */
export const kinds = process.env['BOTH_STORES'] === '1' ? stores : [anyStore];
