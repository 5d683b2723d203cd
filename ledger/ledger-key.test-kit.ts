import { givenKey, LedgerKey } from './ledger-key.js';

/** The key of ledgers that tests create. A process receives its text as LEDGER_KEY. */
export const testKeyText = Buffer.alloc(32, 7).toString('base64');

export const testLedgerKey = LedgerKey.parse(testKeyText)!;

export const testKey = givenKey(testLedgerKey);
